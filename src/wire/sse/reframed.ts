import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import { HttpFailure } from '../../domain/http.ts';

/** Converts a stream with another framing to server-sent events. Chunks may have any size. */
export interface Reframer {
  /**
   * Writes the events that this chunk completes. At a framing error it first writes the events before the
   * error, then throws RangeError.
   */
  add(chunk: Uint8Array, write: (event: string) => void): void;
  /** Writes the remaining events at the end of the stream. Throws RangeError when it ends inside a message. */
  end(write: (event: string) => void): void;
}

/** The stream as server-sent events. At a framing error it cancels the source and fails with HttpFailure. */
export function reframedStream(body: ByteStream, reframer: Reframer): ByteStream {
  let ended = false;
  /** Sends the events of one step to the sink. False when the sink asks to pause, null when the stream has failed. */
  function deliver(sink: ByteSink, step: (write: (event: string) => void) => void): boolean | null {
    const events: string[] = [];
    const fault = faultOf(() => step((event) => events.push(event)));
    const wantsMore = events.length === 0 || sink.chunk(Buffer.from(events.join('')));
    if (fault === null) return wantsMore;
    ended = true;
    body.cancel();
    sink.fail(new HttpFailure('garbled', `The upstream's stream cannot be read: ${fault.message}.`));
    return null;
  }
  return {
    pipe(sink) {
      body.pipe({
        chunk: (bytes) => ended || (deliver(sink, (write) => reframer.add(bytes, write)) ?? true),
        done() {
          if (!ended && deliver(sink, (write) => reframer.end(write)) !== null) sink.done();
        },
        fail(error) {
          if (!ended) sink.fail(error);
        },
      });
    },
    resume: () => body.resume(),
    cancel: () => body.cancel(),
  };
}

/** Framing error of a step. Null when there is none. */
function faultOf(step: () => void): RangeError | null {
  try {
    step();
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

/** One event. `data` must be one line. */
export const eventText = (data: string, name: string | null = null): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`;
