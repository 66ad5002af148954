import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { BudgetToldAs } from '../../domain/errors.ts';
import { DEFAULT_WRONG_KEYS, MOST_WRONG_KEYS } from '../../domain/keys/failed-keys.ts';
import type { KeySmith } from '../../domain/keys/virtual-key.ts';
import { Secret } from '../../domain/secret.ts';
import type { FileLimits } from '../../domain/upstream-objects/file-limits.ts';
import { type BillingSettings, readBilling } from './billing.ts';
import { type CallerSettings, readCallers } from './callers.ts';
import { type ClickHouseSettings, readClickHouse } from './clickhouse.ts';
import { proxyFault, trustsEveryone } from '../network/client-network.ts';
import {
  ConfigError,
  type ConfigFault,
  type FileSettings,
  MOST_CONNECTIONS,
  MOST_DAILY_CALLS,
  MOST_RETENTION_DAYS,
  readConfigFile,
} from './config-file.ts';
import { ADMIN_KEY_FORM, keepAdminKey, openDataFolder } from './data-folder.ts';
import { oddityOf } from './deployments.ts';
import { LOG_LEVELS, type LogLevel } from '../telemetry/log.ts';
import { type OtlpExportSettings, readOtlpExport } from './otlp-export.ts';
import { type OtlpSettings, readOtlp } from './otlp.ts';
import { readUpstream, type UpstreamSettings } from './upstream.ts';

/** Everything the process is told, read once and checked whole. */
export interface Settings {
  /** Address and port to listen on; port 0 takes a free one. */
  readonly host: string;
  readonly port: number;
  /** Where the embedded database and the generated admin key live. */
  readonly dataDir: string;
  /** Null keeps an SQLite file in the data folder. */
  readonly databaseUrl: string | null;
  /** The ClickHouse server that keeps the traces; null keeps them in the database. */
  readonly clickHouse: ClickHouseSettings | null;
  /** Forces an SQLite driver; null takes `sqlite3` where it is installed. */
  readonly sqliteDriver: 'sqlite3' | 'node:sqlite' | null;
  /** How long a write waits for a lock that another connection holds, in ms. */
  readonly lockTimeoutMs: number;
  readonly masterKey: Secret;
  /** Where the admin key comes from, for the first words at start. */
  readonly masterKeySource: 'environment' | 'config file' | 'data folder' | 'generated';
  readonly deployments: readonly Deployment[];
  /** Serves the built-in `demo` model. */
  readonly demoModel: boolean;
  readonly maxRequestBytes: number;
  /** Most open connections of clients; 0 for no limit. */
  readonly maxConnections: number;
  /** How long a streamed answer may be silent before it is sent a sign of life; 0 sends none. */
  readonly streamHeartbeatSeconds: number;
  /** How upstreams are called. */
  readonly upstream: UpstreamSettings;
  /** Most bytes of one file in a request. */
  readonly fileLimits: FileLimits;
  /** Keeps prompts and answers on the gateway's own spans. */
  readonly capturePrompts: boolean;
  /** Every stream ends with its usage, also where nobody asked for it. */
  readonly alwaysStreamUsage: boolean;
  /** How callers are told that their allowance is used up. */
  readonly budgetToldAs: BudgetToldAs;
  /** The header that carries the key in the place of `Authorization`; null for that. */
  readonly keyHeader: string | null;
  readonly callers: CallerSettings;
  /** Failures tell which other models were tried. */
  readonly routerDebugInErrors: boolean;
  /** A caller has to be able to afford a model that is asked instead of another. */
  readonly enforceFallbackBudget: boolean;
  /** Only the owner of a response may come back to it. */
  readonly responseIdSecurity: boolean;
  /** How often batches are looked at that nobody asks for; 0 never does. */
  readonly batchPollingSeconds: number;
  /** How often every deployment is asked whether it answers, 0 for never; and whether callers are told more than that. */
  readonly healthChecks: { readonly everySeconds: number; readonly details: boolean };
  /** Keeps translated responses for their owners, unless a request says not to. */
  readonly storeResponses: boolean;
  /** Days after which they are removed; zero keeps them. */
  readonly responseRetentionDays: number;
  readonly introspection: boolean;
  readonly graphiql: boolean;
  /** Selling access to the catalog. */
  readonly billing: BillingSettings;
  /** What exports to `/v1/traces` may ask. */
  readonly otlp: OtlpSettings;
  /** Where the gateway's own spans are sent; null for nowhere else. */
  readonly otlpExport: OtlpExportSettings | null;
  readonly catalogUrl: string | null;
  readonly catalogRefreshSeconds: number;
  /** Calls of the catalog a client without a key may make in a UTC day; zero allows none. */
  readonly catalogDailyLimit: number;
  /** Wrong keys a client address may send in a minute; 0 does not limit them. */
  readonly wrongKeysPerMinute: number;
  /** Days after which traces are removed; zero keeps them. */
  readonly retentionDays: number;
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: LogLevel;
  /** Things that are allowed but unwise, to be said at start. */
  readonly warnings: readonly string[];
}

