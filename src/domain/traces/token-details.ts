import { isJsonObject } from '../json-object.ts';
import { textAt } from './attribute-text.ts';
import { tokenCount, tokensIn } from './conventions/convention.ts';
import { parseStructure } from './conventions/conversation.ts';
import { CONVENTIONS } from './conventions/precedence.ts';
import type { Attributes } from './span.ts';

/** Parts of the token counts of a span; null where unknown. */
export interface TokenDetails {
  /** Input tokens read from a cache. */
  readonly cacheRead: number | null;
  /** Input tokens written to a cache. */
  readonly cacheWrite: number | null;
  /** Reasoning tokens of the output. */
  readonly reasoning: number | null;
}

// No two conventions share a key, so the convention of a span need not be known.
const CACHE_READ = CONVENTIONS.flatMap((convention) => convention.cacheReadTokenKeys);
const CACHE_WRITE = CONVENTIONS.flatMap((convention) => convention.cacheWriteTokenKeys);
const REASONING = CONVENTIONS.flatMap((convention) => convention.reasoningTokenKeys);

/** Attribute of LangSmith with LangChain's usage of a call, as JSON. */
const LANGCHAIN_USAGE = 'langsmith.metadata.usage_metadata';

/** Keys of all attributes that have a part of a token count. */
export const TOKEN_DETAIL_KEYS: readonly string[] = [...CACHE_READ, ...CACHE_WRITE, ...REASONING, LANGCHAIN_USAGE];

/** Details of a span without these attributes. */
export const NO_TOKEN_DETAILS: TokenDetails = { cacheRead: null, cacheWrite: null, reasoning: null };

/** Parts of the token counts in a span's attributes, received or stored. */
export function tokenDetailsOf(attributes: Attributes): TokenDetails {
  const usage = parseStructure(textAt(attributes, LANGCHAIN_USAGE));
  const input = isJsonObject(usage) ? usage['input_token_details'] : null;
  const output = isJsonObject(usage) ? usage['output_token_details'] : null;
  return {
    cacheRead: tokenCount(attributes, CACHE_READ) ?? countIn(input, 'cache_read'),
    cacheWrite: tokenCount(attributes, CACHE_WRITE) ?? countIn(input, 'cache_creation'),
    reasoning: tokenCount(attributes, REASONING) ?? countIn(output, 'reasoning'),
  };
}

/** Cache writes with a lifetime of an hour; null where unknown. Only LangChain reports them. */
export function longCacheWriteOf(attributes: Attributes): number | null {
  const usage = parseStructure(textAt(attributes, LANGCHAIN_USAGE));
  return countIn(isJsonObject(usage) ? usage['input_token_details'] : null, 'ephemeral_1h_input_tokens');
}

function countIn(details: unknown, name: string): number | null {
  const count = isJsonObject(details) ? details[name] : null;
  return typeof count === 'number' ? tokensIn(count) : null;
}
