import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-interval-settings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Settings of a file with this setting, or without it where `seconds` is null. */
function settingsOf(name: string, seconds: number | null): Settings {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `general_settings: { ${seconds === null ? '' : `${name}: ${seconds}`} }`);
  return readSettings(['--config', file], { LENSGATE_DATA_DIR: join(folder, 'data') }, keyGenerator);
}

const heartbeat = (seconds: number | null): number =>
  settingsOf('stream_heartbeat_seconds', seconds).streamHeartbeatSeconds;
const silence = (seconds: number | null): number =>
  settingsOf('upstream_silence_seconds', seconds).upstream.silenceSeconds;

it('a stream has a heartbeat after 15 seconds by default, or after the time in the file', () => {
  expect([null, 0, 0.5, 60].map(heartbeat)).toEqual([15, 0, 0.5, 60]);
});

it.each([-1, 86_401])('a heartbeat after %d seconds is refused', (seconds) => {
  expect(() => heartbeat(seconds)).toThrow('general_settings.stream_heartbeat_seconds');
});

it('an answer of an upstream may be idle for five minutes by default, or for the time in the file', () => {
  expect([null, 0.5, 60].map(silence)).toEqual([300, 0.5, 60]);
});

it.each([0, -1, 86_401])('an idle time of %d seconds is refused', (seconds) => {
  expect(() => silence(seconds)).toThrow('general_settings.upstream_silence_seconds');
});

it('batches are polled every 6,000 seconds by default, or at the interval in the file', () => {
  const seconds = (value: number | null) => settingsOf('proxy_batch_polling_interval', value).batchPollingSeconds;
  expect([null, 0, 60].map(seconds)).toEqual([6_000, 0, 60]);
  expect(() => seconds(-1)).toThrow('general_settings.proxy_batch_polling_interval');
});

it('counts of requests are committed every 10 seconds by default, or at the interval in the file', () => {
  const seconds = (value: number | null) => settingsOf('proxy_batch_write_at', value).activityWriteSeconds;
  expect([null, 0.5, 60].map(seconds)).toEqual([10, 0.5, 60]);
  for (const refused of [0, -1, 86_401])
    expect(() => seconds(refused)).toThrow('general_settings.proxy_batch_write_at');
});
