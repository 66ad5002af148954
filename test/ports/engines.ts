import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import type { ExportBody } from '../../src/domain/traces/packed.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import { SpanEntity } from '../../src/persistence/traces/entities/span.ts';
import { TraceSummaryEntity } from '../../src/persistence/traces/entities/trace-summary.ts';
import { openDatabase, openStores } from '../../src/persistence/database/orm.ts';
import { everyColumn, rowTable } from '../../src/persistence/database/rows.ts';
import type { Stores, StoresOptions } from '../../src/persistence/stores.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import { createMigratedPostgres, putMigratedDatabase } from '../support/migrated-databases.ts';
import { createDatabase, dropDatabase, onServer } from '../support/postgresql-databases.ts';

interface KeptBody extends Pick<ExportBody, 'compression' | 'bytes'> {
  readonly heldBy: number;
}

/** What a kept body says. */
export const openedBody = ({ compression, bytes }: Pick<ExportBody, 'compression' | 'bytes'>): string =>
  (compression === 'gzip' ? gunzipSync(bytes) : zstdDecompressSync(bytes)).toString('latin1');

/** A database of one engine, for one suite. */
export interface ScratchDatabase {
  readonly options: StoresOptions;
  /** Stores over it; several may be open at once, as several processes would be. */
  open(more?: Partial<StoresOptions>): Promise<Stores>;
  /** The same database without stores, for looking behind them. */
  openBare(): Promise<Database>;
  /** Empties every table. */
  clear(): Promise<void>;
  /** The bodies of exports that are kept, in the order in which they came, and how many spans point into each. */
  keptBodies(): Promise<readonly KeptBody[]>;
  /** Every value of every row of the traces, bodies opened, as one text. */
  everything(): Promise<string>;
  /** Makes every writer wait until the returned function is called. */
  holdWriters(): Promise<() => Promise<void>>;
  /** Closes whatever was opened and removes it. */
  remove(): Promise<void>;
}

export interface Engine {
  readonly name: Stores['engine'] | 'clickhouse';
  /** Null when the machine has it, else what is missing. */
  readonly missing: string | null;
  /** A database with all migrations applied. */
  create(): Promise<ScratchDatabase>;
}

interface SqlEngine extends Engine {
  /** A database without tables. */
  createEmpty(): Promise<ScratchDatabase>;
}

const DEFAULT_POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres';
const log: StoresOptions['log'] = {
  warn(facts, event) {
    throw new Error(`${event} ${JSON.stringify(facts)}`);
  },
};

function scratchOver(options: StoresOptions, dispose: () => Promise<void>): ScratchDatabase {
  const closers: (() => Promise<void>)[] = [];
  async function openBare(): Promise<Database> {
    const database = await openDatabase(options);
    closers.push(() => database.orm.close());
    return database;
  }
  let bare: Promise<Database> | null = null;
  async function keptBodies(): Promise<readonly KeptBody[]> {
    bare ??= openBare();
    const { rows } = await sql<{ held_by: number; compression: 'gzip' | 'zstd'; bytes: Uint8Array }>`
      select held_by, compression, bytes from export_body order by body_no
    `.execute((await bare).orm.em.fork().getKysely<Tables>());
    return rows.map(({ held_by: heldBy, compression, bytes }) => ({ heldBy, compression, bytes }));
  }
  return {
    options,
    async clear() {
      bare ??= openBare();
      const em = (await bare).orm.em.fork();
      for (const { tableName } of em.getMetadata().getAll().values()) await em.execute(`delete from ${tableName}`);
    },
    async open(more = {}) {
      const stores = await openStores({ ...options, ...more });
      closers.push(() => stores.close());
      return stores;
    },
    openBare,
    keptBodies,
    async everything() {
      bare ??= openBare();
      const { orm } = await bare;
      const db = orm.em.fork().getKysely<Tables>();
      const summaries = everyColumn(rowTable(orm, 'trace_summary', TraceSummaryEntity));
      const spans = everyColumn(rowTable(orm, 'span', SpanEntity));
      const rows = [
        ...(await db.selectFrom('trace_summary').select(summaries).execute()),
        ...(await db.selectFrom('span').select(spans).execute()),
      ];
      const bodies = await db.selectFrom('export_body').select('heads').execute();
      const blocks = bodies.map(({ heads }) => Buffer.from(heads ?? []).toString());
      return [...rows.map((row) => JSON.stringify(row)), ...blocks, ...(await keptBodies()).map(openedBody)].join('\n');
    },
    async holdWriters() {
      const { orm, flavour } = await openBare();
      const em = orm.em.fork();
      await em.begin();
      if (flavour === 'postgresql') await em.execute('lock table trace_summary in exclusive mode');
      return () => em.rollback();
    },
    async remove() {
      for (const close of closers) await close();
      await dispose();
    },
  };
}

function sqliteEngine(name: 'sqlite3' | 'node:sqlite', missing: string | null): SqlEngine {
  const over = (dataDir: string): ScratchDatabase =>
    scratchOver({ databaseUrl: null, dataDir, sqliteDriver: name, log }, () => {
      rmSync(dataDir, { recursive: true });
      return Promise.resolve();
    });
  const newFolder = (): string => mkdtempSync(join(tmpdir(), 'lensgate-ports-'));
  return {
    name,
    missing,
    async create() {
      const dataDir = newFolder();
      await putMigratedDatabase(dataDir);
      return over(dataDir);
    },
    createEmpty: () => Promise.resolve(over(newFolder())),
  };
}

function postgresEngine(server: string, missing: string | null): SqlEngine {
  const over = ({ name, url }: { readonly name: string; readonly url: string }): ScratchDatabase =>
    scratchOver({ databaseUrl: url, dataDir: '', log }, () => dropDatabase(server, name));
  return {
    name: 'postgresql',
    missing,
    create: async () => over(await createMigratedPostgres(server)),
    createEmpty: async () => over(await createDatabase(server)),
  };
}

async function missingAddon(): Promise<string | null> {
  return import('sqlite3').then(
    () => null,
    () => 'the sqlite3 package is not built',
  );
}

async function missingPostgres(url: string, configured: boolean): Promise<string | null> {
  try {
    await onServer(url, 'select 1');
    return null;
  } catch (error) {
    // A server that was asked for by name must be there.
    if (configured) throw error;
    return 'no PostgreSQL answers: set LENSGATE_TEST_POSTGRES_URL to a server where databases may be created';
  }
}

const configuredPostgres = process.env['LENSGATE_TEST_POSTGRES_URL'];
const postgresUrl = configuredPostgres ?? DEFAULT_POSTGRES;

/** Every engine a store must behave the same on. Those this machine lacks are announced and skipped. */
export const ENGINES: readonly SqlEngine[] = [
  sqliteEngine('sqlite3', await missingAddon()),
  sqliteEngine('node:sqlite', null),
  postgresEngine(postgresUrl, await missingPostgres(postgresUrl, configuredPostgres !== undefined)),
];

for (const { name, missing } of ENGINES) if (missing !== null) console.warn(`SKIPPED on ${name}: ${missing}.`);
