import { cancelBatch, createBatch, getBatch, listBatches } from '../resolvers/batches.ts';
import { GATEWAY_FIELDS } from '../src/domain/inference/gateway-fields.ts';
import { STORED_OBJECTS, listAnswer, objectAnswer, pageOf, PLACE_FIELDS, pageSchema } from './upstream-objects.ts';
import { ownLabels } from './model-call/labels.ts';
import { callFactsOf } from './model-call/model-call.ts';
import type { HttpRequest, RouteRow } from './http/route.ts';
import { parseBody } from './http/json-body.ts';
import { objectSchema } from './http/schema.ts';

/** Default number of batches on a page. */
const PAGE = 20;
/** Limit of an empty body, in bytes: some clients send an empty object. */
const NEXT_TO_NOTHING = 1_024;

const named = (request: HttpRequest) => ({ id: request.params['id'] ?? '', ...callFactsOf(request) });

/** Batches of requests, which upstreams process later. */
export const batchRoutes: readonly RouteRow[] = [
  {
    ...STORED_OBJECTS,
    name: 'batches.create',
    request: objectSchema(
      { input_file_id: { type: 'string' }, endpoint: { type: 'string' }, completion_window: { type: 'string' } },
      ['input_file_id', 'endpoint', 'completion_window'],
    ),
    method: 'POST',
    paths: ['/v1/batches', '/batches'],
    answers: [200, 400, 401, 403, 404, 422, 429, 500, 503],
    bodyLimit: 'setting',
    async handle(request, scope) {
      const { body: bytes } = request;
      const body = parseBody(bytes);
      const draft = {
        bytes,
        body,
        without: [...PLACE_FIELDS, ...GATEWAY_FIELDS],
        ...callFactsOf(request),
        ...ownLabels(request, body, '/batches'),
      };
      return objectAnswer(await createBatch(scope, draft), scope);
    },
  },
  {
    ...STORED_OBJECTS,
    name: 'batches.list',
    query: pageSchema(),
    method: 'GET',
    paths: ['/v1/batches', '/batches'],
    answers: [200, 400, 401],
    bodyLimit: 0,
    handle: async (request, scope) =>
      listAnswer(await listBatches(scope, pageOf(request, '/batches', { usual: PAGE }))),
  },
  {
    ...STORED_OBJECTS,
    name: 'batches.get',
    method: 'GET',
    paths: ['/v1/batches/:id', '/batches/:id'],
    answers: [200, 401, 404, 429, 500, 503],
    bodyLimit: 0,
    handle: async (request, scope) => objectAnswer(await getBatch(scope, named(request)), scope),
  },
  {
    ...STORED_OBJECTS,
    name: 'batches.cancel',
    method: 'POST',
    paths: ['/v1/batches/:id/cancel', '/batches/:id/cancel'],
    answers: [200, 401, 403, 404, 429, 500, 503],
    bodyLimit: NEXT_TO_NOTHING,
    handle: async (request, scope) => objectAnswer(await cancelBatch(scope, named(request)), scope),
  },
];
