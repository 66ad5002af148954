#!/usr/bin/env node
// Starts the command `lite`: `npx lite`, `npm run lite --`. The bundle in `dist/` needs Node 20 or newer. Without a
// current bundle, the command runs from its TypeScript sources, which need a newer Node.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { currentEntry } from './bundle-state.mjs';

const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));
/** Oldest major version of Node that runs TypeScript sources. */
const OLDEST_NODE_FOR_SOURCES = 24;

/** Path of the command in the current bundle; null for none. */
function bundledCommand() {
  const server = currentEntry(root);
  const entry = server === null ? null : join(dirname(server), 'lite.js');
  return entry !== null && existsSync(entry) ? entry : null;
}

/** Runs this script on the Node that the project installs. */
function runOnOwnNode() {
  const node = join(root, 'node_modules', '.bin', 'node');
  if (!existsSync(node)) {
    console.error(`Error: run \`npm ci\` in ${root} first, or use Node ${OLDEST_NODE_FOR_SOURCES} or newer.`);
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // The terminal sends Ctrl-C to the child, too. This process waits until the child has ended.
  process.on('SIGINT', () => {});
  for (const name of ['SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

const entry = bundledCommand();
if (entry === null && Number(process.versions.node.split('.')[0]) < OLDEST_NODE_FOR_SOURCES) runOnOwnNode();
else {
  const { main } = await import(pathToFileURL(entry ?? join(root, 'lite', 'main.ts')).href);
  await main(root);
}
