import type { HttpClient } from '../../domain/http.ts';
import { COUNT_TOKENS } from '../../domain/inference/endpoint.ts';
import { errorOf } from '../../wire/messages/answer.ts';
import { anthropic } from './anthropic.ts';
import { type Counting, countedBy } from '../counting.ts';

/** Anthropic's count of the tokens of a message. */
export const anthropicCount = (http: HttpClient): Counting => ({
  endpoint: COUNT_TOKENS,
  members: ['model', 'system', 'messages', 'tools', 'tool_choice'],
  count: countedBy(http, { prepare: anthropic.prepare, errorOf, member: 'input_tokens' }),
});
