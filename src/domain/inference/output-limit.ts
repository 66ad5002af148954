import type { JsonObject } from '../json-object.ts';
import type { RequestBody } from './request-validation.ts';

/** Maximum number of answers that one request counts for. */
const MAX_ANSWERS = 128;

/**
 * Limit of the output tokens of one answer, by the members of OpenAI and Anthropic, then of Google; null without a
 * limit.
 */
export function maxOutputTokensOf(body: RequestBody): number | null {
  const config = configOf(body);
  const sent = body['max_completion_tokens'] ?? body['max_tokens'] ?? body['max_output_tokens'];
  const limit = sent ?? config['maxOutputTokens'] ?? config['max_output_tokens'];
  return typeof limit === 'number' && limit >= 0 && Number.isFinite(limit) ? Math.ceil(limit) : null;
}

/** Number of answers that a request asks for, from 1 to `MAX_ANSWERS`; default 1. */
export function answerCount(body: RequestBody): number {
  const { n, best_of: bestOf } = body;
  const candidates = configOf(body)['candidateCount'];
  if (n === undefined && bestOf === undefined && candidates === undefined) return 1;
  return Math.min(Math.max(1, countOf(n), countOf(bestOf), countOf(candidates)), MAX_ANSWERS);
}

/** A count in a member; 1 for anything else. Forms have numbers as text. */
function countOf(value: unknown): number {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) ? count : 1;
}

const NONE: JsonObject = {};

function configOf(body: RequestBody): JsonObject {
  const config = body['generationConfig'] ?? body['generation_config'];
  return typeof config === 'object' && config !== null ? { ...config } : NONE;
}
