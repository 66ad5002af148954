import { expect, it } from 'vitest';
import type { ByteSink, ByteStream } from '../../../src/domain/bytes.ts';
import { boundedBody, MAX_MESSAGE_BYTES } from '../../../src/runtime/mcp/bounded-body.ts';

const MIB = 1024 * 1024;

/** A body that repeats its chunks. */
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

/** Bytes of a stream of events of 1 MiB, each with its end after it. */
async function bytesOf(events: number, chunks: readonly string[]): Promise<number> {
  const [text = '', ...ends] = chunks;
  const all = [Buffer.from(text.padEnd(MIB, 'x')), ...ends.map((end) => Buffer.from(end))];
  const stream = boundedBody(new RepeatedChunks(all, events), { perEvent: true, lastBytes: null, ended: () => {} });
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

const EVENTS = MAX_MESSAGE_BYTES / MIB + 4;

it.each([
  ['in one chunk', ['data: ', '\n\n']],
  ['in two chunks', ['data: ', '\n', '\n']],
  ['in four chunks', ['data: ', '\r', '\n', '\r', '\n']],
])('the limit of an open stream is that of one event, also when its end is %s', async (_title, chunks) => {
  expect(await bytesOf(EVENTS, chunks)).toBeGreaterThan(MAX_MESSAGE_BYTES);
});

it('an event above the limit is refused', async () => {
  await expect(bytesOf(EVENTS, ['data: '])).rejects.toThrow('more than 16777216 bytes');
});
