import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Migrator } from '@mikro-orm/migrations';
import { openDatabase } from '../src/persistence/database/orm.ts';

// Writes the changes of the entities since the last migration as a migration for each engine, and updates the
// snapshots: `node scripts/create-migration.ts <name> [postgres url]`. The script connects to PostgreSQL and
// changes no database. Review the result, and write `down` where it is missing.

const [name, postgresUrl = 'postgres://postgres@127.0.0.1:5432/postgres'] = process.argv.slice(2);
if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) {
  console.error('Usage: node scripts/create-migration.ts <name_in_snake_case> [postgres url]');
  process.exit(1);
}

const stamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
const dataDir = mkdtempSync(join(tmpdir(), 'lensgate-migration-'));
const log = { warn: (facts: object, event: string) => console.warn(event, facts) };
for (const databaseUrl of [null, postgresUrl]) {
  const { orm, flavour } = await openDatabase({ databaseUrl, dataDir, log });
  // One name on both engines: a test compares them.
  orm.config.get('migrations').fileName = () => `Migration${stamp}_${name}`;
  const { fileName } = await new Migrator(orm.em).create();
  console.log(fileName === '' ? `${flavour}: nothing has changed` : `${flavour}: ${fileName}`);
  await orm.close();
}
rmSync(dataDir, { recursive: true });
