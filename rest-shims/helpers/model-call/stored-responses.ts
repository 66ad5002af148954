import type { ResponseAnswer } from '../../../resolvers/responses.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { collect } from '../../../src/domain/bytes.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { isJsonObject } from '../../../src/domain/json-object.ts';
import { parseJson } from '../../../src/wire/json/fields.ts';
import { renamedResponse } from '../../../src/wire/responses/rename.ts';
import { type HttpAnswer, json } from '../http/route.ts';
import { callHeaders, MAX_ANSWER_BYTES } from './model-call.ts';

/**
 * Answers with a response that the gateway stores, or with the upstream's response under the public model name and ids.
 * `convert` changes the format of the response. Without it, the format stays unchanged.
 */
export async function answerWithResponse(
  run: () => Promise<ResponseAnswer>,
  scope: Scope,
  convert?: (response: unknown) => unknown,
): Promise<HttpAnswer> {
  const answer = await run();
  if (answer.kind === 'stored') return json(convert === undefined ? answer.value : convert(answer.value));
  const { call, idOf, received } = answer;
  return call.consume(async (stream) => {
    const { provider } = call.deployment;
    const bytes = await collect(stream, MAX_ANSWER_BYTES);
    if (bytes === null) throw unusableAnswer(provider, `it has more than ${MAX_ANSWER_BYTES} bytes`);
    const value = parseJson(bytes);
    if (!isJsonObject(value)) throw unusableAnswer(provider, 'it is not JSON');
    received(value);
    // The name of a wildcard group is not the name of a model.
    const model = call.modelGroup.includes('*') ? String(value['model']) : call.modelGroup;
    const renamed = renamedResponse(bytes, value, { model, idOf });
    const body = convert === undefined ? renamed : Buffer.from(JSON.stringify(convert(parseJson(renamed))));
    return {
      headerLines: callHeaders(call, scope),
      body: { kind: 'bytes', bytes: body, contentType: 'application/json' },
    };
  });
}

const unusableAnswer = (provider: string, fault: string): UpstreamFailed =>
  new UpstreamFailed(`The upstream's answer cannot be used: ${fault}.`, { provider, upstreamStatus: null });

/** Paths of the Responses API. */
export const RESPONSE_PATHS = ['/v1/responses', '/responses', '/openai/v1/responses'] as const;
