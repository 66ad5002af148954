import { isJsonObject } from '../../domain/json-object.ts';
import type { SocketMessage } from '../../domain/realtime/sockets.ts';
import { parseJson } from '../json/fields.ts';

/** Maximum bytes of a rejected event that is parsed for its id. */
const MAX_PARSED_BYTES = 1024 * 1024;
/** Maximum characters of an event id that an error repeats. */
const MAX_ID_CHARACTERS = 512;

/** An `error` event of the gateway. `rejected` is the caller's event that caused the error, or null. */
export function errorEvent(
  eventId: string,
  error: {
    readonly message: string;
    readonly type: string | null;
    readonly param: string | null;
    readonly code: string;
  },
  rejected: SocketMessage | null,
): SocketMessage {
  const { message, type, param, code } = error;
  const event = {
    type: 'error',
    event_id: eventId,
    error: {
      type: type ?? 'server_error',
      code,
      message,
      param,
      event_id: rejected === null ? null : eventIdOf(rejected),
    },
  };
  return { bytes: Buffer.from(JSON.stringify(event)), binary: false };
}

function eventIdOf({ bytes }: SocketMessage): string | null {
  if (bytes.length > MAX_PARSED_BYTES) return null;
  const event = parseJson(bytes);
  const id = isJsonObject(event) ? event['event_id'] : null;
  return typeof id === 'string' && id.length <= MAX_ID_CHARACTERS ? id : null;
}
