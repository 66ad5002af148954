import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Number of content blocks before the last marked one at which an earlier prompt may have ended. */
const LOOK_BACK = 20;

/**
 * Hashes of the start of a prompt, which ends at the last block with `cache_control`. The first hash is of the whole
 * start, and each later one is of one block less. Markers do not change a hash. Empty for a prompt without a marked
 * block. `digest` returns the hash of a text.
 */
export function promptPrefixes(body: JsonObject, digest: (text: string) => string): readonly string[] {
  const blocks = blocksOf(body);
  const end = blocks.findLastIndex(({ isMarked }) => isMarked);
  const hashes: string[] = [];
  let hash = '';
  for (const { text } of blocks.slice(0, end + 1)) {
    hash = digest(`${hash}\n${text}`);
    hashes.push(hash);
  }
  return hashes.slice(-LOOK_BACK - 1).toReversed();
}

/** A content block without its marker, with the role of its message. */
interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

function blocksOf({ system, messages }: JsonObject): readonly Block[] {
  const ofMessages = (Array.isArray(messages) ? messages : []).filter(isJsonObject);
  return [{ role: 'system', content: system ?? [] }, ...ofMessages].flatMap((message) => {
    const { role, content, cache_control: marker }: JsonObject = message;
    const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
    const blocks = parts.map((part) => blockOf(role, part));
    // A marker of a message belongs to its last block.
    const last = blocks.at(-1);
    return marker === undefined || last === undefined ? blocks : [...blocks.slice(0, -1), { ...last, isMarked: true }];
  });
}

function blockOf(role: unknown, part: unknown): Block {
  if (!isJsonObject(part)) return { text: JSON.stringify([role, part]), isMarked: false };
  const { cache_control: marker, ...unmarked } = part;
  return { text: JSON.stringify([role, unmarked]), isMarked: marker !== undefined && marker !== null };
}
