import type { AnswerStep } from '../domain/chat/answer-step.ts';
import type { ByteSink, ByteStream } from '../domain/bytes.ts';
import type { AnswerReader, AnswerWriter } from './dialect.ts';
import { parseJson } from './json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from './sse/events.ts';

/** End marker of streams in some dialects. It contains no step. */
const DONE = Buffer.from('[DONE]');

/** Steps of complete events. */
export function stepsOfEvents(completeEvents: Buffer, reader: AnswerReader): readonly AnswerStep[] {
  const steps: AnswerStep[] = [];
  let start = 0;
  while (start < completeEvents.length) {
    const end = endOfEvent(completeEvents, start);
    const event = completeEvents.subarray(start, end);
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
       * Translates complete events. Ignores everything after a failure step, which cancels the source and fails the
       * sink. `isLast` also writes the end of the answer.
       */
      const write = (completeEvents: Buffer | null, isLast: boolean): boolean => {
        const steps = completeEvents === null ? [] : stepsOfEvents(completeEvents, reader);
        const failure = steps.find((step) => step.kind === 'failure');
        const stepsBefore = failure === undefined ? steps : steps.slice(0, steps.indexOf(failure));
        let text = stepsBefore.map((step) => writer.write(step)).join('');
        if (isLast && failure === undefined) text += writer.end();
        const wantsMore = text === '' ? true : sink.chunk(Buffer.from(text));
        if (failure === undefined) return wantsMore;
        ended = true;
        source.cancel();
        sink.fail(failed(failure));
        return true;
      };
      source.pipe({
        chunk: (bytes) => ended || write(events.add(bytes), false),
        done() {
          if (!ended) write(events.rest(), true);
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
