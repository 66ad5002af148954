import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const RUN = `const { DatabaseSync } = require('node:sqlite');
  const [file, sql, ...params] = process.argv.slice(1);
  console.log(new DatabaseSync(file, { timeout: 5000 }).prepare(sql).run(...params).changes);`;

/**
 * Runs a statement on the SQLite database of a running product; returns the number of changed rows. In a process of its own:
 * locks of SQLite do not hold between two copies of its library in one process.
 */
export const changeFromOutside = (dataDir: string, sql: string, ...params: readonly string[]): number =>
  Number(execFileSync(process.execPath, ['-e', RUN, join(dataDir, 'lensgate.db'), sql, ...params]).toString());
