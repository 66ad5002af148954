import { type Fields, isObject } from '../json/fields.ts';

/** The object at a path of members; undefined when there is none. */
export function fieldsAt(value: unknown, ...path: readonly string[]): Fields | undefined {
  let at = value;
  for (const member of path) {
    if (!isObject(at)) return undefined;
    at = at[member];
  }
  return isObject(at) ? at : undefined;
}

/** The same object with one member deep inside it changed. The path must be there. */
export function withMember(fields: Fields, path: readonly string[], value: unknown): Fields {
  const [member, ...deeper] = path;
  if (member === undefined) return fields;
  const inner = fieldsAt(fields, member);
  return { ...fields, [member]: deeper.length === 0 || !inner ? value : withMember(inner, deeper, value) };
}

/** Where a session names the model that writes down what is said, in the present form and in the older one. */
export const TRANSCRIPTIONS = [
  ['session', 'audio', 'input', 'transcription'],
  ['session', 'input_audio_transcription'],
] as const;

/** What a deployment's model is called on each side. */
export interface SessionNames {
  /** What the caller asked for, and is shown. */
  readonly shown: string;
  /** What the upstream calls it. */
  readonly sent: string;
}
