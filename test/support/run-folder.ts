import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Environment variable with the folder of one test run. `migrated-databases.ts` shares its templates there. */
export const RUN_FOLDER = 'LENSGATE_TEST_RUN_FOLDER';
/** Prefix of the names of files with the URL of a PostgreSQL server and the name of a template database. */
export const POSTGRES_TEMPLATE_PREFIX = 'postgresql-';

/** Compiled modules of earlier runs, which Node reads and writes in the workers and their child processes. */
const COMPILED = join(import.meta.dirname, '..', '..', 'node_modules', '.vitest-cache', 'compiled');

/** Global setup: runs once, before the workers start. */
export function setup(): void {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  process.env[RUN_FOLDER] = mkdtempSync(join(tmpdir(), 'lensgate-run-'));
}

/** Global teardown: drops the template databases of the run, and removes the folder. */
export async function teardown(): Promise<void> {
  const folder = process.env[RUN_FOLDER];
  if (folder === undefined) return;
  for (const file of readdirSync(folder).filter((name) => name.startsWith(POSTGRES_TEMPLATE_PREFIX))) {
    const { dropDatabase } = await import('./postgresql-databases.ts');
    const [server = '', name = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
    await dropDatabase(server, name);
  }
  rmSync(folder, { recursive: true, force: true });
}
