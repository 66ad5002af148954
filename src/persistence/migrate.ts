import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MigrationsOptions } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { Database, SqlFlavour } from './database/database.ts';
import { isLockTimeout } from './database/faults.ts';

/** A migration as it is written, and as it is in a bundle. */
const FILE = /^(Migration.*)\.(?:ts|js)$/;
const LEDGER = 'schema_migration';
/** Processes that start together on an empty database trip over each other at most this often. */
const ATTEMPTS = 8;
/** How long a migration waits for locks, such as those of another process that migrates now. */
const LOCKED_MS = 600_000;

function folderOf(flavour: SqlFlavour): string {
  return fileURLToPath(new URL(`./migrations/${flavour}/`, import.meta.url));
}

/** Where the migrations of an engine are and how they are kept. */
export function migrationsOf(flavour: SqlFlavour): MigrationsOptions {
  return {
    tableName: LEDGER,
    path: folderOf(flavour),
    pathTs: folderOf(flavour),
    glob: 'Migration*.{ts,js}',
    emit: 'ts',
    snapshotName: '.snapshot',
    // The snapshot belongs to whoever writes a migration; a server that starts never writes into its sources.
    snapshotOnMigrate: false,
    silent: true,
  };
}

/** The migrations in the folder which the database has not seen yet. */
async function pending({ orm, flavour }: Database): Promise<readonly string[]> {
  const known = readdirSync(folderOf(flavour))
    .filter((file) => FILE.test(file))
    .map((file) => file.replace(FILE, '$1'));
  const kysely = orm.em.fork().getKysely<never>();
  const ledger =
    flavour === 'sqlite'
      ? sql`select 1 from sqlite_master where name = ${LEDGER}`
      : sql`select 1 where to_regclass(${LEDGER}) is not null`;
  if ((await ledger.execute(kysely)).rows.length === 0) return known;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(LEDGER)}`.execute(kysely);
  const applied = new Set(rows.map(({ name }) => name));
  return known.filter((name) => !applied.has(name));
}

/**
 * Applies what is pending, all or nothing. The migrator is loaded only when something is pending: an
 * ordinary start does not pay for it. When another process applies the same migrations at this moment ours
 * fail on tables that exist by then, so what is pending is looked at afresh before it counts as a failure. A lock timeout
 * is no failure: another process may migrate for longer than a write waits for a lock.
 */
export async function migrate(database: Database): Promise<void> {
  const endMs = performance.now() + LOCKED_MS;
  for (let attempt = 1; ;) {
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
