import { readdirSync, readFileSync } from 'node:fs';
import type { RawSpan } from '../../src/domain/traces/span.ts';
import { decodeExport } from '../../src/wire/otlp/decode.ts';

/**
 * Folder with recorded exports of instrumentation packages; `claude-code` is written by hand. The README in
 * `test/fixtures/record-spans` says how to record them.
 */
export const RECORDINGS = new URL('../fixtures/spans/', import.meta.url);

/** Names of the recordings, without extension. */
export const recordings: readonly string[] = readdirSync(RECORDINGS)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

/** Decoded spans of a recording. */
export const recordedSpans = (name: string): readonly RawSpan[] =>
  decodeExport(readFileSync(new URL(`${name}.json`, RECORDINGS)), 'application/json');
