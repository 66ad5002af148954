// This file loads on older Node versions, too, so that they print the message below. Only the server needs Node 26.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
// Default imports do not fail on an older Node that lacks an export of these modules, so the version check runs.
import module from 'node:module';
import os from 'node:os';
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

/**
 * Builds the bundle in a separate process, whose memory is freed at its end. Returns the entry; null after a failed
 * build.
 */
function makeBundle() {
  spawnSync(process.execPath, [join(root, 'scripts', 'bundle.mjs')], { stdio: ['ignore', 'inherit', 'inherit'] });
  return currentEntry(root);
}

/** Keeps V8's compile cache beside the bundle; on a read-only folder the server keeps it in its data folder. */
function enableCompileCacheIn(folder) {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return;
  }
  module.enableCompileCache(join(folder, 'compiled'));
}

/**
 * SQLite's statements run on libuv's threads, four by default. On two or three cores, one thread per core uses the CPU
 * caches better (docs/performance.md). libuv reads the variable when it starts its first thread.
 */
function limitSqliteThreads() {
  const cores = os.availableParallelism();
  if (cores > 1 && cores < 4) process.env.UV_THREADPOOL_SIZE ??= String(cores);
}

limitSqliteThreads();
let entry = currentEntry(root) ?? makeBundle();
if (entry === null) {
  console.error('Lensgate starts from its sources: slower, and with twice the memory.');
  entry = join(root, 'src', 'main.ts');
} else enableCompileCacheIn(dirname(entry));
// Initial size of the heap's old generation in later threads: 16 MiB. The main thread already has the 128 MiB that
// `npm start` sets.
setFlagsFromString('--initial-old-space-size=16');
await import(pathToFileURL(entry).href);
