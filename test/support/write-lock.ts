import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestApp } from './start-app.ts';

/**
 * Holds the write lock of a database in another process. File locks of one process do not exclude each other when it
 * uses two SQLite libraries: `node:sqlite` here, and the library of the app. Returns a function that releases the lock.
 */
export async function lockWrites({ dataDir }: Pick<TestApp, 'dataDir'>): Promise<() => Promise<void>> {
  const script = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1], { timeout: 60000 });
    database.exec('begin immediate');
    process.stdout.write('held');
    process.stdin.on('end', () => database.exec('rollback')).resume();`;
  const child = spawn(process.execPath, ['-e', script, join(dataDir, 'lensgate.db')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end();
    await once(child, 'exit');
  };
}
