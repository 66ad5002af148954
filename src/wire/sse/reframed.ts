import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import { HttpFailure } from '../../domain/http.ts';

/** Reads a stream of another framing, cut anywhere, and writes its messages as server-sent events. */
export interface Reframer {
  /** The events that this chunk completes; empty when it completes none. Throws RangeError for what breaks the framing. */
  add(chunk: Uint8Array): string;
  /** What is left when the stream has ended. Throws RangeError when it ended inside a message. */
  end(): string;
}

/** The same stream as server-sent events. One that breaks its framing fails, and is given up. */
export function reframed(body: ByteStream, reframer: Reframer): ByteStream {
  let over = false;
  const guarded = (sink: ByteSink, read: () => string): string | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      over = true;
      body.cancel();
      sink.fail(new HttpFailure('garbled', `The upstream's stream cannot be read: ${error.message}.`));
      return null;
    }
  };
  return {
    pipe(sink) {
      body.pipe({
        chunk(bytes) {
          if (over) return true;
          const events = guarded(sink, () => reframer.add(bytes));
          return events === null || events === '' ? true : sink.chunk(Buffer.from(events));
        },
        done() {
          if (over) return;
          const events = guarded(sink, () => reframer.end());
          if (events === null) return;
          if (events !== '') sink.chunk(Buffer.from(events));
          sink.done();
        },
        fail(error) {
          if (!over) sink.fail(error);
        },
      });
    },
    resume: () => body.resume(),
    cancel: () => body.cancel(),
  };
}

/** One event: its data on one line, with a name where it has one. */
export const eventText = (data: string, name: string | null = null): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`;
