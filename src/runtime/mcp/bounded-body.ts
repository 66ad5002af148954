import type { ByteStream } from '../../domain/bytes.ts';
import { TooLarge } from '../../domain/errors.ts';

/** Maximum size of an answer, or of one event of a stream that stays open, in bytes. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Bytes that are buffered for a slow reader. */
const BUFFERED_BYTES = 64 * 1024;
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'];
/** Bytes of the longest end of an event, without the last one. */
const PARTIAL_END_BYTES = 3;

const tooLarge = (): TooLarge =>
  new TooLarge(`The answer of the MCP server has more than ${MAX_MESSAGE_BYTES} bytes.`, MAX_MESSAGE_BYTES);

interface BodyOptions {
  /** Whether the limit applies to each event, because the stream stays open. */
  readonly perEvent: boolean;
  /**
   * Returns bytes that are added at the end; null for none. With these bytes, the stream ends without an error.
   * `failure` is the error of the body, and null after a complete one.
   */
  readonly lastBytes: ((failure: Error | null) => Uint8Array) | null;
  /** Called once, when the body has ended, failed or was cancelled. */
  readonly ended: () => void;
}

/** A body as a web stream. It fails when it has more bytes than the limit. */
export function boundedBody(body: ByteStream, { perEvent, lastBytes, ended }: BodyOptions): ReadableStream<Uint8Array> {
  let size = 0;
  const endsEvent = createEndDetector();
  function end(controller: ReadableStreamDefaultController<Uint8Array>, failure: Error | null): void {
    if (lastBytes !== null) controller.enqueue(lastBytes(failure));
    if (failure === null || lastBytes !== null) controller.close();
    else controller.error(failure);
    ended();
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        body.pipe({
          chunk(bytes) {
            size += bytes.length;
            if (size > MAX_MESSAGE_BYTES) {
              body.cancel();
              end(controller, tooLarge());
              return false;
            }
            if (perEvent && endsEvent(bytes)) size = 0;
            controller.enqueue(bytes);
            return (controller.desiredSize ?? 0) > 0;
          },
          done: () => end(controller, null),
          fail: (error) => end(controller, error),
        });
      },
      pull: () => body.resume(),
      cancel() {
        body.cancel();
        ended();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
  );
}

/**
 * Creates a function for the chunks of one stream. It returns whether an event ends in a chunk; the end may begin in an
 * earlier chunk.
 */
function createEndDetector(): (bytes: Uint8Array) => boolean {
  let partialEnd: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const joined = Buffer.concat([partialEnd, bytes]);
    const hasEnd = EVENT_ENDS.some((end) => joined.includes(end));
    partialEnd = hasEnd ? Buffer.alloc(0) : joined.subarray(-PARTIAL_END_BYTES);
    return hasEnd;
  };
}
