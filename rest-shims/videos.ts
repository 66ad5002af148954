import { createVideo, deleteVideo, getVideo, listVideos, readVideo, remixVideo } from '../resolvers/videos.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { GATEWAY_FIELDS } from '../src/domain/inference/gateway-fields.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { formFields, isMultipart, parseForm } from './helpers/http/form.ts';
import { parseBody } from './helpers/http/json-body.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { callContext, rawAnswer } from './helpers/model-call/model-call.ts';
import {
  listAnswer,
  objectAnswer,
  objectFromPath,
  pageSchema,
  parsePage,
  placementOf,
  PLACEMENT_FIELDS,
  STORED_OBJECT_ROW,
} from './helpers/model-call/upstream-objects.ts';

/** Default number of videos on a page. */
const DEFAULT_PAGE_SIZE = 20;

/** Members for the gateway. A remix is sent without them: it runs with the model of its source. */
const GATEWAY_MEMBERS = [...PLACEMENT_FIELDS, ...GATEWAY_FIELDS];
/** Members that a new video is sent without. Its model is replaced by the name that the upstream knows. */
const REMOVED_MEMBERS = GATEWAY_MEMBERS.filter((name) => name !== 'model');

/** Changes to a JSON body that remove these members, where the body has them. Null removes a member. */
const removalOf = (names: readonly string[], fields: JsonObject): Readonly<Record<string, null>> =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, null]));

/** The members of a request. `bodyFor` returns the body for the upstream, with the model's name at the upstream. */
function parseVideo(request: HttpRequest) {
  if (isMultipart(request)) {
    const form = parseForm(request, '/videos', 'input_reference');
    const bodyFor = (model: string) => ({ kind: 'form', form, without: REMOVED_MEMBERS, set: { model } }) as const;
    return { fields: formFields(form), bodyFor };
  }
  const fields = parseBody(request.body);
  const removed = removalOf(REMOVED_MEMBERS, fields);
  const bodyFor = (model: string) =>
    ({ kind: 'json', bytes: request.body, set: { ...removed, model: JSON.stringify(model) } }) as const;
  return { fields, bodyFor };
}

async function create(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { fields, bodyFor } = parseVideo(request);
  const facts = { ...callContext(request), ...gatewayLabels(request, fields, '/videos') };
  const draft = { fields, bodyFor, ...placementOf(request, fields), ...facts };
  return objectAnswer(await createVideo(scope, draft), scope);
}

async function remix(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const fields = parseBody(request.body);
  const body = { kind: 'json', bytes: request.body, set: removalOf(GATEWAY_MEMBERS, fields) } as const;
  const facts = gatewayLabels(request, fields, '/videos');
  return objectAnswer(await remixVideo(scope, { ...objectFromPath(request), ...facts, fields, body }), scope);
}

const pathsOf = (end: string): [string, string] => [`/v1/videos${end}`, `/videos${end}`];
const READ = { ...STORED_OBJECT_ROW, method: 'GET', bodyLimit: 0 } as const;

/** Videos that upstreams generate and store for callers. */
export const videoRoutes: readonly RouteRow[] = [
  {
    ...STORED_OBJECT_ROW,
    name: 'videos.create',
    bodySchema: objectSchema(
      {
        prompt: { type: 'string' },
        model: { type: 'string' },
        seconds: { type: ['string', 'number'] },
        size: { type: 'string' },
      },
      ['prompt'],
    ),
    method: 'POST',
    paths: pathsOf(''),
    statuses: [200, 400, 401, 403, 404, 422, 429, 500],
    bodyLimit: 'setting',
    handle: create,
  },
  {
    ...READ,
    name: 'videos.list',
    querySchema: pageSchema(),
    paths: pathsOf(''),
    statuses: [200, 400, 401],
    handle: async (request, scope) =>
      listAnswer(await listVideos(scope, parsePage(request, '/videos', { defaultLimit: DEFAULT_PAGE_SIZE }))),
  },
  {
    ...READ,
    name: 'videos.get',
    paths: pathsOf('/:id'),
    statuses: [200, 401, 404, 500],
    handle: async (request, scope) => objectAnswer(await getVideo(scope, objectFromPath(request)), scope),
  },
  {
    ...READ,
    name: 'videos.content',
    querySchema: objectSchema({ variant: { enum: ['video', 'thumbnail', 'spritesheet'] } }),
    paths: pathsOf('/:id/content'),
    statuses: [200, 400, 401, 404, 500],
    async handle(request, scope) {
      const variant = new URLSearchParams(request.search).get('variant');
      return rawAnswer(await readVideo(scope, { ...objectFromPath(request), variant }), scope);
    },
  },
  {
    ...STORED_OBJECT_ROW,
    name: 'videos.remix',
    method: 'POST',
    bodySchema: objectSchema({ prompt: { type: 'string' } }, ['prompt']),
    paths: pathsOf('/:id/remix'),
    statuses: [200, 400, 401, 403, 404, 422, 429, 500],
    bodyLimit: 'setting',
    handle: remix,
  },
  {
    ...READ,
    name: 'videos.delete',
    method: 'DELETE',
    paths: pathsOf('/:id'),
    statuses: [200, 401, 403, 404, 500],
    handle: async (request, scope) => objectAnswer(await deleteVideo(scope, objectFromPath(request)), scope),
  },
];
