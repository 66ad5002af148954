import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import type { ByteStream } from '../../domain/bytes.ts';
import { OPEN_BRACE } from '../json/bytes.ts';
import { parseJson, text, lookupTable } from '../json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from '../sse/events.ts';

/** A streamed response as WebSocket messages. Each chunk is one message. */
export interface SocketMessages extends ByteStream {
  /** `sequence_number` of the next event. 0 before the first event, and when the last event has no number. */
  nextNumber(): number;
}

/** Settings of the conversion. */
interface SocketMessageOptions {
  /** Value of `stream_id` in every event. Null sends events without `stream_id`. */
  readonly streamId: string | null;
  /** Called with the final response, before its last event is sent. */
  readonly ended: (response: JsonObject, status: 'completed' | 'failed') => void;
}

/** Bytes of the smallest object with a type, `{"type":""}`. Smaller data is not an event. */
const MIN_EVENT_BYTES = 11;
const SEQUENCE_NUMBER = '"sequence_number":';
/** Types of the last event, with the status that `ended` gets. */
const FINAL_STATUSES = lookupTable<'completed' | 'failed'>({
  'response.completed': 'completed',
  'response.incomplete': 'completed',
  'response.failed': 'failed',
});
/** Only events that contain one of these names are parsed. */
const FINAL_TYPES = Object.keys(FINAL_STATUSES).map((name) => Buffer.from(name));

/** Converts server-sent events to messages, one per chunk, without the SSE framing. Events have no size limit. */
export function socketMessages(source: ByteStream, { streamId, ended }: SocketMessageOptions): SocketMessages {
  const events = createEventBuffer(Number.POSITIVE_INFINITY);
  /** Data of the most recently sent event. */
  let lastData: Buffer = Buffer.alloc(0);

  /** Sends complete events as messages. False when the sink asks to pause. */
  function deliver(completeEvents: Buffer, send: (message: Buffer) => boolean): boolean {
    let wantsMore = true;
    let start = 0;
    while (start < completeEvents.length) {
      const end = endOfEvent(completeEvents, start);
      const event = completeEvents.subarray(start, end);
      start = end;
      const data = dataOf(event);
      // Comments, and the `[DONE]` marker of some upstreams, are not messages.
      if (data === null || data[0] !== OPEN_BRACE || data.length < MIN_EVENT_BYTES) continue;
      if (FINAL_TYPES.some((name) => event.includes(name))) reportEnd(event, data);
      lastData = data;
      wantsMore = send(withStreamId(data, streamId));
    }
    return wantsMore;
  }

  function reportEnd(event: Buffer, data: Buffer): void {
    const value = parseJson(data);
    if (!isJsonObject(value)) return;
    const status = FINAL_STATUSES[text(value['type']) ?? nameOf(event) ?? ''];
    if (status !== undefined && isJsonObject(value['response'])) ended(value['response'], status);
  }

  return {
    pipe(sink) {
      source.pipe({
        chunk(bytes) {
          const completeEvents = events.add(bytes);
          return completeEvents === null || deliver(completeEvents, (message) => sink.chunk(message));
        },
        done() {
          const rest = events.rest();
          if (rest !== null) deliver(rest, (message) => sink.chunk(message));
          sink.done();
        },
        fail: (error) => sink.fail(error),
      });
    },
    resume: () => source.resume(),
    cancel: (failure) => source.cancel(failure),
    nextNumber() {
      const nameStart = lastData.lastIndexOf(SEQUENCE_NUMBER);
      if (nameStart === -1) return 0;
      const number = Number.parseInt(lastData.toString('latin1', nameStart + SEQUENCE_NUMBER.length), 10);
      return Number.isNaN(number) ? 0 : number + 1;
    },
  };
}

/** Event data with `stream_id` as its first member. Unchanged when `streamId` is null. */
function withStreamId(data: Buffer, streamId: string | null): Buffer {
  if (streamId === null) return data;
  return Buffer.concat([Buffer.from(`{"stream_id":${JSON.stringify(streamId)},`), data.subarray(1)]);
}
