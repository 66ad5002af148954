import { expect, it } from 'vitest';
import type { ByteSink, ByteStream } from '../../../src/domain/bytes.ts';
import { boundedBody, MAX_MESSAGE_BYTES } from '../../../src/runtime/mcp/bounded-body.ts';

const MIB = 1024 * 1024;

/** A body that repeats a list of chunks, and waits when its sink asks for it. */
class RepeatedChunks implements ByteStream {
  readonly #chunks: readonly Buffer[];
  #left: number;
  #sink: ByteSink | null = null;

  constructor(chunks: readonly Buffer[], times: number) {
    this.#chunks = chunks;
    this.#left = times * chunks.length;
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.resume();
  }

  resume(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#left > 0) {
      const chunk = this.#chunks.at(-this.#left % this.#chunks.length) ?? Buffer.alloc(0);
      this.#left -= 1;
      if (!sink.chunk(chunk)) return;
    }
    this.#sink = null;
    sink.done();
  }

  cancel(): void {
    this.#sink = null;
  }
}

/** Bytes that pass through `boundedBody`: events of 1 MiB, which begin with the first chunk and end with the others. */
async function bytesOf(events: number, chunks: readonly string[]): Promise<number> {
  const [text = '', ...ends] = chunks;
  const all = [Buffer.from(text.padEnd(MIB, 'x')), ...ends.map((end) => Buffer.from(end))];
  const stream = boundedBody(new RepeatedChunks(all, events), { perEvent: true, lastBytes: null, ended: () => {} });
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

/** Together, these events are longer than the limit. */
const EVENTS = MAX_MESSAGE_BYTES / MIB + 4;

it.each([
  ['in one chunk', ['data: ', '\n\n']],
  ['in two chunks', ['data: ', '\n', '\n']],
  ['in four chunks', ['data: ', '\r', '\n', '\r', '\n']],
])('the limit applies to each event of a stream, also when the end of an event is %s', async (_title, chunks) => {
  expect(await bytesOf(EVENTS, chunks)).toBeGreaterThan(MAX_MESSAGE_BYTES);
});

it('an event without an end above the limit is refused', async () => {
  await expect(bytesOf(EVENTS, ['data: '])).rejects.toThrow('more than 16777216 bytes');
});
