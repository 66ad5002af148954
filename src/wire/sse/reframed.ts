import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import { HttpFailure } from '../../domain/http.ts';

/** Reads a stream of another framing, cut anywhere, and writes its messages as server-sent events. */
export interface Reframer {
  /** Writes the events that this chunk completes. Throws RangeError for what breaks the framing, after what came before it. */
  add(chunk: Uint8Array, write: (event: string) => void): void;
  /** Writes what is left when the stream has ended. Throws RangeError when it ended inside a message. */
  end(write: (event: string) => void): void;
}

/** The same stream as server-sent events. One that breaks its framing fails, and is given up. */
export function reframed(body: ByteStream, reframer: Reframer): ByteStream {
  let over = false;
  /** Hands on what a step of the reframer writes; false when the sink asks to pause, null when the stream has failed. */
  function handOn(sink: ByteSink, step: (write: (event: string) => void) => void): boolean | null {
    const events: string[] = [];
    const fault = faultOf(() => step((event) => events.push(event)));
    const wantsMore = events.length === 0 || sink.chunk(Buffer.from(events.join('')));
    if (fault === null) return wantsMore;
    over = true;
    body.cancel();
    sink.fail(new HttpFailure('garbled', `The upstream's stream cannot be read: ${fault.message}.`));
    return null;
  }
  return {
    pipe(sink) {
      body.pipe({
        chunk: (bytes) => over || (handOn(sink, (write) => reframer.add(bytes, write)) ?? true),
        done() {
          if (!over && handOn(sink, (write) => reframer.end(write)) !== null) sink.done();
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

/** How a step breaks the framing; null when it does not. */
function faultOf(step: () => void): RangeError | null {
  try {
    step();
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

/** One event: its data on one line, with a name where it has one. */
export const eventText = (data: string, name: string | null = null): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`;
