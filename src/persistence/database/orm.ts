import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { MikroORM, SqliteDriver, type AbstractSqlDriver, type SqlEntityManager, type SqlOptions } from '@mikro-orm/sql';
import { CompiledQuery, type DatabaseConnection, sql } from 'kysely';
import type { CallStore } from '../../domain/calls/call-record.ts';
import type { SpendReports } from '../../domain/spend/spend-reports.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceStore } from '../../domain/traces/store.ts';
import { locateDatabase } from './database-url.ts';
import { accessTo } from './access.ts';
import type { Database, Orm, SqlFlavour } from './database.ts';
import { sqliteDialect } from './dialect.ts';
import { createDatabaseMutex } from './mutex.ts';
import { withDomainErrors } from './faults.ts';
import { createInFlight } from './in-flight.ts';
import { createProcessMessages } from './process-messages.ts';
import { migrate, migrationsOf } from '../migrate.ts';
import { newSqliteSchema } from '../sqlite/new-schema.ts';
import type { OpenSqlite } from '../sqlite/handle.ts';
import type { StoresOptions } from '../options.ts';
import { createAuditRecorder } from '../audit-log/recorder.ts';
import { createAutoRouterStore } from '../auto-routers/store.ts';
import { createAuditLog } from '../audit-log/store.ts';
import { createCallStore } from '../call-log/store.ts';
import { createCallSpanStore, createCallSpendStore } from '../call-log/separate-stores.ts';
import { createCatalogHistory } from '../catalog/history.ts';
import { createCheckoutStore } from '../checkout/store.ts';
import { createCredentialStore } from '../credentials/store.ts';
import { createHealthCheckStore } from '../deployments/health-checks.ts';
import { createDeploymentStore } from '../deployments/store.ts';
import { createFallbackStore } from '../fallbacks/store.ts';
import { createDecisionStore, createOutcomeStore } from '../decisions/store.ts';
import { createCodingAgentStore } from '../coding-agents/store.ts';
import { createCommandLineSessionStore } from '../command-line-sessions/store.ts';
import { createDatabaseLedger } from '../admission/ledger.ts';
import { createPendingSignInStore } from '../sign-in/store.ts';
import { createFreeTierStore } from '../free-tier/store.ts';
import { createGatewayActivityStore } from '../gateway-activity/store.ts';
import { createJobStore } from '../jobs/store.ts';
import { createKeyStore } from '../keys/store.ts';
import { type AnnotatedSearch, annotatedTraces } from '../annotations/annotated-traces.ts';
import { createAnnotationStore } from '../annotations/store.ts';
import { createLensRowStores } from '../lens/row-stores.ts';
import { createLensStore, createLensWorkerStore } from '../lens/store.ts';
import { createTenancyStores } from '../tenancy-stores.ts';
import { createA2aAgentStore } from '../a2a-agents/store.ts';
import { createGuardrailStore } from '../guardrails/store.ts';
import { createGuardrailUseStore } from '../guardrails/use.ts';
import { createMemoryStore } from '../memory/store.ts';
import { createPluginStore } from '../plugins/store.ts';
import { createSearchToolStore } from '../search-tools/store.ts';
import { createVectorStoreIndexStore } from '../vector-store-indexes/store.ts';
import { createVectorStoreStore } from '../vector-stores/store.ts';
import { createToolOverrideStore, createToolStore } from '../tools/store.ts';
import { createToolUseStore } from '../tools/use.ts';
import { createWorkflowStore } from '../workflows/store.ts';
import { createPolicyAttachmentStore, createPolicyStore } from '../policies/store.ts';
import { createPromptStore } from '../prompts/store.ts';
import { createMcpServerStore } from '../mcp-servers/store.ts';
import { createMcpToolsetStore } from '../mcp-toolsets/store.ts';
import { createOwnerWindowStore } from '../owner-windows/store.ts';
import { createEndpointStore } from '../pass-through/store.ts';
import { createReleaseStore } from '../catalog/releases.ts';
import { readableReports, readableSpend, readableTraces } from '../traces/readable.ts';
import { createResponseStore } from '../responses/store.ts';
import { createSettingsStore } from '../settings/store.ts';
import { createSpendReports } from '../spend/reports.ts';
import { createSpendStore } from '../spend/store.ts';
import { createTraceQueries } from '../trace-query/store.ts';
import { createTraceStore } from '../traces/store.ts';
import { createTokenKeyStore } from '../token-keys/store.ts';
import { createUpstreamObjectStore } from '../upstream-objects/store.ts';
import { ENTITIES } from './tables.ts';
import { createWriteHealth } from './write-health.ts';
import { probeWrites } from './write-probe.ts';

