import type { JsonObject } from '../src/domain/json-object.ts';
import { createFile, deleteFile, getFile, listFiles, readFile } from '../resolvers/files.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { Form } from '../src/domain/inference/form.ts';
import { firstModelOf } from '../src/wire/batches/lines.ts';
import { fieldsOf } from '../src/wire/multipart/form.ts';
import { parseForm } from './helpers/http/form.ts';
import {
  STORED_OBJECT_ROW,
  listAnswer,
  objectAnswer,
  parsePage,
  PLACEMENT_FIELDS,
  placementOf,
  pageSchema,
  objectFromPath,
} from './helpers/model-call/upstream-objects.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { callContext, rawAnswer } from './helpers/model-call/model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';

/** Default number of files on a page. */
const DEFAULT_PAGE_SIZE = 1_000;

async function upload(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const form = parseForm(request, '/files', 'file');
  const fields = fieldsOf(form);
  const { model, provider } = placementOf(request, fields);
  const draft = {
    form,
    fields,
    // Fields for the gateway, which the upstream does not get.
    gatewayFields: PLACEMENT_FIELDS,
    model: model ?? (provider === null ? modelOfBatchFile(form, fields) : null),
    provider,
    ...callContext(request),
    // Members of the form are for the upstream, so the labels are those of headers.
    ...gatewayLabels(request, {}, '/files'),
  };
  return objectAnswer(await createFile(scope, draft), scope);
}

/**
 * Model of the first request of a batch file, which selects the deployment; null for a file without requests, and for
 * other files. Throws InvalidInput for an invalid request.
 */
function modelOfBatchFile(form: Form, fields: JsonObject): string | null {
  const file = form.parts.find(({ name, filename }) => name === 'file' && filename !== null);
  return fields['purpose'] === 'batch' && file !== undefined ? firstModelOf(form, file) : null;
}

/** Files that upstreams store for callers. */
export const fileRoutes: readonly RouteRow[] = [
  {
    ...STORED_OBJECT_ROW,
    name: 'files.create',
    bodySchema: objectSchema({ file: { type: 'string', format: 'binary' }, purpose: { type: 'string' } }, ['file']),
    bodyType: 'multipart/form-data',
    method: 'POST',
    paths: ['/v1/files', '/files'],
    statuses: [200, 400, 401, 403, 404, 422, 429, 500, 503],
    bodyLimit: 'setting',
    handle: upload,
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'files.list',
    querySchema: pageSchema(),
    method: 'GET',
    paths: ['/v1/files', '/files'],
    statuses: [200, 400, 401],
    bodyLimit: 0,
    handle: async (request, scope) =>
      listAnswer(await listFiles(scope, parsePage(request, '/files', { defaultLimit: DEFAULT_PAGE_SIZE }))),
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'files.get',
    method: 'GET',
    paths: ['/v1/files/:id', '/files/:id'],
    statuses: [200, 401, 404, 429, 500, 503],
    bodyLimit: 0,
    handle: async (request, scope) => objectAnswer(await getFile(scope, objectFromPath(request)), scope),
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'files.content',
    method: 'GET',
    paths: ['/v1/files/:id/content', '/files/:id/content'],
    statuses: [200, 401, 404, 429, 500, 503],
    bodyLimit: 0,
    handle: async (request, scope) => rawAnswer(await readFile(scope, objectFromPath(request)), scope),
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'files.delete',
    method: 'DELETE',
    paths: ['/v1/files/:id', '/files/:id'],
    statuses: [200, 401, 403, 404, 429, 500, 503],
    bodyLimit: 0,
    handle: async (request, scope) => objectAnswer(await deleteFile(scope, objectFromPath(request)), scope),
  },
];
