import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields } from '../json/fields.ts';

/** Object at a path of members. Undefined when there is none. */
export function fieldsAt(value: unknown, ...path: readonly string[]): Fields | undefined {
  let current = value;
  for (const member of path) {
    if (!isJsonObject(current)) return undefined;
    current = current[member];
  }
  return isJsonObject(current) ? current : undefined;
}

/** A copy of the object with one nested member set. The path must exist. */
export function withMember(fields: Fields, path: readonly string[], value: unknown): Fields {
  const [member, ...deeper] = path;
  if (member === undefined) return fields;
  const inner = fieldsAt(fields, member);
  return { ...fields, [member]: deeper.length === 0 || !inner ? value : withMember(inner, deeper, value) };
}

/** Paths of the transcription settings of a session: the current form and the older one. */
export const TRANSCRIPTION_PATHS = [
  ['session', 'audio', 'input', 'transcription'],
  ['session', 'input_audio_transcription'],
] as const;

/** Names of a deployment's model on both sides of a session. */
export interface SessionNames {
  /** Model name for the caller. */
  readonly publicName: string;
  /** Model name for the upstream. */
  readonly upstreamName: string;
}
