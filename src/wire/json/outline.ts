import { asBuffer, type Member, topLevelMembers } from './members.ts';

const OPEN_BRACKET = 0x5b;

/**
 * Parsed JSON object whose array member `bulk` is replaced by an empty array. Vectors and images are megabytes that the
 * gateway does not read. Undefined when the bytes are not a JSON object. The content of `bulk` is not validated.
 */
export function outlineOf(json: Uint8Array, bulk: string): unknown {
  const bytes = asBuffer(json);
  const members = topLevelMembers(bytes);
  if (members === null) return undefined;
  // Only the closing brace may follow the last member.
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
