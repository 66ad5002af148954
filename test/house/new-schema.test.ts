import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Migrator } from '@mikro-orm/migrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import { openDatabase } from '../../src/persistence/database/orm.ts';
import { migrate } from '../../src/persistence/migrate.ts';
import { newSqliteSchema } from '../../src/persistence/sqlite/new-schema.ts';
import { ROOT } from './repository.ts';

const SCRIPT = join(ROOT, 'data/sqlite/schema.sql');
const ENGINES = ['sqlite3', 'node:sqlite'] as const;
const MIGRATIONS = 'schema_migration';
const log = {
  warn(facts: object, event: string): never {
    throw new Error(`${event} ${JSON.stringify(facts)}`);
  },
};

let folder: string;
const opened: Database[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-new-schema-'));
});
afterEach(async () => {
  for (const { orm } of opened.splice(0)) await orm.close();
  rmSync(folder, { recursive: true });
});

interface Content {
  /** Tables, indexes and views in the schema of SQLite, in order of creation. */
  readonly objects: readonly { readonly name: string; readonly sql: string }[];
  readonly migrations: readonly string[];
  readonly pageBytes: unknown;
  /** Names of the tables that have rows. The table of migrations is left out. */
  readonly filled: readonly string[];
}

async function contentOf({ orm }: Database): Promise<Content> {
  const kysely = orm.em.fork().getKysely<never>();
  const { rows: objects } = await sql<{ type: string; name: string; sql: string }>`
    select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid
  `.execute(kysely);
  const { rows: applied } = await sql<{ name: string }>`select name from ${sql.table(MIGRATIONS)} order by id`.execute(
    kysely,
  );
  const { rows: sizes } = await sql<{ page_size: number }>`pragma page_size`.execute(kysely);
  const tables = objects.filter(({ type, name }) => type === 'table' && name !== MIGRATIONS);
  const filled: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(kysely);
    if (rows.length > 0) filled.push(name);
  }
  return {
    objects: objects.map(({ name, sql: text }) => ({ name, sql: text })),
    migrations: applied.map(({ name }) => name),
    pageBytes: sizes[0]?.page_size,
    filled,
  };
}

/** Opens a new file, with or without the tables of a script. */
async function aDatabase(name: string, sqliteDriver: (typeof ENGINES)[number], newSchema?: () => string) {
  const options = { databaseUrl: `file:${join(folder, name)}`, dataDir: folder, sqliteDriver, log };
  const database = await openDatabase(options, { newSchema });
  opened.push(database);
  return database;
}

async function migratedContent(name: string): Promise<Content> {
  const database = await aDatabase(name, 'sqlite3');
  await migrate(database);
  return contentOf(database);
}

const scriptOf = ({ objects, migrations }: Content): string =>
  [
    ...objects.map(({ sql: text }) => text),
    `insert into "${MIGRATIONS}" ("name") values\n${migrations.map((name) => `('${name}')`).join(',\n')}`,
  ]
    .map((statement) => `${statement};\n`)
    .join('');

it('data/sqlite/schema.sql is the script of a migrated file; `vitest -u` rewrites it', async () => {
  const migrated = await migratedContent('migrated.db');
  expect(migrated.filled).toEqual([]);
  await expect(scriptOf(migrated)).toMatchFileSnapshot(SCRIPT);
});

it.each(ENGINES)(
  'a new file on %s has the content of a migrated file before any migration runs, and after',
  async (engine) => {
    const migrated = await migratedContent('migrated.db');
    const database = await aDatabase('new.db', engine, newSqliteSchema);
    expect(await contentOf(database)).toEqual(migrated);
    await migrate(database);
    expect(await contentOf(database)).toEqual(migrated);
  },
);

it.each(ENGINES)('a new file on %s is migrated after a script that fails', async (engine) => {
  const migrated = await migratedContent('migrated.db');
  const database = await aDatabase('new.db', engine, () => 'create table note (text);\ncreate nonsense;');
  await migrate(database);
  expect(await contentOf(database)).toEqual(migrated);
});

it('migrations that a script does not name run after it', async () => {
  const migrated = await migratedContent('migrated.db');
  const earlier = await aDatabase('earlier.db', 'sqlite3');
  await new Migrator(earlier.orm.em).up({ to: migrated.migrations.at(-2) ?? '' });
  const script = scriptOf(await contentOf(earlier));
  const database = await aDatabase('new.db', 'sqlite3', () => script);
  await migrate(database);
  expect(await contentOf(database)).toEqual(migrated);
});
