import type { AnswerStep } from '../domain/chat/answer-step.ts';
import type { ByteSink, ByteStream } from '../domain/bytes.ts';
import type { AnswerReader, AnswerWriter } from './dialect.ts';
import { parseJson } from './json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from './sse/events.ts';

/** Marks the end of a stream in some dialects; says nothing. */
const DONE = Buffer.from('[DONE]');

/** The steps of the events in a run of whole ones. */
export function stepsOfRun(run: Buffer, reader: AnswerReader): AnswerStep[] {
  const steps: AnswerStep[] = [];
  for (let start = 0; start < run.length;) {
    const end = endOfEvent(run, start);
    const event = run.subarray(start, end);
    const data = dataOf(event);
    if (data !== null && !data.equals(DONE)) steps.push(...reader.read(parseJson(data), nameOf(event)));
    start = end;
  }
  return steps;
}

/**
 * A streamed answer in the words of another dialect. Every event of the source is written on at once; a source that fails
 * fails this one, and the door words its last event.
 */
export function translatedStream(source: ByteStream, reader: AnswerReader, writer: AnswerWriter): ByteStream {
  const events = createEventBuffer();
  const written = (run: Buffer | null): string =>
    run === null
      ? ''
      : stepsOfRun(run, reader)
          .map((step) => writer.write(step))
          .join('');
  return {
    pipe(sink: ByteSink) {
      const emit = (text: string): boolean => (text === '' ? true : sink.chunk(Buffer.from(text)));
      source.pipe({
        chunk: (bytes) => emit(written(events.add(bytes))),
        done() {
          emit(`${written(events.rest())}${writer.end()}`);
          sink.done();
        },
        fail: (error) => sink.fail(error),
      });
    },
    resume: () => source.resume(),
    cancel: () => source.cancel(),
  };
}
