import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keySmith } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-heartbeat-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The setting as a file gives it; as a file without it where null. */
function heartbeat(seconds: number | null): number {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `general_settings: { ${seconds === null ? '' : `stream_heartbeat_seconds: ${seconds}`} }`);
  return readSettings(['--config', file], { LENSGATE_DATA_DIR: join(folder, 'data') }, keySmith).streamHeartbeatSeconds;
}

it('a stream is sent a sign of life after 15 seconds, or as the file says', () => {
  expect([null, 0, 0.5, 60].map(heartbeat)).toEqual([15, 0, 0.5, 60]);
});

it.each([-1, 86_401])('%d seconds are refused', (seconds) => {
  expect(() => heartbeat(seconds)).toThrow('general_settings.stream_heartbeat_seconds');
});
