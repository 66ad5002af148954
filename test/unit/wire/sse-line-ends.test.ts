import { describe, expect, it } from 'vitest';
import { createEventBuffer, dataOf, endOfEvent } from '../../../src/wire/sse/events.ts';

const DATA = ['{"a":"ü"}', '{"b":2}', '[DONE]'];

/** The data of each event of a stream in these chunks, and the number of events before the last chunk. */
function read(pieces: readonly Buffer[]): { readonly data: readonly string[]; readonly beforeLast: number } {
  const events = createEventBuffer();
  const data: string[] = [];
  let beforeLast = 0;
  const take = (run: Buffer | null): void => {
    for (let start = 0; run !== null && start < run.length;) {
      const end = endOfEvent(run, start);
      const found = dataOf(run.subarray(start, end));
      if (found !== null) data.push(found.toString());
      start = end;
    }
  };
  for (const piece of pieces) {
    beforeLast = data.length;
    take(events.add(piece));
  }
  take(events.rest());
  return { data, beforeLast };
}

describe.each([
  ['LF', '\n'],
  ['CR LF', '\r\n'],
  ['CR', '\r'],
])('events whose lines end in %s', (_name, end) => {
  it.each(['', '\ufeff'])('are the same for any chunk boundaries, after %j', (mark) => {
    const stream = Buffer.from(`${mark}${DATA.map((data) => `data: ${data}${end}: hi${end}${end}`).join('')}`);
    for (let first = 0; first <= stream.length; first += 1)
      for (let second = first; second <= stream.length; second += 1) {
        const pieces = [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)];
        expect(read(pieces).data).toEqual(DATA);
      }
    expect(read([...stream].map((byte) => Buffer.from([byte]))).data).toEqual(DATA);
  });

  it('are complete with the last byte of their blank line', () => {
    const events = DATA.map((data) => Buffer.from(`data: ${data}${end}${end}`));
    expect(read([...events, Buffer.from(':')])).toEqual({ data: DATA, beforeLast: DATA.length });
  });
});

it('a chunk that ends with a whole event is not copied', () => {
  const chunk = Buffer.from('data: 1\r\n\r\ndata: 2\n\n');
  expect(createEventBuffer().add(chunk)?.buffer).toBe(chunk.buffer);
});
