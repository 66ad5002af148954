/** Capacity in tokens. A parsed token takes about 400 bytes, so this is about 25 MB. */
const MAX_TOKENS = 65_536;
/** Larger documents are not cached, so that one cannot evict all others. */
const MAX_DOCUMENT_TOKENS = MAX_TOKENS / 8;
/** Fixed weight of an entry in tokens. */
const ENTRY_TOKENS = 8;
/** Characters that weigh as much as a token. */
const TOKEN_CHARACTERS = 64;

const TOKEN = /\w+|[^\s\w,]/g;

/** Weight of a parsed document in tokens, estimated from its text. */
function weightOf(text: string): number {
  return ENTRY_TOKENS + (text.match(TOKEN)?.length ?? 0) + Math.ceil(text.length / TOKEN_CHARACTERS);
}

/**
 * An LRU cache by document text, bounded by memory instead of entries, because callers choose the length of a document.
 */
export function createDocumentCache<Value>() {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  let total = 0;
  return {
    get(text: string): Value | undefined {
      const entry = entries.get(text);
      if (entry === undefined) return undefined;
      entries.delete(text);
      entries.set(text, entry);
      return entry.value;
    },
    set(text: string, value: Value): void {
      if (text.length > MAX_DOCUMENT_TOKENS * TOKEN_CHARACTERS || entries.has(text)) return;
      const weight = weightOf(text);
      if (weight > MAX_DOCUMENT_TOKENS) return;
      entries.set(text, { value, weight });
      total += weight;
      for (const [oldest, entry] of entries) {
        if (total <= MAX_TOKENS) return;
        entries.delete(oldest);
        total -= entry.weight;
      }
    },
  };
}