/** Timeout of opening a PostgreSQL connection, in ms. */
const POSTGRES_CONNECT_MS = 5_000;
/** How long a write waits for a lock of another connection, in ms, unless `lockTimeoutMs` is given. */
const DEFAULT_LOCK_TIMEOUT_MS = 5_000;
/** Size of the PostgreSQL pool. One connection listens for messages of other processes. */
const POSTGRES_POOL = { min: 0, max: 11 };

/** Options of a connection. */
type DatabaseOptions = Pick<StoresOptions, 'databaseUrl' | 'dataDir' | 'log' | 'sqliteDriver' | 'lockTimeoutMs'>;
/** How a database is opened. */
interface Opening {
  /** Returns the statements that create the tables of a new SQLite file; absent: the file stays empty. */
  readonly newSchema?: (() => string) | undefined;
}
type SqliteChoice = { readonly engine: 'sqlite3' | 'node:sqlite'; readonly open: OpenSqlite };

async function chooseSqlite({ sqliteDriver, log }: DatabaseOptions): Promise<SqliteChoice> {
  if (sqliteDriver !== 'node:sqlite') {
    try {
      const { loadAddon } = await import('../sqlite/addon-handle.ts');
      return { engine: 'sqlite3', open: await loadAddon() };
    } catch (error) {
      if (sqliteDriver === 'sqlite3') throw error;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'The sqlite3 package cannot be loaded: SQLite runs on node:sqlite in worker threads.');
    }
  }
  const { openWorkerHandle } = await import('../sqlite/worker-handle.ts');
  return { engine: 'node:sqlite', open: openWorkerHandle };
}

function createOrm(log: StoresOptions['log'], options: SqlOptions<AbstractSqlDriver, SqlEntityManager>): Orm {
  return new MikroORM<AbstractSqlDriver, SqlEntityManager>({
    entities: [...ENTITIES],
    // Every use has its own fork or transaction. Use of a shared identity map is a bug and throws.
    allowGlobalContext: false,
    // Statements are never logged, because they contain values. Only warnings about connections are.
    debug: false,
    colors: false,
    logger: (message) => log.warn({ message }, 'The database layer reports a problem.'),
    // Views for SQL clients (docs/sql-views.md) and trace queries. Migrations create them; no entity declares them.
    schemaGenerator: { skipViews: ['spans', 'traces', 'spend'], ignoreRoutines: true },
    ...options,
  });
}

function databaseOver(orm: Orm, engine: Database['engine'], flavour: SqlFlavour): Database {
  const writes = createWriteHealth(() => inFlight.run(() => probeWrites({ orm, flavour })));
  const inFlight = createInFlight(writes);
  return { orm, engine, flavour, inFlight, writes, audit: createAuditRecorder(), ...accessTo(orm, inFlight) };
}

/**
 * One connection writes. A second connection is read-only and serves reads: with WAL, reads do not wait for writes.
 * MikroORM treats the second connection as a read replica.
 */
