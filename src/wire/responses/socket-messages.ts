import type { ByteStream } from '../../domain/bytes.ts';
import { isObject, parseJson, text } from '../json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from '../sse/events.ts';

/** A streamed response as the messages of a WebSocket. */
export interface SocketMessages extends ByteStream {
  /** The number of the event that comes next. */
  nextNumber(): number;
}

/** How a stream becomes messages. */
interface MessagesOf {
  /** The lane that every event names; null for the one without a name. */
  readonly streamId: string | null;
  /** Told of the response that an answer ended with, before its client is. */
  readonly ended: (response: Readonly<Record<string, unknown>>, status: 'said' | 'failed') => void;
}

const OPEN_BRACE = 0x7b;
/** Bytes of the smallest object that names a type: less is no event, and could not be given a lane. */
const SMALLEST = 11;
const NUMBER = '"sequence_number":';
/** Events after which an answer says no more, and whether it said what it had to. */
const LAST: Readonly<Record<string, 'said' | 'failed'>> = {
  'response.completed': 'said',
  'response.incomplete': 'said',
  'response.failed': 'failed',
};
/** Every event that is looked into has one of these names in it. */
const LAST_NAMES = Object.keys(LAST).map((name) => Buffer.from(name));

/** The same events, one in a chunk, without the framing of server-sent events. */
export function socketMessages(source: ByteStream, { streamId, ended }: MessagesOf): SocketMessages {
  const events = createEventBuffer(Number.POSITIVE_INFINITY);
  let last: Buffer = Buffer.alloc(0);

  /** The messages of whole events, handed on; false when the sink asked to pause. */
  function handOn(run: Buffer, take: (message: Buffer) => boolean): boolean {
    let goOn = true;
    for (let start = 0; start < run.length;) {
      const end = endOfEvent(run, start);
      const event = run.subarray(start, end);
      start = end;
      const data = dataOf(event);
      // Comments, and the `[DONE]` that some upstreams end with, have no place in a message.
      if (data === null || data[0] !== OPEN_BRACE || data.length < SMALLEST) continue;
      if (LAST_NAMES.some((name) => event.includes(name))) lookInto(event, data);
      last = data;
      goOn = take(inLane(data, streamId));
    }
    return goOn;
  }

  function lookInto(event: Buffer, data: Buffer): void {
    const value = parseJson(data);
    if (!isObject(value)) return;
    const status = LAST[text(value['type']) ?? nameOf(event) ?? ''];
    if (status !== undefined && isObject(value['response'])) ended(value['response'], status);
  }

  return {
    pipe(sink) {
      source.pipe({
        chunk(bytes) {
          const run = events.add(bytes);
          return run === null || handOn(run, (message) => sink.chunk(message));
        },
        done() {
          const rest = events.rest();
          if (rest !== null) handOn(rest, (message) => sink.chunk(message));
          sink.done();
        },
        fail: (error) => sink.fail(error),
      });
    },
    resume: () => source.resume(),
    cancel: () => source.cancel(),
    nextNumber() {
      const at = last.lastIndexOf(NUMBER);
      const number = at === -1 ? Number.NaN : Number.parseInt(last.toString('latin1', at + NUMBER.length), 10);
      return Number.isNaN(number) ? 0 : number + 1;
    },
  };
}

/** An event that says which lane it is of; its own bytes stay as they are. */
function inLane(data: Buffer, streamId: string | null): Buffer {
  if (streamId === null) return data;
  return Buffer.concat([Buffer.from(`{"stream_id":${JSON.stringify(streamId)},`), data.subarray(1)]);
}
