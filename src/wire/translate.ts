import type { AnswerStep } from '../domain/chat/answer-step.ts';
import type { ByteSink, ByteStream } from '../domain/bytes.ts';
import type { AnswerReader, AnswerWriter } from './dialect.ts';
import { parseJson } from './json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from './sse/events.ts';

/** End marker of streams in some dialects. It contains no step. */
const DONE = Buffer.from('[DONE]');

/** Steps of a run of complete events. */
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

/** Settings of a translation. */
interface Translation {
  /** Creates the error for a failure that the answer reports. */
  readonly failed: (step: Failure) => Error;
}

/**
 * A streamed answer, translated to another dialect. Each event is written as soon as it arrives. The stream fails when
 * the source fails or reports a failure. The transport then writes the error event.
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
      let ended = false;
      /**
       * Translates a run of events. A failure step cancels the source and fails the sink. Later steps and runs are
       * ignored.
       */
      const write = (run: Buffer | null, end: () => string = () => ''): boolean => {
        const steps = run === null ? [] : stepsOfRun(run, reader);
        const failure = steps.find((step) => step.kind === 'failure');
        if (failure !== undefined) steps.length = steps.indexOf(failure);
        const text = `${steps.map((step) => writer.write(step)).join('')}${failure === undefined ? end() : ''}`;
        const wantsMore = text === '' ? true : sink.chunk(Buffer.from(text));
        if (failure === undefined) return wantsMore;
        ended = true;
        source.cancel();
        sink.fail(failed(failure));
        return true;
      };
      source.pipe({
        chunk: (bytes) => ended || write(events.add(bytes)),
        done() {
          if (!ended) write(events.rest(), () => writer.end());
          if (!ended) sink.done();
        },
        fail(error) {
          if (!ended) sink.fail(error);
        },
      });
    },
    resume: () => source.resume(),
    cancel: (failure) => source.cancel(failure),
  };
}
