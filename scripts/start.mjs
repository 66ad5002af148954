// Runs on any Node: the server itself needs the Node that the project's own dependencies bring.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
// As a whole: a Node that is too old to have what is used of it must get as far as being told so.
import module from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { currentEntry } from './bundle-state.mjs';

const [major] = process.versions.node.split('.').map(Number);
if (major < 26) {
  console.error(
    `Lensgate runs on Node 26, which \`npm ci\` installs into the project. This is Node ${process.versions.node}.\n` +
      'Start it with `npm start`. If you did, no Node package exists for this platform: install Node 26 yourself.',
  );
  process.exit(1);
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Made by a process of its own: what making one takes would stay with the server for its life. */
function makeBundle() {
  spawnSync(process.execPath, [join(root, 'scripts', 'bundle.mjs')], { stdio: ['ignore', 'inherit', 'inherit'] });
  return currentEntry(root);
}

/** What V8 makes of a bundle is kept beside it, so that it goes with it; where nobody may write, the server keeps it. */
function keepCompiled(folder) {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return;
  }
  module.enableCompileCache(join(folder, 'compiled'));
}

/**
 * SQLite's statements run on libuv's threads, four where nobody says otherwise. Where there are fewer cores, each statement
 * finds on one what the last has left in the cache of another. libuv reads it when it starts the first of them.
 */
function boundThreads() {
  const cores = availableParallelism();
  if (cores > 1 && cores < 4) process.env.UV_THREADPOOL_SIZE ??= String(cores);
}

boundThreads();
let entry = currentEntry(root) ?? makeBundle();
if (entry === null) {
  console.error('Lensgate starts from its sources: slower, and with twice the memory.');
  entry = join(root, 'src', 'main.ts');
} else keepCompiled(dirname(entry));
// The line of `npm start` gives the main thread an old generation of 96 MiB before V8 looks through it the first time. It has
// that by now; threads that are made later begin with this.
setFlagsFromString('--initial-old-space-size=16');
await import(pathToFileURL(entry).href);