/** Keys printed in tutorials; whoever uses one has no key. */
const PUBLIC_KEYS = new Set(['sk-1234', 'sk-12345', 'sk-123', 'sk-test', 'sk-my-master-key', 'sk-change-me']);
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);
const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024;
const DEFAULT_HEARTBEAT_SECONDS = 15;
const DEFAULT_DAILY_LIMIT = 1_000;
const DEFAULT_MAX_CONNECTIONS = 10_000;
const DEFAULT_RETENTION_DAYS = 14;
const DEFAULT_LOCK_TIMEOUT_MS = 5_000;
const MOST_LOCK_TIMEOUT_MS = 60_000;
/** As the reference looks. */
const DEFAULT_BATCH_SECONDS = 6_000;
/** As OpenAI keeps them. */
const DEFAULT_RESPONSE_DAYS = 30;
const SILENT_FILE: FileSettings = {
  deployments: [],
  masterKey: null,
  databaseUrl: null,
  maxRequestBytes: null,
  streamHeartbeatSeconds: null,
  upstream: {},
  fileLimits: { file: null, batchFile: null },
  catalogDailyLimit: null,
  retentionDays: null,
  traceStore: { type: null, url: null, database: null },
  trustedProxies: null,
  maxConnections: null,
  capturePrompts: null,
  alwaysStreamUsage: null,
  budgetToldAs: null,
  keyHeader: null,
  callers: {},
  routerDebugInErrors: null,
  enforceFallbackBudget: null,
  responseIdSecurity: null,
  batchPollingSeconds: null,
  healthChecks: { everySeconds: 0, details: true },
  storeResponses: null,
  responseRetentionDays: null,
  demoModel: null,
  introspection: null,
  graphiql: null,
  publicUrl: null,
  billing: null,
  otlpExport: { endpoint: null, headers: null, protocol: null, called: false },
};

/**
 * Reads arguments, environment and config file, in that order of precedence. Throws ConfigError with
 * every fault. Creates the data folder, and in it an admin key when none is configured.
 */
