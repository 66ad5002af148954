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
  let separator = '[';
  /** Text of the elements that a run of complete events becomes. */
  const arrayText = (run: Buffer | null): string => {
    let text = '';
    for (let start = 0; run !== null && start < run.length;) {
      const end = endOfEvent(run, start);
      const data = dataOf(run.subarray(start, end));
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
          const text = arrayText(events.add(bytes));
          return text === '' ? true : sink.chunk(Buffer.from(text));
        },
        done() {
          const rest = arrayText(events.rest());
          // `arrayText` replaces the separator at the first element.
          sink.chunk(Buffer.from(separator === '[' ? '[]' : `${rest}]`));
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
