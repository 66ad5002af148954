import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import type { ExportBody } from '../../src/domain/traces/packed.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import { openDatabase, openStores } from '../../src/persistence/database/orm.ts';
import { everyColumn, rowTable } from '../../src/persistence/database/rows.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import type { StoresOptions } from '../../src/persistence/options.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import { assertAnswers } from '../support/test-servers.ts';
import { createMigratedPostgres, putMigratedDatabase } from '../support/migrated-databases.ts';
import { createDatabase, dropDatabase, executeOnServer } from '../support/postgresql-databases.ts';
import { IS_EXHAUSTIVE } from '../support/sampling.ts';

interface StoredBody extends Pick<ExportBody, 'compression' | 'bytes'> {
  /** Number of spans that refer to the body. */
  readonly heldBy: number;
}

/** Decompressed content of a stored export body. */
export const openedBody = ({ compression, bytes }: Pick<ExportBody, 'compression' | 'bytes'>): string =>
  (compression === 'gzip' ? gunzipSync(bytes) : zstdDecompressSync(bytes)).toString('latin1');

/** Database of one engine for one suite. */
export interface ScratchDatabase {
  readonly options: StoresOptions;
  /**
   * Options of `startApp` for an app over the database. The data folder is absent for PostgreSQL: the app creates one.
   */
  readonly appOptions: { readonly dataDir?: string; readonly env: Record<string, string> };
  /** Opens stores over the database. Several may be open at once, like several processes. */
  open(more?: Partial<StoresOptions>): Promise<Stores>;
  /** Opens the database without stores, to inspect its rows. */
  openBare(): Promise<Database>;
  /** Empties every table. */
  clear(): Promise<void>;
  /** Stored export bodies in order of arrival, with the number of spans that refer to each. */
  storedBodies(): Promise<readonly StoredBody[]>;
  /** All values of all trace rows as one text, with decompressed bodies. */
  allContent(): Promise<string>;
  /**
   * Blocks writers until the returned function is called: all on SQLite, those of traces on PostgreSQL and ClickHouse.
   */
  holdWriters(): Promise<() => Promise<void>>;
  /** Closes all connections and removes the database. */
  remove(): Promise<void>;
}

export interface Engine {
  readonly name: Stores['engine'] | 'clickhouse';
  /** Reason why the engine is unavailable. Null if it is available. */
  readonly skipReason: string | null;
  /** Creates a database with all migrations applied. */
  create(): Promise<ScratchDatabase>;
}

interface SqlEngine extends Engine {
  /** Creates a database without tables. */
  createEmpty(): Promise<ScratchDatabase>;
}

const DEFAULT_POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres';
/** A warning fails the test, unless the test opens the stores with its own log. */
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
  async function storedBodies(): Promise<readonly StoredBody[]> {
    bare ??= openBare();
    const { rows } = await sql<{ held_by: number; compression: 'gzip' | 'zstd'; bytes: Uint8Array }>`
      select held_by, compression, bytes from export_body order by body_no
    `.execute((await bare).orm.em.fork().getKysely<Tables>());
    return rows.map(({ held_by: heldBy, compression, bytes }) => ({ heldBy, compression, bytes }));
  }
  const { databaseUrl, dataDir, sqliteDriver } = options;
  return {
    options,
    appOptions:
      databaseUrl === null
        ? { dataDir, env: { LENSGATE_SQLITE_DRIVER: sqliteDriver ?? 'auto' } }
        : { env: { DATABASE_URL: databaseUrl } },
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
    storedBodies,
    async allContent() {
      bare ??= openBare();
      const { orm } = await bare;
      const db = orm.em.fork().getKysely<Tables>();
      const summaries = everyColumn(rowTable(orm, 'trace_summary'));
      const spans = everyColumn(rowTable(orm, 'span'));
      const rows = [
        ...(await db.selectFrom('trace_summary').select(summaries).execute()),
        ...(await db.selectFrom('span').select(spans).execute()),
      ];
      const bodies = await db.selectFrom('export_body').select('heads').execute();
      const blocks = bodies.map(({ heads }) => Buffer.from(heads ?? []).toString());
      return [...rows.map((row) => JSON.stringify(row)), ...blocks, ...(await storedBodies()).map(openedBody)].join(
        '\n',
      );
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

function sqliteEngine(name: 'sqlite3' | 'node:sqlite', skipReason: string | null): SqlEngine {
  const scratchIn = (dataDir: string): ScratchDatabase =>
    scratchOver({ databaseUrl: null, dataDir, sqliteDriver: name, log }, () => {
      rmSync(dataDir, { recursive: true });
      return Promise.resolve();
    });
  const newFolder = (): string => mkdtempSync(join(tmpdir(), 'lensgate-ports-'));
  return {
    name,
    skipReason,
    async create() {
      const dataDir = newFolder();
      await putMigratedDatabase(dataDir);
      return scratchIn(dataDir);
    },
    createEmpty: () => Promise.resolve(scratchIn(newFolder())),
  };
}

function postgresEngine(server: string, skipReason: string | null): SqlEngine {
  const scratchOf = ({ name, url }: { readonly name: string; readonly url: string }): ScratchDatabase =>
    scratchOver({ databaseUrl: url, dataDir: '', log }, () => dropDatabase(server, name));
  return {
    name: 'postgresql',
    skipReason,
    create: async () => scratchOf(await createMigratedPostgres(server)),
    createEmpty: async () => scratchOf(await createDatabase(server)),
  };
}

/** Reason to skip the engine `sqlite3`. Null if its package is built. */
async function addonSkipReason(): Promise<string | null> {
  return import('sqlite3').then(
    () => null,
    () => 'the sqlite3 package is not built',
  );
}

/** Reason to skip PostgreSQL. Null if the server answers. */
async function postgresSkipReason(url: string, configured: boolean): Promise<string | null> {
  try {
    await assertAnswers('LENSGATE_TEST_POSTGRES_URL', url, () => executeOnServer(url, 'select 1'));
    return null;
  } catch (error) {
    // An explicitly configured server must be reachable.
    if (configured) throw error;
    return 'no PostgreSQL server answers: set LENSGATE_TEST_POSTGRES_URL to a server where databases may be created';
  }
}

const configuredPostgres = process.env['LENSGATE_TEST_POSTGRES_URL'];
const postgresUrl = configuredPostgres ?? DEFAULT_POSTGRES;

const addonReason = await addonSkipReason();
const sqlite3 = sqliteEngine('sqlite3', addonReason);
/** The driver of servers without the package `sqlite3`. */
const nodeSqlite = sqliteEngine(
  'node:sqlite',
  IS_EXHAUSTIVE || addonReason !== null ? null : 'LENSGATE_EXHAUSTIVE=1 adds this second driver of SQLite',
);
const postgresql = postgresEngine(postgresUrl, await postgresSkipReason(postgresUrl, configuredPostgres !== undefined));

/** All SQL engines. Suites skip unavailable engines, with a warning. */
export const ENGINES: readonly SqlEngine[] = [sqlite3, nodeSqlite, postgresql];

/** SQLite once, with the driver that a server selects, and PostgreSQL: for suites that do not depend on the driver. */
export const DATABASES: readonly SqlEngine[] = [addonReason === null ? sqlite3 : nodeSqlite, postgresql];

for (const { name, skipReason } of ENGINES) if (skipReason !== null) console.warn(`SKIPPED on ${name}: ${skipReason}.`);
