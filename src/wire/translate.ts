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

type Failure = Extract<AnswerStep, { kind: 'failure' }>;

/** What else there is to know of a translation. */
interface Translation {
  /** What the answer's own words of failure mean. */
  readonly failed: (step: Failure) => Error;
}

/**
 * A streamed answer in the words of another dialect. Every event of the source is written on at once; a source that fails,
 * or says that its answer did, fails this one, and the door words its last event.
 */
export function translatedStream(
  source: ByteStream,
  reader: AnswerReader,
  writer: AnswerWriter,
  { failed }: Translation,
): ByteStream {
  const events = createEventBuffer();
  return {
    pipe(sink: ByteSink) {
      let over = false;
      /** Writes a run on; what comes after a failure is nobody's. */
      const write = (run: Buffer | null, end: () => string = () => ''): boolean => {
        const steps = run === null ? [] : stepsOfRun(run, reader);
        const failure = steps.find((step) => step.kind === 'failure');
        const text = `${steps.map((step) => writer.write(step)).join('')}${failure === undefined ? end() : ''}`;
        const goOn = text === '' ? true : sink.chunk(Buffer.from(text));
        if (failure === undefined) return goOn;
        over = true;
        source.cancel();
        sink.fail(failed(failure));
        return true;
      };
      source.pipe({
        chunk: (bytes) => over || write(events.add(bytes)),
        done() {
          if (!over) write(events.rest(), () => writer.end());
          if (!over) sink.done();
        },
        fail(error) {
          if (!over) sink.fail(error);
        },
      });
    },
    resume: () => source.resume(),
    cancel: () => source.cancel(),
  };
}
