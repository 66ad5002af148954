import type { SpanPayload } from './span.ts';
import { payloadOfText } from './span-rows.ts';

// The body of calls of our own, before it is compressed: a line for each, its trace id and behind that its payload.

const LINE_END = 0x0a;
const decoder = new TextDecoder();

/** Where the line with this number begins and ends; undefined when there are fewer. */
function lineAt(body: Uint8Array, at: number): readonly [start: number, end: number] | undefined {
  let start = 0;
  for (let line = 0; line < at; line += 1) {
    const end = body.indexOf(LINE_END, start);
    if (end === -1) return undefined;
    start = end + 1;
  }
  const end = body.indexOf(LINE_END, start);
  return [start, end === -1 ? body.length : end];
}

/** Where a payload begins: no id has a bracket in it. */
const PAYLOAD = '[';

/** The line of a call, `payload` as `payloadText` made it. */
export const lineOfCall = (traceId: string, payload: string): string => traceId + payload;

const payloadOfLine = (line: string): SpanPayload => payloadOfText(line.slice(line.indexOf(PAYLOAD)));

/** The payload of the call at this place; undefined when nothing is there. */
export function payloadOfCall(body: Uint8Array, at: number): SpanPayload | undefined {
  const [start = 0, end = 0] = lineAt(body, at) ?? [];
  return start === end ? undefined : payloadOfLine(decoder.decode(body.subarray(start, end)));
}

/** The payloads of all calls, by their places. */
export function payloadsOfCalls(body: Uint8Array): readonly SpanPayload[] {
  return decoder.decode(body).split('\n').map(payloadOfLine);
}

/** The body with nothing left of the calls of these traces. The others keep their places. */
export function blankCalls(body: Uint8Array, traceIds: readonly string[]): Uint8Array {
  const gone = new Set(traceIds);
  const lines = decoder.decode(body).split('\n');
  const left = lines.map((line) => (gone.has(line.slice(0, line.indexOf(PAYLOAD))) ? '' : line));
  return new TextEncoder().encode(left.join('\n'));
}
