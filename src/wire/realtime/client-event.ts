import { isJsonObject } from '../../domain/json-object.ts';
import { InvalidInput } from '../../domain/errors.ts';
import type { SocketMessage } from '../../domain/realtime/sockets.ts';
import { type Fields, parseJson } from '../json/fields.ts';
import { nestsTooDeep } from '../json/nesting.ts';
import { fieldsAt, type SessionNames, TRANSCRIPTION_PATHS, withMember } from './fields.ts';

/** Paths of the objects that can contain the model of the session. The empty path is the event itself. */
const MODEL_PATHS = [['session'], ['response'], []] as const;

/**
 * A caller's event for the upstream, with translated model names. Events that cannot have a key `model` are forwarded
 * unparsed: most of them are audio. Other events are serialized again, so that gateway and upstream read the same
 * names. Throws InvalidInput for a binary or invalid event and for another session model, and what `assertMayCall`
 * throws.
 */
export function translateClientEvent(
  message: SocketMessage,
  names: SessionNames,
  assertMayCall: (model: string) => void,
): SocketMessage {
  if (message.binary) throw new InvalidInput('/realtime: Events must be sent as text.');
  const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength);
  // The key `model` is written literally or with \u escapes.
  if (!bytes.includes('"model"') && !bytes.includes('\\u')) return message;
  const event = parse(bytes);
  let translated = event;
  for (const path of MODEL_PATHS) {
    const name = modelAt(event, path);
    if (name === null) continue;
    if (name !== names.publicName) {
      // A caller who may not call the other model gets the error about access, not the one below.
      assertMayCall(name);
      throw invalidModel(path, 'The model of a session cannot change. Open another session for another model.');
    }
    translated = withMember(translated, [...path, 'model'], names.upstreamName);
  }
  for (const path of TRANSCRIPTION_PATHS) {
    const name = modelAt(event, path);
    if (name === null) continue;
    if (name === names.publicName) translated = withMember(translated, [...path, 'model'], names.upstreamName);
    else assertMayCall(name);
  }
  return { bytes: Buffer.from(JSON.stringify(translated)), binary: false };
}

function parse(bytes: Buffer): Fields {
  if (nestsTooDeep(bytes)) throw new InvalidInput('/realtime: The event is nested too deeply.');
  const value = parseJson(bytes);
  if (isJsonObject(value)) return value;
  throw new InvalidInput('/realtime: The event is not a JSON object.');
}

function modelAt(event: Fields, path: readonly string[]): string | null {
  const name = fieldsAt(event, ...path)?.['model'] ?? null;
  if (name === null || typeof name === 'string') return name;
  throw invalidModel(path, 'The model must be a string.');
}

function invalidModel(path: readonly string[], message: string): InvalidInput {
  return new InvalidInput(`/realtime: ${message}`, [{ path: [...path, 'model'], rule: 'model', message }]);
}