async function openSqlite(file: string, options: DatabaseOptions, { newSchema }: Opening): Promise<Database> {
  const { engine, open } = await chooseSqlite(options);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const failed = (error: unknown): void =>
    options.log.warn(
      { err: error },
      'SQLite could not checkpoint its log or close a connection; the next use retries.',
    );
  const lockTimeoutMs = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
  const orm = createOrm(options.log, {
    driver: SqliteDriver,
    dbName: file,
    driverOptions: () => sqliteDialect({ open, file, role: 'writer', lockTimeoutMs, newSchema, failed }),
    replicas: [{ driverOptions: () => sqliteDialect({ open, file, role: 'reader', lockTimeoutMs, failed }) }],
    migrations: migrationsOf('sqlite'),
  });
  return databaseOver(orm, engine, 'sqlite');
}

async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
  const orm = createOrm(options.log, {
    driver: PostgreSqlDriver,
    clientUrl: url,
    driverOptions: { connectionTimeoutMillis: POSTGRES_CONNECT_MS },
    // Set by a statement, because connection poolers refuse unknown startup parameters. JIT is off, because the planner
    // estimates a list in JSON as a large table. With JIT, PostgreSQL would compile for seconds a query that runs for
    // milliseconds.
    async onCreateConnection(connection) {
      const text = `select set_config('lock_timeout', '${options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS}', false), set_config('jit', 'off', false)`;
      await (connection as DatabaseConnection).executeQuery(CompiledQuery.raw(text));
    },
    pool: POSTGRES_POOL,
    migrations: migrationsOf('postgresql'),
  });
  return databaseOver(orm, 'postgresql', 'postgresql');
}

/**
 * Opens the database that the options name. It applies no migrations; `opening` may create the tables of a new SQLite
 * file.
 */
export async function openDatabase(options: DatabaseOptions, opening: Opening = {}): Promise<Database> {
  const location = locateDatabase(options.databaseUrl, options.dataDir);
  const database =
    location.kind === 'sqlite'
      ? await openSqlite(location.file, options, opening)
      : await openPostgres(location.url, options);
  await orClose(database.orm, () => withDomainErrors(() => database.orm.connect()));
  return database;
}

/** Runs work with an open database, which is closed when the work fails. */
async function orClose<Result>(orm: Orm, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await orm.close(true);
    throw error;
  }
}

interface CallsAndTraces {
  readonly calls: CallStore;
  /** Store of the spans of calls, if `calls` stores only their spend; null if `calls` stores both. */
  readonly callSpans: CallStore | null;
  readonly spend: SpendStore;
  readonly spendReports: SpendReports;
  readonly traces: TraceStore;
  /** Resolves when all calls that are already committed are unfolded, or their segments are set aside. */
  readonly unfolded: () => Promise<void>;
  readonly closeTraces: () => Promise<void>;
}

/** Stores of traces and calls. ClickHouse stores the traces, also those of calls, if the options name it. */
async function openCallsAndTraces(database: Database, options: StoresOptions): Promise<CallsAndTraces> {
  const { bodies, ingestLimit: limit, spanBlocks, notesFrom, packedRows, traces: location, log } = options;
  const traceStore = createTraceStore(database, bodies, { limit, spanBlocks, notesFrom, packedRows });
  const spendRows = createSpendStore(database);
  const calls = createCallStore(database, { spend: spendRows, traces: traceStore }, options);
  const spend = readableSpend(spendRows, calls.readable);
  const spendReports = readableReports(createSpendReports(database), calls.readable);
  if (!location)
    return {
      calls,
      callSpans: null,
      spend,
      spendReports,
      traces: readableTraces(traceStore, calls.readable),
      unfolded: calls.readable,
      closeTraces: () => traceStore.idle(),
    };
  const { openClickHouseTraces } = await import('../clickhouse/traces.ts');
  const annotated = (search: AnnotatedSearch, most: number) =>
    database.readRows((db) => annotatedTraces(db, database.flavour, search, most));
  const bodyMutex = createDatabaseMutex(database, 'trace bodies');
  const traces = await openClickHouseTraces(location, database.orm, { bodies, annotated, log, limit, bodyMutex });
  return {
    // Calls that are still in the log are unfolded into the database.
    calls: createCallSpendStore({ spend: spendRows, log: calls }),
    callSpans: createCallSpanStore(traces),
    spend,
    spendReports,
    traces,
    unfolded: calls.readable,
    closeTraces: traces.close,
  };
}

