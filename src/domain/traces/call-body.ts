import { payloadOfText } from './span-rows.ts';
import type { SpanPayload } from './span.ts';

// Format of a stored body of gateway calls, before its compression. A body has the calls of one segment of the call
// log. Each call has a line: its trace id, then its payload as JSON. The place of a call is its line number among those
// of the calls, from 0. Bodies of earlier versions are read, but no longer written. They begin with pattern lines: `#`,
// the place of the first call of the pattern, and the attributes and resource attributes that its calls share. A
// payload of a pattern is `~[input, output, index, value, …]`, with the values that differ from the pattern. `index` is
// the index of an attribute in the pattern.

const LINE_END = 0x0a;
const HASH = 0x23;
const PATTERN = '#';
const BY_PATTERN = '~';
/** First character of a payload. No trace id contains it. */
const PAYLOAD = /[[~]/;
const decoder = new TextDecoder();

/** The line of a call with its line feed, which the last line of a body leaves out. `payload` is from `payloadText`. */
export const lineOfCall = (traceId: string, payload: string): string => `${traceId}${payload}\n`;

/** A payload of an earlier version: input, output, then pairs of an attribute's index in the pattern and its value. */
type Changes = readonly [input: string, output: string, ...changes: (number | string)[]];

interface Pattern extends Pick<SpanPayload, 'attributes' | 'resourceAttributes'> {
  /** Place of its first call. */
  readonly first: number;
}

function patternOfLine(line: string): Pattern {
  const jsonStart = line.indexOf('[');
  const [attributes, resourceAttributes] = JSON.parse(line.slice(jsonStart)) as readonly [
    Pattern['attributes'],
    Pattern['resourceAttributes'],
  ];
  return { first: Number(line.slice(PATTERN.length, jsonStart)), attributes, resourceAttributes };
}

function payloadOfLine(line: string, patternOfCall: () => Pattern | undefined): SpanPayload {
  const payloadStart = line.search(PAYLOAD);
  if (line[payloadStart] !== BY_PATTERN) return payloadOfText(line.slice(payloadStart));
  const pattern = patternOfCall();
  if (pattern === undefined) throw new Error('A payload in a body of calls has no pattern.');
  const [input, output, ...changes] = JSON.parse(line.slice(payloadStart + BY_PATTERN.length)) as Changes;
  const entries = Object.entries(pattern.attributes);
  for (let at = 0; at < changes.length; at += 2) {
    const index = Number(changes[at]);
    const [name] = entries[index] ?? [];
    if (name === undefined) throw new Error('A payload changes an attribute that its pattern does not have.');
    entries[index] = [name, String(changes[at + 1])];
  }
  const attributes = Object.fromEntries(entries);
  return { input, output, attributes, resourceAttributes: pattern.resourceAttributes, events: [], links: [] };
}

function endOfLine(body: Uint8Array, start: number): number {
  const end = body.indexOf(LINE_END, start);
  return end === -1 ? body.length : end;
}

const textOf = (body: Uint8Array, start: number): string =>
  decoder.decode(body.subarray(start, endOfLine(body, start)));

/**
 * The payload of a call by its place, from 0; undefined when the body has none there. Decodes no lines of other calls.
 */
export function payloadOfCall(body: Uint8Array, place: number): SpanPayload | undefined {
  let start = 0;
  const patterns: number[] = [];
  while (body[start] === HASH) {
    patterns.push(start);
    start = endOfLine(body, start) + 1;
  }
  for (let line = 0; line < place && start < body.length; line += 1) start = endOfLine(body, start) + 1;
  const line = start < body.length ? textOf(body, start) : '';
  if (line === '') return undefined;
  return payloadOfLine(line, () =>
    patternAt(
      patterns.map((patternStart) => patternOfLine(textOf(body, patternStart))),
      place,
    ),
  );
}

const patternAt = (patterns: readonly Pattern[], place: number): Pattern | undefined =>
  patterns.findLast(({ first }) => first <= place);

/** The payloads of all calls, in the order of their places. The body must have no lines that `blankCalls` emptied. */
export function payloadsOfCalls(body: Uint8Array): readonly SpanPayload[] {
  const [patternLines, calls] = linesOf(body);
  const patterns = patternLines.map(patternOfLine);
  return calls.map((line, place) => payloadOfLine(line, () => patternAt(patterns, place)));
}

/** The body with empty lines for the calls of these traces, so that the other calls keep their places. */
export function blankCalls(body: Uint8Array, traceIds: readonly string[]): Uint8Array {
  const removedIds = new Set(traceIds);
  const [patterns, calls] = linesOf(body);
  const blankedLines = calls.map((line) => (removedIds.has(line.slice(0, line.search(PAYLOAD))) ? '' : line));
  return new TextEncoder().encode([...patterns, ...blankedLines].join('\n'));
}

function linesOf(body: Uint8Array): readonly [patterns: readonly string[], calls: readonly string[]] {
  const lines = decoder.decode(body).split('\n');
  const firstCall = lines.findIndex((line) => !line.startsWith(PATTERN));
  return [lines.slice(0, firstCall), lines.slice(firstCall)];
}
