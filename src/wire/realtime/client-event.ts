import { InvalidInput } from '../../domain/errors.ts';
import type { SocketMessage } from '../../domain/realtime/sockets.ts';
import { type Fields, isObject, parseJson } from '../json/fields.ts';
import { nestsTooDeep } from '../json/nesting.ts';
import { fieldsAt, type SessionNames, TRANSCRIPTIONS, withMember } from './fields.ts';

/** Where an event can name the model that answers. */
const ANSWERING = [['session'], ['response'], []] as const;

/**
 * A caller's event as it goes upstream: model names translated, and none that the caller may not use. Events that name
 * no model go on as they are, unread: most of them are sound. One that does is written anew, so that what we read is
 * what the upstream reads. Throws InvalidInput, and what `assertMayCall` throws.
 */
export function forUpstream(
  message: SocketMessage,
  names: SessionNames,
  assertMayCall: (model: string) => void,
): SocketMessage {
  if (message.binary) throw new InvalidInput('/realtime: Events must be sent as text.');
  const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength);
  // A member's name is written with its letters, or with escapes that begin so.
  if (!bytes.includes('"model"') && !bytes.includes('\\u')) return message;
  const event = parse(bytes);
  let translated = event;
  for (const path of ANSWERING) {
    const named = modelAt(event, path);
    if (named === null) continue;
    if (named !== names.shown) {
      assertMayCall(named);
      throw fault(path, 'A session keeps the model it was opened with. Open another one for another model.');
    }
    translated = withMember(translated, [...path, 'model'], names.sent);
  }
  for (const path of TRANSCRIPTIONS) {
    const named = modelAt(event, path);
    if (named === null) continue;
    if (named === names.shown) translated = withMember(translated, [...path, 'model'], names.sent);
    else assertMayCall(named);
  }
  return { bytes: Buffer.from(JSON.stringify(translated)), binary: false };
}

function parse(bytes: Buffer): Fields {
  if (nestsTooDeep(bytes)) throw new InvalidInput('/realtime: The event nests too deep.');
  const value = parseJson(bytes);
  if (isObject(value)) return value;
  throw new InvalidInput('/realtime: The event is not a JSON object.');
}

function modelAt(event: Fields, path: readonly string[]): string | null {
  const named = fieldsAt(event, ...path)?.['model'] ?? null;
  if (named === null || typeof named === 'string') return named;
  throw fault(path, 'A model is named by a string.');
}

function fault(path: readonly string[], message: string): InvalidInput {
  return new InvalidInput(`/realtime: ${message}`, [{ path: [...path, 'model'], rule: 'model', message }]);
}
