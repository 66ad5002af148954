import { readdirSync, readFileSync } from 'node:fs';
import type { RawSpan } from '../../src/domain/traces/span.ts';
import { decodeExport } from '../../src/wire/otlp/decode.ts';

/** Exports of real instrumentation packages; see its README. */
export const RECORDINGS = new URL('../fixtures/spans/', import.meta.url);

/** Their names, without the extension. */
export const recordings: readonly string[] = readdirSync(RECORDINGS)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

/** The spans of one, as they come off the wire. */
export const recordedSpans = (name: string): readonly RawSpan[] =>
  decodeExport(readFileSync(new URL(`${name}.json`, RECORDINGS)), 'application/json');
