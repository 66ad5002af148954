import type { Provider } from '../../domain/chat/provider.ts';
import type { HttpClient } from '../../domain/http.ts';
import { errorOf } from '../../wire/messages/answer.ts';
import { count, object, parseJson } from '../../wire/json/fields.ts';
import { garbled } from '../failures.ts';
import { accepted, ERROR_LIMIT, readBody } from '../upstream-answer.ts';
import { anthropic } from './anthropic.ts';

/** Has the upstream count the tokens of a request, which it does for nothing. */
export function anthropicCount(http: HttpClient): NonNullable<Provider['countTokens']> {
  return async (deployment, request, signal) => {
    const call = await anthropic.prepare(deployment, request);
    const answer = await accepted(http, deployment, call, { signal, errorOf });
    const bytes = await readBody(deployment, answer, ERROR_LIMIT);
    const tokens = bytes === null ? null : count(object(parseJson(bytes))['input_tokens']);
    if (tokens === null) throw garbled(deployment, 'it is no count of tokens');
    return tokens;
  };
}
