import { textAt } from './attribute-text.ts';
import { tokenCount, tokensIn } from './conventions/convention.ts';
import { isJson, parseStructure } from './conventions/conversation.ts';
import { CONVENTIONS } from './conventions/precedence.ts';
import type { Attributes } from './span.ts';

/** Parts of a span's token counts; null where it does not tell them. */
export interface TokenDetails {
  /** Of the input, what a cache had. */
  readonly cacheRead: number | null;
  /** Of the input, what a cache took in. */
  readonly cacheWrite: number | null;
  /** Of the output, what was only thought. */
  readonly reasoning: number | null;
}

// No two conventions share a key, so what a span speaks need not be known.
const CACHE_READ = CONVENTIONS.flatMap((convention) => convention.cacheReadTokenKeys);
const CACHE_WRITE = CONVENTIONS.flatMap((convention) => convention.cacheWriteTokenKeys);
const REASONING = CONVENTIONS.flatMap((convention) => convention.reasoningTokenKeys);

/** Where LangSmith keeps what LangChain knows of a call's usage, as JSON. */
const LANGCHAIN_USAGE = 'langsmith.metadata.usage_metadata';

/** Every attribute that tells such a part. */
export const TOKEN_DETAIL_KEYS: readonly string[] = [...CACHE_READ, ...CACHE_WRITE, ...REASONING, LANGCHAIN_USAGE];

/** What a span tells that has none of them. */
export const NO_TOKEN_DETAILS: TokenDetails = { cacheRead: null, cacheWrite: null, reasoning: null };

/** Parts of the token counts in a span's attributes, received or stored. */
export function tokenDetailsOf(attributes: Attributes): TokenDetails {
  const usage = parseStructure(textAt(attributes, LANGCHAIN_USAGE));
  const input = isJson(usage) ? usage['input_token_details'] : null;
  const output = isJson(usage) ? usage['output_token_details'] : null;
  return {
    cacheRead: tokenCount(attributes, CACHE_READ) ?? countIn(input, 'cache_read'),
    cacheWrite: tokenCount(attributes, CACHE_WRITE) ?? countIn(input, 'cache_creation'),
    reasoning: tokenCount(attributes, REASONING) ?? countIn(output, 'reasoning'),
  };
}

/** Of what a cache took in, what it keeps for an hour; null where a span does not tell. Only LangChain does. */
export function longCacheWriteOf(attributes: Attributes): number | null {
  const usage = parseStructure(textAt(attributes, LANGCHAIN_USAGE));
  return countIn(isJson(usage) ? usage['input_token_details'] : null, 'ephemeral_1h_input_tokens');
}

function countIn(details: unknown, name: string): number | null {
  const count = isJson(details) ? details[name] : null;
  return typeof count === 'number' ? tokensIn(count) : null;
}
