import { isJsonObject } from '../../domain/json-object.ts';
import { parseJson, text } from '../json/fields.ts';
import { eventText, type Reframer } from '../sse/reframed.ts';
import { createMessageReader, type Message } from './messages.ts';

/**
 * Converts AWS event streams to server-sent events. A message of type `event` becomes an event with its name and JSON
 * payload. Any other message becomes an event `exception` with the data `{exception, message}`.
 */
export function createMessageReframer(): Reframer {
  const messages = createMessageReader();
  return {
    add: (chunk, write) => messages.add(chunk, (message) => write(eventOf(message))),
    end() {
      if (messages.bufferedBytes > 0) throw new RangeError('it ended inside a message');
    },
  };
}

function eventOf({ headers, payload }: Message): string {
  switch (headers[':message-type'] ?? '') {
    case 'event':
      return eventText(oneLine(payload), headers[':event-type'] ?? null);
    case 'exception':
      return exceptionText(headers[':exception-type'] ?? 'exception', messageOf(payload));
    default:
      return exceptionText(headers[':error-code'] ?? 'error', headers[':error-message'] ?? '');
  }
}

/** JSON on one line. Line breaks in JSON are only whitespace between tokens. */
const oneLine = (json: Buffer): string => json.toString('utf8').replace(/[\r\n]+/g, ' ');

const exceptionText = (exception: string, message: string): string =>
  eventText(JSON.stringify({ exception, message }), 'exception');

function messageOf(payload: Buffer): string {
  const value = parseJson(payload);
  return (isJsonObject(value) ? (text(value['message']) ?? text(value['Message'])) : null) ?? payload.toString('utf8');
}
