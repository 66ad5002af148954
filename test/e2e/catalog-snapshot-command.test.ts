import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EMBEDDED_FOLDER } from '../../src/runtime/catalog/snapshot.ts';
import { mapOf } from '../support/price-map-upstream.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/catalog-snapshot.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'lensgate-snapshot-'));

beforeAll(() => {
  writeFileSync(join(folder, 'cut.json'), JSON.stringify(mapOf(3_000)).slice(0, -100));
  writeFileSync(join(folder, 'few.json'), JSON.stringify(mapOf(49)));
  // An empty ZIP archive: only its end record, which has 22 bytes.
  writeFileSync(join(folder, 'other.whl'), 'PK\u0005\u0006' + '\0'.repeat(18));
});
afterAll(() => rmSync(folder, { recursive: true }));

const snapshot = () => readFileSync(new URL('snapshot.json.br', EMBEDDED_FOLDER));

it.each([
  ['no argument', [], 'Say where the price map is: --from <url|file>.'],
  [
    'a missing file',
    ['--from', 'none.json'],
    "none.json cannot be read: ENOENT: no such file or directory, open 'none.json'.",
  ],
  ['a blocked port', ['--from', 'http://127.0.0.1:1/map'], 'http://127.0.0.1:1/map cannot be read: bad port.'],
  ['a map cut short', ['--from', 'cut.json'], 'cut.json is not valid JSON. It may be truncated.'],
  ['too few models', ['--from', 'few.json'], 'few.json: the price map has 49 models, fewer than 50.'],
  ['another archive', ['--from', 'other.whl'], 'other.whl has no litellm/model_prices_and_context_window_backup.json.'],
])(
  'given %s, the command fails with the reason and leaves the built-in catalog unchanged',
  async (_what, args, message) => {
    const before = snapshot();
    const { code, errors } = await new Promise<{ code: unknown; errors: string }>((resolve) => {
      execFile(process.execPath, [SCRIPT, ...args], { cwd: folder }, (error, _out, stderr) =>
        resolve({ code: error?.code, errors: stderr }),
      );
    });
    expect({ code, errors }).toEqual({ code: 1, errors: `No snapshot was made: ${message}\n` });
    expect(snapshot().equals(before)).toBe(true);
  },
);
