/** Most tokens of all documents kept. A parsed token takes about 400 bytes, so this is about 25 MB. */
const MOST_TOKENS = 65_536;
/** A document of more tokens is parsed every time, so that one cannot evict all others. */
const MOST_TOKENS_EACH = MOST_TOKENS / 8;
/** What an entry weighs besides its text, in tokens. */
const ENTRY_TOKENS = 8;
/** Characters that weigh as much as a token. */
const TOKEN_CHARACTERS = 64;

const TOKEN = /\w+|[^\s\w,]/g;

/** The weight of what a text is parsed to, without parsing it. */
function weightOf(text: string): number {
  return ENTRY_TOKENS + (text.match(TOKEN)?.length ?? 0) + Math.ceil(text.length / TOKEN_CHARACTERS);
}

/** An LRU cache by document text, bounded by memory, not by number: callers choose how long a document is. */
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
      if (text.length > MOST_TOKENS_EACH * TOKEN_CHARACTERS || entries.has(text)) return;
      const weight = weightOf(text);
      if (weight > MOST_TOKENS_EACH) return;
      entries.set(text, { value, weight });
      total += weight;
      for (const [oldest, entry] of entries) {
        if (total <= MOST_TOKENS) return;
        entries.delete(oldest);
        total -= entry.weight;
      }
    },
  };
}
