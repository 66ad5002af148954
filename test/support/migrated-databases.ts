import { constants, copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, openStores } from '../../src/persistence/database/orm.ts';
import { migrate } from '../../src/persistence/migrate.ts';
import { createCatalogRecorder } from '../../src/runtime/catalog/recorder.ts';
import { createCatalogSource } from '../../src/runtime/catalog/source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Log } from '../../src/runtime/telemetry/log.ts';
import { createDatabase } from './postgresql-databases.ts';
import { POSTGRES_TEMPLATE_PREFIX, RUN_FOLDER } from './run-folder.ts';
import { aScheduler } from './scheduler.ts';

// Databases with all migrations applied. They are copies of templates of this test run, because a copy is faster than
// the migrations. Tests of migrations (`createEmpty` of an engine) and of whole processes start with empty databases.

const FILE = 'lensgate.db';
const log = { warn() {} };
/** Log that throws for an error. */
const strict: Log = {
  ...log,
  debug() {},
  info() {},
  error(facts, event) {
    throw new Error(`${event} ${JSON.stringify(facts)}`);
  },
};

/** Rows in a template. `catalog` is the history of the built-in catalog, which the first start of the app records. */
type Content = 'empty' | 'catalog';

async function applyMigrations(databaseUrl: string | null, dataDir: string): Promise<void> {
  const database = await openDatabase({ databaseUrl, dataDir, log });
  try {
    await migrate(database);
  } finally {
    await database.orm.close();
  }
}

/** Records the built-in catalog, so that a start of the app does not insert thousands of rows. */
async function recordCatalog(dataDir: string): Promise<void> {
  const stores = await openStores({ databaseUrl: null, dataDir, log });
  try {
    const scheduler = aScheduler();
    const recorder = createCatalogRecorder({
      history: stores.catalogHistory,
      bus: { publish() {} },
      clock: systemClock,
      scheduler,
      log: strict,
      freshAt: () => null,
    });
    recorder.enqueue(
      createCatalogSource({ url: null, refreshSeconds: 0, scheduler, clock: systemClock, log: strict }).current(),
    );
    await recorder.stop();
  } finally {
    await stores.close();
  }
}

/** Creates a template. Two workers may do it at the same time: the rename is atomic, and the last one wins. */
async function makeTemplate(
  folder: string,
  { template, content }: { readonly template: string; readonly content: Content },
): Promise<void> {
  const scratch = mkdtempSync(join(folder, 'making-'));
  await applyMigrations(null, scratch);
  if (content === 'catalog') await recordCatalog(scratch);
  renameSync(join(scratch, FILE), template);
  rmSync(scratch, { recursive: true });
}

/** Copies a migrated SQLite database into an empty data folder. Does nothing outside of the test runner. */
export async function putMigratedDatabase(dataDir: string, content: Content = 'empty'): Promise<void> {
  const folder = process.env[RUN_FOLDER];
  if (folder === undefined) return;
  const template = join(folder, `${content}-${FILE}`);
  if (!existsSync(template)) await makeTemplate(folder, { template, content });
  copyFileSync(template, join(dataDir, FILE), constants.COPYFILE_FICLONE);
}

async function makePostgresTemplate(server: string): Promise<string> {
  const { name, url } = await createDatabase(server);
  const folder = process.env[RUN_FOLDER];
  // The global teardown reads this file and drops the template.
  if (folder !== undefined) writeFileSync(join(folder, `${POSTGRES_TEMPLATE_PREFIX}${name}`), `${server}\n${name}`);
  await applyMigrations(url, '');
  return name;
}

/** Name of the template of this worker, by server. */
const templates = new Map<string, Promise<string>>();

/** Creates a migrated database on a PostgreSQL server. */
export async function createMigratedPostgres(server: string): Promise<{ name: string; url: string }> {
  const template = templates.get(server) ?? makePostgresTemplate(server);
  templates.set(server, template);
  return createDatabase(server, await template);
}
