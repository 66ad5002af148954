import type { ResponseAnswer } from '../../../resolvers/responses.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { collect } from '../../../src/domain/bytes.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { isJsonObject } from '../../../src/domain/json-object.ts';
import { parseJson } from '../../../src/wire/json/fields.ts';
import { renamedResponse } from '../../../src/wire/responses/rename.ts';
import { type HttpAnswer, json } from '../http/route.ts';
import { headOf, ANSWER_LIMIT } from './model-call.ts';

/**
 * Answers with a response that the gateway stores, or relays the upstream's answer under public names and ids. `formOf` gives
 * another form to either; none when absent.
 */
export async function shownResponse(
  run: () => Promise<ResponseAnswer>,
  scope: Scope,
  formOf?: (response: unknown) => unknown,
): Promise<HttpAnswer> {
  const answered = await run();
  if (answered.kind === 'stored') return json(formOf === undefined ? answered.value : formOf(answered.value));
  const { call, idOf } = answered;
  return call.consume(async (stream) => {
    const bytes = (await collect(stream, ANSWER_LIMIT)) ?? new Uint8Array();
    const value = parseJson(bytes);
    const { provider } = call.deployment;
    if (!isJsonObject(value))
      throw new UpstreamFailed("The upstream's answer cannot be used: it is no JSON.", {
        provider,
        upstreamStatus: null,
      });
    // A wildcard group does not contain the model name of the call.
    const model = call.modelGroup.includes('*') ? String(value['model']) : call.modelGroup;
    const renamed = renamedResponse(bytes, value, { model, idOf });
    const body = formOf === undefined ? renamed : Buffer.from(JSON.stringify(formOf(parseJson(renamed))));
    return { head: headOf(call, scope), body: { kind: 'bytes', bytes: body, contentType: 'application/json' } };
  });
}

/** Paths of the Responses API. */
export const RESPONSE_PATHS = ['/v1/responses', '/responses', '/openai/v1/responses'] as const;
