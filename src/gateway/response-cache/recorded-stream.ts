import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import { GatheredBytes } from '../../domain/gathered-bytes.ts';

/**
 * A stream with the chunks of `source`. After the reader has received a complete stream of 1 to `limit` bytes, calls
 * `complete` with all bytes. Does not call it for a stream that fails or is cancelled.
 */
export const recordedStream = (
  source: ByteStream,
  limit: number,
  complete: (body: Uint8Array) => void,
): ByteStream => ({
  pipe: (sink) => source.pipe(new Recorder(sink, limit, complete)),
  resume: () => source.resume(),
  cancel: (failure) => source.cancel(failure),
});

class Recorder implements ByteSink {
  readonly #sink: ByteSink;
  readonly #limit: number;
  readonly #complete: (body: Uint8Array) => void;
  /** Null when the stream is too long or has failed. */
  #gathered: GatheredBytes | null = new GatheredBytes();

  constructor(sink: ByteSink, limit: number, complete: (body: Uint8Array) => void) {
    this.#sink = sink;
    this.#limit = limit;
    this.#complete = complete;
  }

  chunk(bytes: Uint8Array): boolean {
    const gathered = this.#gathered;
    if (gathered !== null) {
      if (gathered.size + bytes.length > this.#limit) this.#gathered = null;
      else gathered.add(bytes);
    }
    return this.#sink.chunk(bytes);
  }

  done(): void {
    const body = this.#gathered?.take();
    this.#sink.done();
    if (body !== undefined && body.length > 0) this.#complete(body);
  }

  fail(error: Error): void {
    this.#gathered = null;
    this.#sink.fail(error);
  }
}
