// npm run catalog:seed-history -- --from <file.jsonl> [--config FILE]
//
// Imports the history of the catalog. The file has dated changes in order of time, one JSON object a line, such as:
//
// {"at":"2026-07-24T10:15:30Z","id":"gpt-4o","op":"changed","field":"input_cost_per_token","old":5e-6,"new":2.5e-6}
// {"at":"2026-07-24T10:15:30Z","id":"gpt-5","op":"added"}
//
// Writes to the database of the server (LENSGATE_DATA_DIR, DATABASE_URL), which may be running. A second run adds
// nothing.
import { parseArgs } from 'node:util';
import { openStores } from '../src/persistence/database/orm.ts';
import { SeedRejected, seedHistory } from '../src/runtime/catalog/seed.ts';
import { loadEmbeddedSnapshot } from '../src/runtime/catalog/snapshot.ts';
import { ConfigError } from '../src/runtime/settings/config-fault.ts';
import { keyGenerator } from '../src/runtime/identifiers.ts';
import { createLog } from '../src/runtime/telemetry/log.ts';
import { readSettings } from '../src/runtime/settings/settings.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, config: { type: 'string' } } });
  if (values.from === undefined) throw new SeedRejected(['Name the file of the changes: --from <file.jsonl>.']);
  const config = values.config === undefined ? [] : ['--config', values.config];
  const { databaseUrl, dataDir, sqliteDriver } = readSettings(config, process.env, keyGenerator);
  const stores = await openStores({ databaseUrl, dataDir, sqliteDriver, log: createLog('warn') });
  const embedded = loadEmbeddedSnapshot();
  try {
    const { read, added, from, to } = await seedHistory({
      file: values.from,
      history: stores.catalogHistory,
      providerOf: (entryId) => embedded.find(entryId)?.provider ?? null,
      now: new Date(),
    });
    const time = from === null || to === null ? '' : ` from ${from.toISOString()} to ${to.toISOString()}`;
    console.log(
      `${read} changes read${time}: ${added} added, ${read - added} already known or not earlier than the recorded history.`,
    );
  } finally {
    await stores.close();
  }
}

try {
  await main();
} catch (error) {
  if (error instanceof SeedRejected || error instanceof ConfigError) console.error(`Not imported:\n${error.message}`);
  else if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    console.error(`Not imported: ${error.message}`);
  else throw error;
  process.exitCode = 1;
}
