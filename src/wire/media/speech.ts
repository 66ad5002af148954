import { isJsonObject } from '../../domain/json-object.ts';
import type { ByteStream } from '../../domain/bytes.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import { parseJson } from '../json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent } from '../sse/events.ts';
import { speechUsageOf } from './usage.ts';

/** Type of the event with the usage, the last one of a stream. Events with audio are not parsed. */
const DONE = 'speech.audio.done';
/** Bytes of an event that are searched for its type. */
const TYPE_SEARCH_BYTES = 200;

/** Speech as server-sent events (`stream_format: sse`), and the tokens that its last event reports. */
interface SpeechEvents {
  /** The same bytes. */
  readonly bytes: ByteStream;
  /** Null before the last event, and where it reports no tokens. */
  usage(): Usage | null;
}

/** Reads the usage of streamed speech. Forwards every byte unchanged. An event that is too long ends the reading. */
export function speechEvents(source: ByteStream): SpeechEvents {
  const events = createEventBuffer();
  let isReading = true;
  let usage: Usage | null = null;

  function read(complete: Buffer | null): void {
    let start = 0;
    while (complete !== null && start < complete.length) {
      const end = endOfEvent(complete, start);
      const event = complete.subarray(start, end);
      start = end;
      if (!event.subarray(0, TYPE_SEARCH_BYTES).includes(DONE)) continue;
      const data = dataOf(event);
      const value = data === null ? null : parseJson(data);
      if (isJsonObject(value) && value['type'] === DONE) usage = speechUsageOf(value['usage']);
    }
  }

  function observe(find: () => Buffer | null): void {
    if (!isReading) return;
    try {
      read(find());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      isReading = false;
    }
  }

  return {
    usage: () => usage,
    bytes: {
      pipe(sink) {
        source.pipe({
          chunk(bytes) {
            observe(() => events.add(bytes));
            return sink.chunk(bytes);
          },
          done() {
            observe(() => events.rest());
            sink.done();
          },
          fail: (error) => sink.fail(error),
        });
      },
      resume: () => source.resume(),
      cancel: () => source.cancel(),
    },
  };
}
