import { asBuffer, topLevelMembers, withMembers } from './members.ts';

/** Puts the model name the caller asked for into answers, so that callers see the names they know. */
export interface ModelRewriter {
  /** The same bytes when they already say that name or name no model. */
  rename(json: Buffer): Buffer;
}

/**
 * Chunks of one answer begin alike, up to and with the model's name. So the place of the name is looked for
 * once, and for every later chunk that begins with the same bytes the new beginning is known.
 */
export function createModelRewriter(model: string): ModelRewriter {
  const wanted = Buffer.from(JSON.stringify(model));
  let knownHead: Buffer | null = null;
  let newHead: Buffer | null = null;
  return {
    rename(json) {
      if (knownHead === null || !startsWith(json, knownHead)) {
        const found = topLevelMembers(json)?.filter(({ key }) => key === 'model') ?? [];
        const [member] = found;
        if (member === undefined) return json;
        // A name that comes twice has no beginning to remember.
        if (found.length > 1) return asBuffer(withMembers(json, { model: wanted.toString('utf8') }));
        knownHead = Buffer.from(json.subarray(0, member.end));
        newHead = wanted.equals(json.subarray(member.valueStart, member.end))
          ? null
          : Buffer.concat([json.subarray(0, member.valueStart), wanted]);
      }
      return newHead === null ? json : Buffer.concat([newHead, json.subarray(knownHead.length)]);
    },
  };
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length > prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
