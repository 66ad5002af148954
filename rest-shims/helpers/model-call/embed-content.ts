import { callModel } from '../../../resolvers/inference.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { EMBEDDINGS } from '../../../src/domain/inference/endpoint.ts';
import { embedAnswer, type EmbedMethod, readEmbedRequest } from '../../../src/wire/embed-content/embed-content.ts';
import { parseBody } from '../http/json-body.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';
import { callThrough, openAiFormat } from './model-call.ts';
import { readJson, withAnswer } from './translated-answers.ts';

const EMBED_METHODS: readonly string[] = ['embedContent', 'batchEmbedContents'] satisfies readonly EmbedMethod[];

/** Whether a method of Google's API returns embeddings. */
export const isEmbedMethod = (method: string): method is EmbedMethod => EMBED_METHODS.includes(method);

/** Serves Google's embedding methods by a call of `/embeddings`, for every provider of embeddings. */
export function embedContent(
  request: HttpRequest,
  scope: Scope,
  { model, method }: { readonly model: string; readonly method: EmbedMethod },
): Promise<HttpAnswer> {
  const format = openAiFormat(EMBEDDINGS);
  const { body, dropped } = readEmbedRequest(method, model, parseBody(request.body));
  return callThrough(
    {
      // Without `params`, the path does not replace the model of the body.
      read: () => format.read({ ...request, params: {}, body: Buffer.from(JSON.stringify(body)) }),
      async call(callScope, modelRequest) {
        const call = await callModel(callScope, modelRequest);
        const answer = await call.consume(async (stream) => embedAnswer(method, await readJson(stream)));
        const translated = withAnswer(call, answer);
        return dropped.length === 0 ? translated : translated.withDropped(dropped);
      },
      failureEvent: format.failureEvent,
    },
    request,
    scope,
  );
}
