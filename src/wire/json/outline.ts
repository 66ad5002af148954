import { asBuffer, type Member, topLevelMembers } from './members.ts';

const OPEN_BRACKET = 0x5b;

/**
 * An answer without its bulk: every member parsed but the array named `bulk`, which is empty here. Vectors and pictures
 * are megabytes that nobody between the upstream and the caller reads. Undefined when the bytes are no JSON object.
 */
export function outlineOf(json: Uint8Array, bulk: string): unknown {
  const bytes = asBuffer(json);
  const members = topLevelMembers(bytes);
  if (members === null) return undefined;
  // What follows the last member closes the object, and is all that does.
  if (bytes.toString('latin1', members.at(-1)?.end ?? 0).replace(/\s/g, '') !== (members.length === 0 ? '{}' : '}'))
    return undefined;
  try {
    return Object.fromEntries(members.map((member) => [member.key, valueOf(bytes, member, bulk)]));
  } catch {
    return undefined;
  }
}

function valueOf(bytes: Buffer, { key, valueStart, end }: Member, bulk: string): unknown {
  if (key === bulk && bytes[valueStart] === OPEN_BRACKET) return [];
  return JSON.parse(bytes.toString('utf8', valueStart, end));
}
