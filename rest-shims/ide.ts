import { askForIde } from '../resolvers/ide.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import type { RequestBody } from '../src/domain/inference/request-validation.ts';
import { CHAT_COMPLETIONS, RESPONSES } from '../src/domain/inference/endpoint.ts';
import type { AnswerContext } from '../src/wire/dialect.ts';
import { createIdeWriter, ideCompletion, ideFaultOf } from '../src/wire/ide/answer.ts';
import { readIdeRequest, withModel } from '../src/wire/ide/request.ts';
import { RESPONSES_OUT } from '../src/wire/responses/native.ts';
import { translatedStream } from '../src/wire/translate.ts';
import { callThrough, openAiFormat } from './helpers/model-call/model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { parseBody } from './helpers/http/json-body.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { readJson, reportedFailure, withAnswer } from './helpers/model-call/translated-answers.ts';

type GatewayCall = Awaited<ReturnType<typeof askForIde>>;

const CHAT = openAiFormat(CHAT_COMPLETIONS);
const RESPONSE = openAiFormat(RESPONSES);

/** Answers requests of an IDE with chat completions. The body is a chat completion request or a Responses request. */
function answer(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const body = parseBody(request.body);
  const ideRequest = readIdeRequest(body);
  const format = ideRequest.kind === 'chat' ? CHAT : RESPONSE;
  const read = (members: RequestBody): ModelRequest =>
    format.read({ ...request, params: {}, body: Buffer.from(JSON.stringify(members)) });
  return callThrough(
    {
      read: () => read(ideRequest.body),
      async call(callScope, { model }) {
        const call = await askForIde(callScope, {
          name: model,
          requestFor: (modelId) => read(withModel(ideRequest, modelId)),
        });
        return ideRequest.kind === 'chat' ? call : await asChatCompletion(call, includesUsage(body));
      },
      failureEvent: CHAT.failureEvent,
    },
    request,
    scope,
  );
}

const includesUsage = ({ stream_options: options }: RequestBody): boolean =>
  typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;

/** Converts an answer of the Responses API to a chat completion. */
async function asChatCompletion(call: GatewayCall, includeUsage: boolean): Promise<GatewayCall> {
  const { exchange, callId, modelGroup, answerModel = modelGroup } = call;
  const context: AnswerContext = {
    model: answerModel,
    fallbackId: callId,
    createdAt: Math.floor(Date.now() / 1000),
    includeUsage,
    body: {},
  };
  if (exchange.streaming) {
    return call.translated((bytes) =>
      translatedStream(bytes, RESPONSES_OUT.reader(), createIdeWriter(context), {
        failed: (failure) => reportedFailure(call, failure),
      }),
    );
  }
  const completion = await call.consume(async (stream) => {
    const response = await readJson(stream);
    const fault = ideFaultOf(response);
    if (fault !== null) throw reportedFailure(call, fault);
    return ideCompletion(response, context);
  });
  return withAnswer(call, completion);
}

/** Route of IDEs. They append `/chat/completions` to their base URL, also for bodies of the Responses API. */
export const ideRoutes: readonly RouteRow[] = [
  {
    name: 'ide.chat',
    method: 'POST',
    paths: ['/ide/chat/completions', '/cursor/chat/completions'],
    surface: 'proxy',
    relays: 'failures',
    credential: 'required',
    statuses: [200, 400, 401, 403, 422, 429, 500, 503],
    bodySchema: objectSchema(
      { model: { type: 'string' }, messages: { type: 'array' }, input: {}, stream: { type: ['boolean', 'null'] } },
      ['model'],
    ),
    bodyLimit: 'setting',
    hot: true,
    handle: answer,
  },
];