export function readSettings(argv: readonly string[], env: NodeJS.ProcessEnv, smith: KeySmith): Settings {
  const args = readArguments(argv);
  const faults: ConfigFault[] = [];
  const wholeNumber = (name: string, value: string | undefined, otherwise: number, most: number): number => {
    if (value === undefined || value === '') return otherwise;
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number <= most) return number;
    faults.push({
      source: name.startsWith('--') ? 'arguments' : 'environment',
      line: null,
      key: name,
      message: `"${value}" is not a whole number from 0 to ${most}`,
    });
    return otherwise;
  };

  const variable = (name: string, otherwise: number, most: number): number =>
    wholeNumber(name, env[name], otherwise, most);

  const oneOf = <Choice extends string>(name: string, choices: readonly Choice[], otherwise: Choice): Choice => {
    const value = env[name];
    if (value === undefined || value === '') return otherwise;
    const chosen = choices.find((choice) => choice === value);
    if (chosen) return chosen;
    faults.push({
      source: 'environment',
      line: null,
      key: name,
      message: `"${value}" is not one of ${choices.join(', ')}`,
    });
    return otherwise;
  };

  const configPath = args.config ?? env['CONFIG_FILE_PATH'];
  const file = readFile(configPath, env, faults);
  const host = args.host ?? env['HOST'] ?? '127.0.0.1';
  const port = wholeNumber(args.port === undefined ? 'PORT' : '--port', args.port ?? env['PORT'], 4000, 65_535);
  const catalogRefreshSeconds = variable('LENSGATE_CATALOG_REFRESH_SECONDS', 60, 86_400);
  const catalogDailyLimit = variable(
    'LENSGATE_CATALOG_DAILY_LIMIT',
    file.catalogDailyLimit ?? DEFAULT_DAILY_LIMIT,
    MOST_DAILY_CALLS,
  );
  const maxConnections = variable(
    'LENSGATE_MAX_CONNECTIONS',
    file.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    MOST_CONNECTIONS,
  );
  const wrongKeysPerMinute = variable('LENSGATE_WRONG_KEYS_PER_MINUTE', DEFAULT_WRONG_KEYS, MOST_WRONG_KEYS);
  const retentionToldDays = variable('AGENT_TRACING_RETENTION_DAYS', DEFAULT_RETENTION_DAYS, MOST_RETENTION_DAYS);
  const lockTimeoutMs = variable('LENSGATE_DATABASE_LOCK_TIMEOUT_MS', DEFAULT_LOCK_TIMEOUT_MS, MOST_LOCK_TIMEOUT_MS);
  const trustedProxies = readProxies(env, file, faults);
  const logLevel = oneOf('LENSGATE_LOG_LEVEL', LOG_LEVELS, 'info');
  const sqliteDriver = oneOf('LENSGATE_SQLITE_DRIVER', ['auto', 'sqlite3', 'node:sqlite'], 'auto');
  const environmentKey = env['LITELLM_MASTER_KEY'];
  const configured = environmentKey ? new Secret(environmentKey) : file.masterKey;
  const keySource = environmentKey ? 'LITELLM_MASTER_KEY' : 'general_settings.master_key';
  const warnings: string[] = [];
  if (configured) checkMasterKey(configured, { host, source: keySource, env, faults, warnings });
  if (trustedProxies.some(trustsEveryone))
    warnings.push('Every address is trusted as a proxy: anyone can invent the address that free calls are counted by.');
  warnings.push(...file.deployments.map((one) => oddityOf(one, env)).filter((oddity) => oddity !== null));
  const otlp = readOtlp(env, (fault) => faults.push(fault));
  const upstream = readUpstream(env, file.upstream, (fault) => faults.push(fault));
  const otlpExport = readOtlpExport(env, file.otlpExport, (fault) => faults.push(fault));
  const clickHouse = readClickHouse(env, file.traceStore, {
    fault: (fault) => faults.push(fault),
    warn: (warning) => warnings.push(warning),
  });
  const callers = readCallers(env, file.callers, (fault) => faults.push(fault));
  const billing = readBilling(env, file, (fault) => faults.push(fault));
  if (billing.secretKey !== null && billing.publicUrl === null && !LOOPBACK.has(host))
    warnings.push('Access is sold, but PROXY_BASE_URL is not set: buyers are sent back to the address listened on.');
  if (faults.length > 0) throw new ConfigError(faults);

  const dataDir = resolve(env['LENSGATE_DATA_DIR'] || '.lensgate');
  openDataFolder(dataDir);
  const kept = configured
    ? { key: configured, source: environmentKey ? ('environment' as const) : ('config file' as const) }
    : keepAdminKey(dataDir, smith);
  return Object.freeze({
    host,
    port,
    dataDir,
    databaseUrl: env['DATABASE_URL'] || file.databaseUrl,
    clickHouse,
    sqliteDriver: sqliteDriver === 'auto' ? null : sqliteDriver,
    // To PostgreSQL 0 means to wait for ever.
    lockTimeoutMs: Math.max(1, lockTimeoutMs),
    masterKey: kept.key,
    masterKeySource: kept.source,
    deployments: file.deployments,
    demoModel: file.demoModel ?? true,
    maxRequestBytes: file.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES,
    streamHeartbeatSeconds: file.streamHeartbeatSeconds ?? DEFAULT_HEARTBEAT_SECONDS,
    maxConnections,
    upstream,
    fileLimits: file.fileLimits,
    capturePrompts: file.capturePrompts ?? false,
    alwaysStreamUsage: file.alwaysStreamUsage ?? false,
    budgetToldAs: file.budgetToldAs ?? 'unprocessable',
    keyHeader: file.keyHeader,
    callers,
    routerDebugInErrors: file.routerDebugInErrors ?? true,
    enforceFallbackBudget: file.enforceFallbackBudget ?? true,
    responseIdSecurity: file.responseIdSecurity ?? true,
    batchPollingSeconds: file.batchPollingSeconds ?? DEFAULT_BATCH_SECONDS,
    healthChecks: file.healthChecks,
    storeResponses: file.storeResponses ?? true,
    responseRetentionDays: file.responseRetentionDays ?? DEFAULT_RESPONSE_DAYS,
    introspection: file.introspection ?? true,
    graphiql: file.graphiql ?? true,
    billing,
    otlp,
    otlpExport,
    catalogUrl: env['LITELLM_MODEL_COST_MAP_URL'] || null,
    catalogRefreshSeconds,
    catalogDailyLimit,
    wrongKeysPerMinute,
    // Of the store of traces, the file wins.
    retentionDays: file.retentionDays ?? retentionToldDays,
    trustedProxies,
    logLevel,
    warnings,
  });
}

