import {
  cancelResponse,
  createResponse,
  deleteResponse,
  getResponse,
  type NamedResponse,
} from '../resolvers/responses.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError, InvalidInput } from '../src/domain/errors.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import type { AnswerContext } from '../src/wire/dialect.ts';
import { createInteractionWriter, interactionFailure, interactionOf } from '../src/wire/interactions/answer.ts';
import { responseRequestOf } from '../src/wire/interactions/request.ts';
import { RESPONSES_OUT } from '../src/wire/responses/native.ts';
import { stepsOfResponse } from '../src/wire/responses/read-answer.ts';
import { translatedStream } from '../src/wire/translate.ts';
import { geminiError } from './helpers/http/dialect-errors.ts';
import { statusOf } from './errors.ts';
import { callContext, callThrough, type CallFormat, openAiFormat } from './helpers/model-call/model-call.ts';
import { answerWithResponse } from './helpers/model-call/stored-responses.ts';
import { parseBody } from './helpers/http/json-body.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './helpers/http/route.ts';
import { objectSchema, textParameters } from './helpers/http/schema.ts';
import { readJson, reportedFailure, withAnswer } from './helpers/model-call/translated-answers.ts';

type GatewayCall = Awaited<ReturnType<typeof createResponse>>;

const RESPONSE = openAiFormat(RESPONSES);

/** Interactions are translated: requests to Responses requests, and answers back to interactions. */
const FORMAT: CallFormat = {
  read(request): ModelRequest {
    const body = responseRequestOf(parseBody(request.body));
    return RESPONSE.read({ ...request, params: {}, body: Buffer.from(JSON.stringify(body)) });
  },
  call: async (scope, request) => asInteraction(await createResponse(scope, request)),
  failureEvent(failure) {
    const error = failure instanceof DomainError ? failure : null;
    const { message, status } = geminiError(statusOf('gemini', error), error);
    return Buffer.from(interactionFailure(message, status));
  },
};

async function asInteraction(call: GatewayCall): Promise<GatewayCall> {
  const { exchange, callId, modelGroup, answerModel = modelGroup } = call;
  if (exchange.streaming) {
    const createdAt = Math.floor(Date.now() / 1000);
    const context: AnswerContext = { model: answerModel, fallbackId: callId, createdAt, includeUsage: true, body: {} };
    return call.translated((bytes) =>
      translatedStream(bytes, RESPONSES_OUT.reader(), createInteractionWriter(context), {
        failed: (failure) => reportedFailure(call, failure),
      }),
    );
  }
  const interaction = await call.consume(async (stream) => {
    const response = await readJson(stream);
    const failure = stepsOfResponse(response).find((step) => step.kind === 'failure');
    if (failure !== undefined) throw reportedFailure(call, failure);
    return interactionOf(response, answerModel);
  });
  return withAnswer(call, interaction);
}

/** The stored response behind an interaction: both have the same id. Throws InvalidInput for a stream. */
function namedResponse(request: HttpRequest): NamedResponse {
  if (new URLSearchParams(request.search).get('stream') === 'true') {
    const message = '/interactions: A stored interaction is not streamed: leave out `stream`.';
    throw new InvalidInput(message, [{ path: ['query', 'stream'], rule: 'unsupported', message }]);
  }
  return { id: request.params['id'] ?? '', query: '', ...callContext(request) };
}

const answerStored = (run: typeof getResponse, request: HttpRequest, scope: Scope): Promise<HttpAnswer> =>
  answerWithResponse(
    async () => await run(scope, namedResponse(request)),
    scope,
    (response) => interactionOf(response, null),
  );

async function remove(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  await answerWithResponse(
    async () => await deleteResponse(scope, namedResponse(request)),
    scope,
    () => ({}),
  );
  return json({});
}

const PATHS = ['/v1beta/interactions', '/interactions'] as const;
const STORED_PATHS: RouteRow['paths'] = [`${PATHS[0]}/:id`, `${PATHS[1]}/:id`];

const FACTS = {
  surface: 'gemini',
  relays: 'failures',
  credential: 'required',
  keyParameter: 'key',
} as const;

/** Google's Interactions API, for models of every provider. */
export const interactionRoutes: readonly RouteRow[] = [
  {
    ...FACTS,
    name: 'interactions.create',
    method: 'POST',
    paths: PATHS,
    statuses: [200, 400, 401, 403, 422, 429, 500, 503],
    querySchema: textParameters('key'),
    bodySchema: objectSchema(
      {
        model: { type: 'string' },
        input: { type: ['string', 'array', 'object'] },
        stream: { type: ['boolean', 'null'] },
        system_instruction: { type: ['string', 'null'] },
        previous_interaction_id: { type: ['string', 'null'] },
        generation_config: { type: ['object', 'null'] },
        tools: { type: ['array', 'null'] },
      },
      ['model', 'input'],
    ),
    bodyLimit: 'setting',
    handle: (request, scope) => callThrough(FORMAT, request, scope),
  },
  {
    ...FACTS,
    name: 'interactions.get',
    method: 'GET',
    paths: STORED_PATHS,
    statuses: [200, 400, 401, 403, 404, 500, 503],
    querySchema: textParameters('key', 'stream'),
    bodyLimit: 0,
    handle: (request, scope) => answerStored(getResponse, request, scope),
  },
  {
    ...FACTS,
    name: 'interactions.delete',
    method: 'DELETE',
    paths: STORED_PATHS,
    statuses: [200, 400, 401, 403, 404, 500, 503],
    querySchema: textParameters('key'),
    bodyLimit: 0,
    handle: remove,
  },
  {
    ...FACTS,
    name: 'interactions.cancel',
    method: 'POST',
    paths: [`${PATHS[0]}/:id/cancel`, `${PATHS[1]}/:id/cancel`],
    statuses: [200, 400, 401, 403, 404, 500, 503],
    querySchema: textParameters('key'),
    bodyLimit: 1024 * 1024,
    handle: (request, scope) => answerStored(cancelResponse, request, scope),
  },
];
