import { countTokens } from '../resolvers/inference.ts';
import { getRequestPreview, listSupportedParams } from '../resolvers/requests.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { assertValidRequest, type RequestBody } from '../src/domain/inference/request-validation.ts';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  COUNT_CHAT_TOKENS,
  COUNT_CONTENT_TOKENS,
  EMBEDDINGS,
  type Endpoint,
  RESPONSES,
} from '../src/domain/inference/endpoint.ts';
import { parseJson } from '../src/wire/json/fields.ts';
import { fields, object, oneOf, requiredText } from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { parseBody } from './helpers/http/json-body.ts';
import { countSource } from './helpers/model-call/count-source.ts';
import { callContext } from './helpers/model-call/model-call.ts';
import { merged, objectSchema, requiredParameters } from './helpers/http/schema.ts';

/** Endpoint by `call_type`. The prefix `a` names an asynchronous function of the reference, with the same endpoint. */
const CALL_TYPES = {
  completion: CHAT_COMPLETIONS,
  acompletion: CHAT_COMPLETIONS,
  text_completion: COMPLETIONS,
  atext_completion: COMPLETIONS,
  embedding: EMBEDDINGS,
  aembedding: EMBEDDINGS,
  responses: RESPONSES,
  aresponses: RESPONSES,
} as const satisfies Readonly<Record<string, Endpoint>>;

type CallType = keyof typeof CALL_TYPES;

const readTransform = fields<{ call_type: CallType | null; request_body: RequestBody }>({
  call_type: oneOf(Object.keys(CALL_TYPES) as CallType[]),
  request_body: object,
});

const readModel = fields<{ model: string }>({ model: requiredText });

function createRequest(endpoint: Endpoint, body: RequestBody, request: HttpRequest): ModelRequest {
  const bytes = Buffer.from(JSON.stringify(body));
  const call = { endpoint, model: String(body['model']), stream: body['stream'] === true, bytes, body };
  return { ...call, includeUsage: false, ...callContext(request) };
}

/** The request whose tokens are counted. Throws InvalidInput. */
function readCount(request: HttpRequest): ModelRequest {
  const { model } = readModel(request.body);
  const { messages, prompt, contents, system, tools } = parseBody(request.body);
  const optionalMembers = { ...(tools === undefined ? {} : { tools }), ...(system === undefined ? {} : { system }) };
  if (Array.isArray(messages))
    return createRequest(COUNT_CHAT_TOKENS, { model, messages, ...optionalMembers }, request);
  if (Array.isArray(contents))
    return createRequest(COUNT_CONTENT_TOKENS, { model, contents, ...optionalMembers }, request);
  if (typeof prompt !== 'string') throw new InvalidInput('prompt or messages or contents must be provided');
  return createRequest(COUNT_CHAT_TOKENS, { model, messages: [{ role: 'user', content: prompt }] }, request);
}

/** Common facts of the rows. The rows generate no answer, so they are not counted as activity. */
const ROW = { surface: 'catalog', credential: 'required' } as const satisfies Partial<RouteRow>;

/** Token counts, supported parameters and previews of model requests. */
export const requestRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    name: 'requests.countTokens',
    bodySchema: merged(
      readModel,
      objectSchema({
        messages: { type: 'array' },
        contents: { type: 'array' },
        prompt: { type: 'string' },
        system: {},
        tools: { type: 'array' },
      }),
    ),
    method: 'POST',
    paths: ['/utils/token_counter'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: 'setting',
    parse: readCount,
    run: async (scope, request: ModelRequest) => ({ ...(await countTokens(scope, request)), model: request.model }),
    render: ({ tokens, by, model }) =>
      json({
        total_tokens: tokens,
        request_model: model,
        model_used: model,
        tokenizer_type: by === 'upstream' ? 'provider' : 'estimate',
        count_source: countSource(by),
        original_response: null,
        error: false,
        error_message: null,
        status_code: null,
      }),
  }),
  route({
    ...ROW,
    name: 'requests.supportedParams',
    querySchema: requiredParameters('model'),
    method: 'GET',
    paths: ['/utils/supported_openai_params'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: 0,
    parse({ search }) {
      const model = new URLSearchParams(search).get('model');
      if (model !== null && model !== '') return { model };
      const issue = { path: ['query', 'model'], rule: 'missing', message: 'Field required', input: null };
      throw new InvalidInput('The query is not valid.', [issue]);
    },
    run: listSupportedParams,
    render: (params) => json({ supported_openai_params: params }),
  }),
  route({
    ...ROW,
    name: 'requests.transform',
    bodySchema: readTransform.schema,
    method: 'POST',
    paths: ['/utils/transform_request'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: 'setting',
    parse(request) {
      const { call_type: type, request_body: body } = readTransform(request.body);
      const endpoint = CALL_TYPES[type ?? 'completion'];
      assertValidRequest(body, endpoint);
      return createRequest(endpoint, body, request);
    },
    run: getRequestPreview,
    render: ({ url, headers, body }) =>
      json({ raw_request_api_base: url, raw_request_body: parseJson(body), raw_request_headers: headers }),
  }),
];