function readArguments(argv: readonly string[]): { config?: string; port?: string; host?: string } {
  try {
    return parseArgs({
      args: [...argv],
      options: { config: { type: 'string' }, port: { type: 'string' }, host: { type: 'string' } },
    }).values;
  } catch (error) {
    const message = `${error instanceof Error ? error.message : String(error)} (known: --config FILE, --port N, --host H)`;
    throw new ConfigError([{ source: 'arguments', line: null, key: '', message }]);
  }
}

function readFile(path: string | undefined, env: NodeJS.ProcessEnv, faults: ConfigFault[]): FileSettings {
  if (!path) return SILENT_FILE;
  try {
    return readConfigFile(path, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults);
    return SILENT_FILE;
  }
}

function readProxies(env: NodeJS.ProcessEnv, file: FileSettings, faults: ConfigFault[]): readonly string[] {
  const name = 'LENSGATE_TRUSTED_PROXIES';
  const listed = env[name]?.split(',').map((item) => item.trim()) ?? [];
  const proxies = listed.filter((item) => item !== '');
  for (const proxy of proxies) {
    const message = proxyFault(proxy);
    if (message !== null) faults.push({ source: 'environment', line: null, key: name, message });
  }
  return proxies.length > 0 ? proxies : (file.trustedProxies ?? []);
}

function checkMasterKey(
  key: Secret,
  about: {
    readonly host: string;
    readonly source: string;
    readonly env: NodeJS.ProcessEnv;
    readonly faults: ConfigFault[];
    readonly warnings: string[];
  },
): void {
  const fault = (message: string): void => {
    about.faults.push({ source: 'admin key', line: null, key: about.source, message });
  };
  if (!ADMIN_KEY_FORM.test(key.reveal()))
    return fault('must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces');
  if (!PUBLIC_KEYS.has(key.reveal())) return;
  const permitted = about.env['LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY'] === 'true';
  if (LOOPBACK.has(about.host) || permitted) {
    about.warnings.push(
      `The admin key in ${about.source} is publicly known. Anyone who can reach this port is an admin.`,
    );
    return;
  }
  fault(`is publicly known; it is accepted on a loopback address only, not on ${about.host}`);
}
