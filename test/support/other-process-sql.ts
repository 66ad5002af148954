import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const RUN = `const { DatabaseSync } = require('node:sqlite');
  const [file, sql, ...params] = process.argv.slice(1);
  // SQLite's busy timeout does not apply to every kind of lock.
  const run = (triesLeft) => {
    try {
      return new DatabaseSync(file, { timeout: 30000 }).prepare(sql).run(...params).changes;
    } catch (error) {
      if (triesLeft === 0 || !/locked/.test(error.message)) throw error;
      // Sleeps for 50 ms.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      return run(triesLeft - 1);
    }
  };
  console.log(run(200));`;

const start = promisify(execFile);

/**
 * Runs a statement on the SQLite database of a running app. Returns the number of changed rows. Uses a child process:
 * SQLite's locks do not work between two copies of its library in one process. The call is asynchronous, so that an app
 * in this process can end a transaction whose lock the statement waits for.
 */
export async function changeInOtherProcess(
  dataDir: string,
  sql: string,
  ...params: readonly string[]
): Promise<number> {
  const { stdout } = await start(process.execPath, ['-e', RUN, join(dataDir, 'lensgate.db'), sql, ...params]);
  return Number(stdout);
}