/**
 * Opens the database, applies pending migrations, and returns the stores. Throws Unavailable when the database cannot
 * be reached or ClickHouse refuses the user. Throws Unsupported for a database URL with an unknown scheme or an invalid
 * address.
 */
export async function openStores(options: StoresOptions) {
  const database = await openDatabase(options, { newSchema: newSqliteSchema });
  const { orm, engine, inFlight, writes } = database;
  const { closeTraces, unfolded, ...callsAndTraces } = await orClose(orm, async () => {
    await withDomainErrors(() => migrate(database));
    return openCallsAndTraces(database, options);
  });
  return {
    ...callsAndTraces,
    ...createTenancyStores(database),
    ...createLensRowStores(database),
    annotations: createAnnotationStore(database),
    auditLog: createAuditLog(database),
    autoRouters: createAutoRouterStore(database),
    authorship: database.audit,
    catalogHistory: createCatalogHistory(database),
    catalogReleases: createReleaseStore(database),
    checkouts: createCheckoutStore(database),
    credentials: createCredentialStore(database),
    deployments: createDeploymentStore(database),
    healthChecks: createHealthCheckStore(database),
    fallbacks: createFallbackStore(database),
    codingAgents: createCodingAgentStore(database),
    commandLineSessions: createCommandLineSessionStore(database),
    decisions: createDecisionStore(database),
    decisionOutcomes: createOutcomeStore(database),
    /** Counters that the processes of the database share; null for SQLite, which one process uses at a time. */
    admissionLedger: createDatabaseLedger(database),
    /** Whether no other store writes calls to the database. */
    isExclusive: engine !== 'postgresql' && options.isExclusive === true,
    freeTier: createFreeTierStore(database),
    gatewayActivity: createGatewayActivityStore(database),
    jobs: createJobStore(database),
    keys: createKeyStore(database),
    a2aAgents: createA2aAgentStore(database),
    guardrails: createGuardrailStore(database),
    guardrailUse: createGuardrailUseStore(database),
    vectorStores: createVectorStoreStore(database),
    vectorStoreIndexes: createVectorStoreIndexStore(database),
    searchTools: createSearchToolStore(database),
    memory: createMemoryStore(database),
    plugins: createPluginStore(database),
    toolOverrides: createToolOverrideStore(database),
    tools: createToolStore(database),
    toolUse: createToolUseStore(database),
    workflows: createWorkflowStore(database),
    policies: createPolicyStore(database),
    policyAttachments: createPolicyAttachmentStore(database),
    prompts: createPromptStore(database),
    mcpServers: createMcpServerStore(database),
    mcpToolsets: createMcpToolsetStore(database),
    ownerWindows: createOwnerWindowStore(database),
    passThrough: createEndpointStore(database),
    /** Stores contents without encryption: encrypt them before. */
    pendingSignIns: createPendingSignInStore(database),
    /** Messages between the processes of the database; null for SQLite, which one process uses at a time. */
    processMessages: createProcessMessages(database, options.log),
    lenses: createLensStore(database),
    lensWorkers: createLensWorkerStore(database),
    responses: createResponseStore(database),
    settings: createSettingsStore(database),
    tokenKeys: createTokenKeyStore(database),
    traceQueries: createTraceQueries(database, options, unfolded),
    upstreamObjects: createUpstreamObjectStore(database),
    /** The engine of all stores except traces in ClickHouse. */
    engine,
    /** Resolves when the database answers; throws Unavailable when it does not. ClickHouse is not checked. */
    ping: () =>
      database.readRows(async (db) => {
        await sql`select 1`.execute(db);
      }),
    /** See `WriteHealth.check`. Writes to ClickHouse are not checked. */
    writable: writes.check,
    /** Number of failed writes since the start. Domain errors other than Unavailable do not count. */
    failedWrites: writes.failures,
    /** Waits for running commits, then closes the database. */
    async close() {
      await closeTraces();
      await inFlight.drain();
      await orm.close();
    },
  };
}
