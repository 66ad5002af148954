import type { ModelRequest, Usage } from '../chat/chat.ts';
import { maxOutputTokensOf, answerCount } from './output-limit.ts';

/** Assumed bytes of text per token. `token-estimate.ts` assumes fewer, because its estimates must not be too low. */
const BYTES_PER_TOKEN = 4;
/** Estimated tokens of an image or a file that a prompt contains as a data URL. */
const MEDIUM_TOKENS = 1_000;
/**
 * A body above this size, in bytes, is estimated by its size: its prompt is parsed only when a reader needs it (ADR
 * 0037).
 */
const PARSED_BYTES = 65_536;
/** Maximum of the expected output tokens of a call that does not limit them. */
const DEFAULT_OUTPUT_TOKENS = 1_024;
/** Members of a message that are not its text. */
const NO_TEXT = new Set(['role', 'type', 'id', 'name', 'detail']);

/** Estimated tokens of a prompt or an answer: texts by their size, data URLs with a fixed count. */
export function promptTokens(value: unknown): number {
  if (typeof value === 'string') return value.startsWith('data:') ? MEDIUM_TOKENS : textTokens(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + promptTokens(item), 0);
  // A prompt may be a list of tokens.
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, inner]) => (NO_TEXT.has(name) ? sum : sum + promptTokens(inner)), 0);
}

/** Tokens of a text by its size. */
export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

const textTokens = (text: string): number => tokensOfBytes(Buffer.byteLength(text));

/** Output tokens that are expected of a call whose request does not limit them. */
interface OutputDefaults {
  /** Expectation that the caller's key or its team states for the model; null without one. */
  readonly stated: number | null;
  /** The smallest limit of tokens per minute that the call is counted against. */
  readonly smallestLimit: number;
}

/** Estimated tokens of a prompt. */
export const inputTokens = ({
  endpoint,
  body,
  bytes,
}: Pick<ModelRequest, 'body' | 'bytes'> & { readonly endpoint: Pick<ModelRequest['endpoint'], 'input'> }): number =>
  bytes.length > PARSED_BYTES
    ? tokensOfBytes(bytes.length)
    : promptTokens(body[endpoint.input.member]) + promptTokens(body['system']);

/**
 * Usage of a call that the client aborted. `pieces` are the estimated tokens of its answer so far. A reported usage is
 * raised to at least `pieces` output tokens. Without a report, the result is the estimate of the prompt and `pieces`
 * output tokens; null for an endpoint without a dialect.
 */
export function usageOfAbortedCall(
  request: Pick<ModelRequest, 'endpoint' | 'body' | 'bytes'>,
  { pieces, reported }: { readonly pieces: number; readonly reported: Usage | null },
): Usage | null {
  const { dialect, medium, billedBy } = request.endpoint;
  if (reported !== null) return pieces > reported.outputTokens ? { ...reported, outputTokens: pieces } : reported;
  if (dialect === null || medium !== undefined || billedBy !== undefined) return null;
  return {
    inputTokens: inputTokens(request),
    outputTokens: pieces,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
}

/**
 * Usage of a complete answer that reports none: the estimate of the prompt, and `pieces` output tokens (0 for
 * embeddings). Null for all other endpoints without a dialect.
 */
export function estimatedUsageOf(
  request: Pick<ModelRequest, 'endpoint' | 'body' | 'bytes'>,
  pieces: number,
): Usage | null {
  if (request.endpoint.operation !== 'embeddings') return usageOfAbortedCall(request, { pieces, reported: null });
  return {
    inputTokens: inputTokens(request),
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
}

/**
 * Tokens that a call is expected to use: the estimate of its prompt, and the output limit or default for each answer.
 * Endpoints without a dialect have no output tokens.
 */
export function expectedTokens(
  { endpoint, body, bytes }: Pick<ModelRequest, 'endpoint' | 'body' | 'bytes'>,
  { stated, smallestLimit }: OutputDefaults,
): number {
  const input = inputTokens({ endpoint, body, bytes });
  if (endpoint.dialect === null) return input;
  // At most a quarter of the limit, so that the default alone does not use up the limit.
  const defaultOutput = stated ?? Math.min(DEFAULT_OUTPUT_TOKENS, Math.max(1, Math.floor(smallestLimit / 4)));
  return input + (maxOutputTokensOf(body) ?? defaultOutput) * answerCount(body);
}
