import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { count, object, parseJson } from '../wire/json/fields.ts';
import { garbled } from './failures.ts';
import { accepted, ERROR_LIMIT, readBody, type UpstreamCall } from './upstream-answer.ts';

/** How an upstream counts the tokens of a request, which it does for nothing. */
export interface Counting {
  /** The endpoint at which it counts, in the dialect it counts in. */
  readonly endpoint: Endpoint;
  /** Members of a request that it counts; those that say how to answer are not taken there. */
  readonly members: readonly string[];
  readonly count: NonNullable<Provider['countTokens']>;
}

/** Asks for a count, which stands in a member of the answer. */
export function countedBy(
  http: HttpClient,
  {
    prepare,
    errorOf,
    member,
  }: {
    readonly prepare: (deployment: Deployment, request: ModelRequest) => UpstreamCall | Promise<UpstreamCall>;
    readonly errorOf: NativeDialect['errorOf'];
    readonly member: string;
  },
): Counting['count'] {
  return async (deployment, request, signal) => {
    const call = await prepare(deployment, request);
    const answer = await accepted(http, deployment, call, { signal, errorOf, owner: request.owner });
    const bytes = await readBody(deployment, answer, ERROR_LIMIT);
    const tokens = bytes === null ? null : count(object(parseJson(bytes))[member]);
    if (tokens === null) throw garbled(deployment, 'it is no count of tokens');
    return tokens;
  };
}
