import { asBuffer, topLevelMembers, withMembers } from './members.ts';

/** Replaces the upstream's model name in answers by the name that the caller sent. */
export interface ModelRewriter {
  /** The JSON object with the caller's model name. Same bytes when there is nothing to change. */
  rename(json: Buffer): Buffer;
}

/**
 * Chunks of one answer have the same prefix, up to and including the model name. The prefix and its replacement are
 * therefore cached: later chunks with the same prefix need no search.
 */
export function createModelRewriter(model: string): ModelRewriter {
  const modelJson = Buffer.from(JSON.stringify(model));
  let knownPrefix: Buffer | null = null;
  let newPrefix: Buffer | null = null;
  return {
    rename(json) {
      if (knownPrefix === null || !startsWith(json, knownPrefix)) {
        const found = topLevelMembers(json)?.filter(({ key }) => key === 'model') ?? [];
        const [member] = found;
        if (member === undefined) return json;
        // With a repeated `model` key no prefix can be cached.
        if (found.length > 1) return asBuffer(withMembers(json, { model: modelJson.toString('utf8') }));
        knownPrefix = Buffer.from(json.subarray(0, member.end));
        newPrefix = modelJson.equals(json.subarray(member.valueStart, member.end))
          ? null
          : Buffer.concat([json.subarray(0, member.valueStart), modelJson]);
      }
      return newPrefix === null ? json : Buffer.concat([newPrefix, json.subarray(knownPrefix.length)]);
    },
  };
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length > prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
