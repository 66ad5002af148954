import { cancelBatch, createBatch, getBatch, listBatches } from '../resolvers/batches.ts';
import { GATEWAY_FIELDS } from '../src/domain/inference/gateway-fields.ts';
import {
  STORED_OBJECT_ROW,
  listAnswer,
  objectAnswer,
  parsePage,
  PLACEMENT_FIELDS,
  pageSchema,
  objectFromPath,
} from './helpers/model-call/upstream-objects.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { callContext } from './helpers/model-call/model-call.ts';
import type { RouteRow } from './helpers/http/route.ts';
import { parseBody } from './helpers/http/json-body.ts';
import { objectSchema } from './helpers/http/schema.ts';

/** Default number of batches on a page. */
const DEFAULT_PAGE_SIZE = 20;
/** Body limit in bytes of a row that ignores its body: some clients send an empty object. */
const EMPTY_BODY_LIMIT = 1_024;

/** Batches of model calls that an upstream processes later. */
export const batchRoutes: readonly RouteRow[] = [
  {
    ...STORED_OBJECT_ROW,
    name: 'batches.create',
    bodySchema: objectSchema(
      { input_file_id: { type: 'string' }, endpoint: { type: 'string' }, completion_window: { type: 'string' } },
      ['input_file_id', 'endpoint', 'completion_window'],
    ),
    method: 'POST',
    paths: ['/v1/batches', '/batches'],
    statuses: [200, 400, 401, 403, 404, 422, 429, 500, 503],
    bodyLimit: 'setting',
    async handle(request, scope) {
      const body = parseBody(request.body);
      const draft = {
        bytes: request.body,
        body,
        // Members for the gateway, which the upstream does not get.
        gatewayMembers: [...PLACEMENT_FIELDS, ...GATEWAY_FIELDS],
        ...callContext(request),
        ...gatewayLabels(request, body, '/batches'),
      };
      return objectAnswer(await createBatch(scope, draft), scope);
    },
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'batches.list',
    querySchema: pageSchema(),
    method: 'GET',
    paths: ['/v1/batches', '/batches'],
    statuses: [200, 400, 401],
    bodyLimit: 0,
    handle: async (request, scope) =>
      listAnswer(await listBatches(scope, parsePage(request, '/batches', { defaultLimit: DEFAULT_PAGE_SIZE }))),
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'batches.get',
    method: 'GET',
    paths: ['/v1/batches/:id', '/batches/:id'],
    statuses: [200, 401, 404, 429, 500, 503],
    bodyLimit: 0,
    handle: async (request, scope) => objectAnswer(await getBatch(scope, objectFromPath(request)), scope),
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'batches.cancel',
    method: 'POST',
    paths: ['/v1/batches/:id/cancel', '/batches/:id/cancel'],
    statuses: [200, 401, 403, 404, 429, 500, 503],
    bodyLimit: EMPTY_BODY_LIMIT,
    handle: async (request, scope) => objectAnswer(await cancelBatch(scope, objectFromPath(request)), scope),
  },
];
