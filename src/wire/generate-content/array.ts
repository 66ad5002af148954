import type { ByteStream } from '../../domain/bytes.ts';
import { createEventBuffer, dataOf, endOfEvent } from '../sse/events.ts';

/** An answer as one JSON array. */
interface ArrayStream {
  readonly stream: ByteStream;
  /** Text that ends the array early. `last` is the JSON text of its last element. */
  close(last: string): string;
}

/** Converts server-sent events to one JSON array, for Google clients that do not request `alt=sse`. */
export function arrayOfEvents(source: ByteStream): ArrayStream {
  const events = createEventBuffer();
  /** Text before the next element. */
  let separator = '[';
  /** Text of the elements that complete events become. */
  const elementsText = (completeEvents: Buffer | null): string => {
    if (completeEvents === null) return '';
    let text = '';
    let start = 0;
    while (start < completeEvents.length) {
      const end = endOfEvent(completeEvents, start);
      const data = dataOf(completeEvents.subarray(start, end));
      start = end;
      if (data === null) continue;
      text += `${separator}${data.toString('utf8')}`;
      separator = ',\r\n';
    }
    return text;
  };
  const stream: ByteStream = {
    pipe(sink) {
      source.pipe({
        chunk(bytes) {
          const text = elementsText(events.add(bytes));
          return text === '' ? true : sink.chunk(Buffer.from(text));
        },
        done() {
          const rest = elementsText(events.rest());
          const isEmpty = separator === '[';
          sink.chunk(Buffer.from(isEmpty ? '[]' : `${rest}]`));
          sink.done();
        },
        fail: (error) => sink.fail(error),
      });
    },
    resume: () => source.resume(),
    cancel: (failure) => source.cancel(failure),
  };
  return { stream, close: (last) => `${separator}${last}]` };
}
