import type { SpanPayload } from './span.ts';
import { payloadOfText } from './span-rows.ts';

// The body of calls of our own, before it is compressed. First come patterns, a line for each, with the number of the first
// call that may follow it; then a line for each call: its trace id, and behind that its payload, whole or as what it has
// other than its pattern. Bodies of before there were patterns have none, and each payload whole.

/** What the payloads of calls have alike. */
export type PayloadPattern = Pick<SpanPayload, 'attributes' | 'resourceAttributes'>;

/** A payload by its pattern: input, output, and in turn the number of an attribute and its value. */
type Own = readonly [input: string, output: string, ...changes: (number | string)[]];

const LINE_END = 0x0a;
const HASH = 0x23;
const PATTERN = '#';
/** Where a payload begins, which one of them says: no id has such a character in it. */
const PAYLOAD = /[[~]/;
const BY_PATTERN = '~';
const decoder = new TextDecoder();

/** The line of a pattern, `text` as `patternText` made it, for the calls from this place on. */
export const lineOfPattern = (first: number, text: string): string => `${PATTERN}${first}${text}\n`;

export const patternText = ({ attributes, resourceAttributes }: PayloadPattern): string =>
  JSON.stringify([attributes, resourceAttributes]);

/** The line of a call, `payload` as `payloadText` made it, or `byPattern`. */
export const lineOfCall = (traceId: string, payload: string): string => `${traceId}${payload}\n`;

/** A payload as what it says of its own, `text` being the inside of a JSON list. */
export const byPattern = (text: string): string => `${BY_PATTERN}[${text}]`;

interface Placed {
  readonly first: number;
  readonly pattern: PayloadPattern;
}

function patternOfLine(line: string): Placed {
  const at = line.indexOf('[');
  const [attributes, resourceAttributes] = JSON.parse(line.slice(at)) as readonly [
    PayloadPattern['attributes'],
    PayloadPattern['resourceAttributes'],
  ];
  return { first: Number(line.slice(PATTERN.length, at)), pattern: { attributes, resourceAttributes } };
}

function payloadOfLine(line: string, patternHere: () => PayloadPattern | undefined): SpanPayload {
  const at = line.search(PAYLOAD);
  if (line[at] !== BY_PATTERN) return payloadOfText(line.slice(at));
  const pattern = patternHere();
  if (pattern === undefined) throw new Error('A body of calls has lost a pattern.');
  const [input, output, ...changes] = JSON.parse(line.slice(at + BY_PATTERN.length)) as Own;
  const entries = Object.entries(pattern.attributes);
  for (let change = 0; change < changes.length; change += 2) {
    const [name] = entries[Number(changes[change])] ?? [];
    if (name === undefined) throw new Error('A call has an attribute that its pattern has not.');
    entries[Number(changes[change])] = [name, String(changes[change + 1])];
  }
  const attributes = Object.fromEntries(entries);
  return { input, output, attributes, resourceAttributes: pattern.resourceAttributes, events: [], links: [] };
}

/** Where the line that begins here ends. */
function endOfLine(body: Uint8Array, start: number): number {
  const end = body.indexOf(LINE_END, start);
  return end === -1 ? body.length : end;
}

const textOf = (body: Uint8Array, start: number): string =>
  decoder.decode(body.subarray(start, endOfLine(body, start)));

/** The payload of the call at this place; undefined when nothing is there. */
export function payloadOfCall(body: Uint8Array, at: number): SpanPayload | undefined {
  let start = 0;
  const patterns: number[] = [];
  while (body[start] === HASH) {
    patterns.push(start);
    start = endOfLine(body, start) + 1;
  }
  for (let line = 0; line < at && start < body.length; line += 1) start = endOfLine(body, start) + 1;
  const line = start < body.length ? textOf(body, start) : '';
  if (line === '') return undefined;
  return payloadOfLine(line, () =>
    patternAt(
      patterns.map((place) => patternOfLine(textOf(body, place))),
      at,
    ),
  );
}

const patternAt = (patterns: readonly Placed[], at: number): PayloadPattern | undefined =>
  patterns.findLast(({ first }) => first <= at)?.pattern;

/** The payloads of all calls, by their places. */
export function payloadsOfCalls(body: Uint8Array): readonly SpanPayload[] {
  const [patterns, calls] = linesOf(body);
  const placed = patterns.map(patternOfLine);
  return calls.map((line, at) => payloadOfLine(line, () => patternAt(placed, at)));
}

/** The body with nothing left of the calls of these traces. The others keep their places. */
export function blankCalls(body: Uint8Array, traceIds: readonly string[]): Uint8Array {
  const gone = new Set(traceIds);
  const [patterns, calls] = linesOf(body);
  const left = calls.map((line) => (gone.has(line.slice(0, line.search(PAYLOAD))) ? '' : line));
  return new TextEncoder().encode([...patterns, ...left].join('\n'));
}

function linesOf(body: Uint8Array): readonly [patterns: readonly string[], calls: readonly string[]] {
  const lines = decoder.decode(body).split('\n');
  const first = lines.findIndex((line) => !line.startsWith(PATTERN));
  return [lines.slice(0, first), lines.slice(first)];
}
