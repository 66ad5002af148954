import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { count as readCount, object, parseJson } from '../wire/json/fields.ts';
import { malformedAnswer } from './failures.ts';
import { MAX_SHORT_ANSWER_BYTES, readBody, sendCall, type UpstreamCall } from './upstream-answer.ts';

/** Token counter of an upstream. Its calls are free. */
export interface TokenCounter {
  /** Endpoint that counts. Its dialect is the dialect of the requests. */
  readonly endpoint: Endpoint;
  /**
   * Members of a request that the endpoint accepts. Members that control the answer, such as a temperature, are not
   * among them.
   */
  readonly members: readonly string[];
  readonly count: NonNullable<Provider['countTokens']>;
}

/** Creates the function that requests a token count and reads it from the member `countMember` of the answer. */
export function createTokenCount(
  http: HttpClient,
  {
    prepare,
    errorOf,
    countMember,
  }: {
    readonly prepare: (deployment: Deployment, request: ModelRequest) => UpstreamCall | Promise<UpstreamCall>;
    readonly errorOf: NativeDialect['errorOf'];
    readonly countMember: string;
  },
): TokenCounter['count'] {
  return async (deployment, request, signal) => {
    const call = await prepare(deployment, request);
    const answer = await sendCall(http, deployment, call, { signal, errorOf, owner: request.owner });
    const bytes = await readBody(deployment, answer, MAX_SHORT_ANSWER_BYTES);
    const tokens = bytes === null ? null : readCount(object(parseJson(bytes))[countMember]);
    if (tokens === null) throw malformedAnswer(deployment, 'it has no token count');
    return tokens;
  };
}
