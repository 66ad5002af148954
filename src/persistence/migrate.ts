import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MigrationsOptions } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { Database, SqlFlavour } from './database/database.ts';
import { isLockTimeout } from './database/faults.ts';

/** File name of a migration, in the sources and in a bundle. */
const FILE = /^(Migration.*)\.(?:ts|js)$/;
const MIGRATION_TABLE = 'schema_migration';
/**
 * Maximum number of attempts. Several are needed, because processes that start together on an empty database conflict.
 */
const ATTEMPTS = 8;
/** How long to wait for locks, such as those of another migrating process, in ms. */
const MAX_LOCK_WAIT_MS = 600_000;

function folderOf(flavour: SqlFlavour): string {
  return fileURLToPath(new URL(`./migrations/${flavour}/`, import.meta.url));
}

/** Migration settings of an engine. */
export function migrationsOf(flavour: SqlFlavour): MigrationsOptions {
  return {
    tableName: MIGRATION_TABLE,
    path: folderOf(flavour),
    pathTs: folderOf(flavour),
    glob: 'Migration*.{ts,js}',
    emit: 'ts',
    snapshotName: '.snapshot',
    // Only the command that creates a migration writes the snapshot; a starting server does not write into its sources.
    snapshotOnMigrate: false,
    silent: true,
  };
}

/** Migrations that are not applied yet. */
async function pending({ orm, flavour }: Database): Promise<readonly string[]> {
  const known = readdirSync(folderOf(flavour))
    .filter((file) => FILE.test(file))
    .map((file) => file.replace(FILE, '$1'));
  const kysely = orm.em.fork().getKysely<never>();
  const findMigrationTable =
    flavour === 'sqlite'
      ? sql`select 1 from sqlite_master where name = ${MIGRATION_TABLE}`
      : sql`select 1 where to_regclass(${MIGRATION_TABLE}) is not null`;
  if ((await findMigrationTable.execute(kysely)).rows.length === 0) return known;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(MIGRATION_TABLE)}`.execute(kysely);
  const applied = new Set(rows.map(({ name }) => name));
  return known.filter((name) => !applied.has(name));
}

/**
 * Applies all pending migrations or none. The migrator is loaded only when a migration is pending, which keeps a usual
 * start fast. When another process applies the same migrations concurrently, they fail here on tables that exist
 * already. So the pending migrations are read again before a retry. A lock timeout does not count as an attempt:
 * another process may migrate for longer than a write waits for a lock.
 */
export async function migrate(database: Database): Promise<void> {
  const endMs = performance.now() + MAX_LOCK_WAIT_MS;
  let attempt = 1;
  for (;;) {
    if ((await pending(database)).length === 0) return;
    try {
      const { Migrator } = await import('@mikro-orm/migrations');
      await new Migrator(database.orm.em).up();
    } catch (error) {
      if (!isLockTimeout(error) || performance.now() > endMs) attempt += 1;
      if (attempt > ATTEMPTS) throw error;
      await wait(Math.random() * 50 * attempt);
    }
  }
}
