#!/usr/bin/env node
// Starts the command `lite`: `npx lite`, `npm run lite --`. It runs on Node 20 and newer, from the bundle in `dist/`.
// Without a current bundle it runs from its sources, which need a Node that removes types.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { currentEntry } from './bundle-state.mjs';

const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));
/** Oldest Node that runs the sources. */
const TYPES_REMOVED_SINCE = 24;

/** Module of the command in the current bundle; null for none. */
function bundled() {
  const server = currentEntry(root);
  const entry = server === null ? null : join(dirname(server), 'lite.js');
  return entry !== null && existsSync(entry) ? entry : null;
}

/** Runs this script on the Node that the project installs. */
function runOnOwnNode() {
  const node = join(root, 'node_modules', '.bin', 'node');
  if (!existsSync(node)) {
    console.error(`Error: run \`npm ci\` in ${root} first, or use Node ${TYPES_REMOVED_SINCE} or newer.`);
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // Ctrl-C reaches the child through the terminal. The child decides when it ends.
  process.on('SIGINT', () => {});
  for (const name of ['SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

const entry = bundled();
if (entry === null && Number(process.versions.node.split('.')[0]) < TYPES_REMOVED_SINCE) runOnOwnNode();
else {
  const { main } = await import(pathToFileURL(entry ?? join(root, 'lite', 'main.ts')).href);
  await main(root);
}
