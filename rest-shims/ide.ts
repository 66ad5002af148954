import { askForIde } from '../resolvers/ide.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { bytesOf, collect } from '../src/domain/bytes.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { displayName } from '../src/domain/chat/provider.ts';
import { UpstreamFailed } from '../src/domain/errors.ts';
import type { RequestBody } from '../src/domain/inference/request-validation.ts';
import { CHAT_COMPLETIONS, RESPONSES } from '../src/domain/inference/endpoint.ts';
import type { AnswerContext } from '../src/wire/dialect.ts';
import { createIdeWriter, ideCompletion, ideFaultOf } from '../src/wire/ide/answer.ts';
import { readIdeRequest, withModel } from '../src/wire/ide/request.ts';
import { parseJson } from '../src/wire/json/fields.ts';
import { RESPONSES_OUT } from '../src/wire/responses/outbound.ts';
import { translatedStream } from '../src/wire/translate.ts';
import { callThrough, openAiFormat } from './model-call/model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './http/route.ts';
import { parseBody } from './http/json-body.ts';
import { objectSchema } from './http/schema.ts';

type Fault = NonNullable<ReturnType<typeof ideFaultOf>>;
/** Most bytes of a complete answer. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

type GatewayCall = Awaited<ReturnType<typeof askForIde>>;

const CHAT = openAiFormat(CHAT_COMPLETIONS);
const RESPONSE = openAiFormat(RESPONSES);

/** Answers requests of an IDE as chat completions. The request may have the form of a chat or of a response. */
function answer(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const sent = parseBody(request.body);
  const asked = readIdeRequest(sent);
  const inner = asked.kind === 'chat' ? CHAT : RESPONSE;
  const read = (body: RequestBody): ModelRequest =>
    inner.read({ ...request, params: {}, body: Buffer.from(JSON.stringify(body)) });
  return callThrough(
    {
      read: () => read(asked.body),
      async call(within, { model }) {
        const call = await askForIde(within, { name: model, requestFor: (modelId) => read(withModel(asked, modelId)) });
        return asked.kind === 'chat' ? call : await inChatWords(call, includesUsage(sent));
      },
      failureEvent: CHAT.failureEvent,
    },
    request,
    scope,
  );
}

const includesUsage = ({ stream_options: options }: RequestBody): boolean =>
  typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;

/** Converts a response to a chat completion. */
async function inChatWords(call: GatewayCall, includeUsage: boolean): Promise<GatewayCall> {
  const { exchange, callId, modelGroup } = call;
  const about: AnswerContext = {
    model: modelGroup,
    fallbackId: callId,
    createdAt: Math.floor(Date.now() / 1000),
    includeUsage,
    body: {},
  };
  if (exchange.streaming) {
    return call.translated((bytes) =>
      translatedStream(bytes, RESPONSES_OUT.reader(), createIdeWriter(about), {
        failed: (failure) => failed(call, failure),
      }),
    );
  }
  const completion = await call.consume(async (stream) => {
    const response = parseJson((await collect(stream, ANSWER_LIMIT)) ?? new Uint8Array());
    const fault = ideFaultOf(response);
    if (fault !== null) throw failed(call, fault);
    return ideCompletion(response, about);
  });
  return call.translated(() => bytesOf(Buffer.from(JSON.stringify(completion))));
}

/** Failure that an answer reports. */
function failed({ deployment: { provider } }: GatewayCall, { message, code }: Fault): UpstreamFailed {
  return new UpstreamFailed(`litellm.APIError: APIError: ${displayName(provider)}Exception - ${message}`, {
    provider,
    upstreamStatus: null,
    upstreamCode: code,
  });
}

/** Route of IDEs. They append `/chat/completions` to their base URL, also for bodies of the Responses API. */
export const ideRoutes: readonly RouteRow[] = [
  {
    name: 'ide.chat',
    method: 'POST',
    paths: ['/ide/chat/completions', '/cursor/chat/completions'],
    surface: 'proxy',
    category: 'llm',
    relays: 'failures',
    credential: 'required',
    answers: [200, 400, 401, 403, 422, 429, 500, 503],
    request: objectSchema(
      { model: { type: 'string' }, messages: { type: 'array' }, input: {}, stream: { type: ['boolean', 'null'] } },
      ['model'],
    ),
    bodyLimit: 'setting',
    hot: true,
    handle: answer,
  },
];
