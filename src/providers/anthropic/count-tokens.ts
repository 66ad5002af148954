import type { HttpClient } from '../../domain/http.ts';
import { COUNT_TOKENS } from '../../domain/inference/endpoint.ts';
import { errorOf } from '../../wire/messages/answer.ts';
import { anthropic } from './anthropic.ts';
import { createTokenCount, type TokenCounter } from '../counting.ts';

/** Token counter of Anthropic's messages API. */
export const anthropicCount = (http: HttpClient): TokenCounter => ({
  endpoint: COUNT_TOKENS,
  members: ['model', 'system', 'messages', 'tools', 'tool_choice'],
  count: createTokenCount(http, { prepare: anthropic.prepare, errorOf, member: 'input_tokens' }),
});
