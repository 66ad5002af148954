import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Maximum number of blocks before the last marked block for which hashes are returned. */
const LOOK_BACK_BLOCKS = 20;

/**
 * Hashes of the starts of a prompt. The first hash covers the blocks up to the last block with `cache_control`, each
 * later hash one block less. So the hashes may include the first hash of an earlier prompt that this one continues. The
 * markers themselves do not change a hash. Empty for a prompt without a marked block.
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
  return hashes.slice(-LOOK_BACK_BLOCKS - 1).toReversed();
}

/** A content block of a message. */
interface Block {
  /** JSON of the role of the message, and of the block without its marker. */
  readonly text: string;
  readonly isMarked: boolean;
}

function blocksOf({ system, messages }: JsonObject): readonly Block[] {
  const otherMessages = (Array.isArray(messages) ? messages : []).filter(isJsonObject);
  return [{ role: 'system', content: system ?? [] }, ...otherMessages].flatMap((message) => {
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
