import type { JsonObject } from '../../../src/domain/json-object.ts';
import {
  Forbidden,
  LimitExceeded,
  TooLarge,
  Unauthenticated,
  Unavailable,
  type DomainError,
} from '../../../src/domain/errors.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { sharedSchemas, answerContent } from './answer-types.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { bodyExampleOf } from './examples.ts';
import { statusOf } from '../../errors.ts';
import { type RouteFacts, type RouteRow } from '../http/route.ts';
import type { JsonSchema } from '../http/schema.ts';
import { FAILURE_SCHEMAS, failureSchema } from './failures.ts';

const MEANINGS: Readonly<Record<number, string>> = {
  101: 'The connection becomes a WebSocket.',
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without a body.',
  303: 'Redirects to another page.',
  307: 'Redirects to another address.',
  400: 'The request is not valid.',
  401: 'No key, or an invalid one.',
  402: 'A budget is used up.',
  403: 'The key lacks the right.',
  404: 'It does not exist, or the caller may not read it.',
  405: 'The path has no such method.',
  408: 'An upstream did not answer in time.',
  409: 'It conflicts with something that exists.',
  410: 'It is no longer available.',
  413: 'The body is too large.',
  415: 'The media type is not supported.',
  422: 'The parameters are not valid.',
  429: 'A limit is exceeded.',
  500: 'An upstream or the server failed.',
  502: 'An upstream failed.',
  503: 'Temporarily unavailable.',
  504: 'An upstream did not answer in time.',
};

const FIRST_FAILURE = 400;
const BODILESS = new Set([101, 204, 303, 307]);

/** Failures of every row of a kind: of its key, of its body, and of a process that stops. */
const COMMON: readonly { readonly error: DomainError; readonly of: (row: RouteFacts) => boolean }[] = [
  { error: new Unauthenticated('', 'unknown'), of: ({ credential }) => credential !== 'none' },
  // Also for an address that may not call.
  {
    error: new Forbidden('', 'route'),
    of: ({ credential, anyAddress }) => credential === 'required' || anyAddress !== true,
  },
  { error: new LimitExceeded('', 'requests'), of: ({ credential }) => credential !== 'none' },
  { error: new TooLarge('', 0), of: ({ method, bodyLimit }) => method !== 'GET' && bodyLimit !== 0 },
  { error: new Unavailable(''), of: () => true },
];

/** Statuses that a row promises, and those that every row of its kind has. */
export const documentedStatuses = (row: RouteFacts): readonly number[] =>
  [
    ...new Set([...row.answers, ...COMMON.flatMap(({ error, of }) => (of(row) ? [statusOf(row.surface, error)] : []))]),
  ].toSorted((one, other) => one - other);

const RELAYED = {
  answers: { description: 'The answer of the upstream, unchanged.', content: { '*/*': {} } },
} as const;

function responseOf(row: RouteRow, status: number): JsonObject {
  const description = MEANINGS[status] ?? 'See the message.';
  if (status >= FIRST_FAILURE) {
    // The status may be that of the upstream.
    if (row.relays === 'answers') return { ...RELAYED.answers, description };
    const own = answerContent(row.name, status);
    const media = row.surface === 'otlp' ? ['application/json', 'application/x-protobuf'] : ['application/json'];
    const schema = failureSchema(row);
    const page = row.failures?.page === undefined ? {} : { 'text/html': {} };
    return { description, content: own ?? { ...Object.fromEntries(media.map((type) => [type, { schema }])), ...page } };
  }
  if (BODILESS.has(status)) return { description };
  const own = answerContent(row.name, status);
  if (own === null && row.relays === 'answers') return RELAYED.answers;
  return { description, content: own ?? { 'application/json': {} } };
}

/** Answer with the status of an upstream. */
function relayedOf(row: RouteRow): JsonObject {
  if (row.relays === undefined) return {};
  if (row.relays === 'answers') return { default: RELAYED.answers };
  const content = { 'application/json': { schema: failureSchema(row) } };
  return { default: { description: 'The upstream failed. The status is its own.', content } };
}

const PARAMETER = /\{?([:*])(\w+)\}?/g;

/** A path in the notation of OpenAPI. */
const documentedPath = (path: string): string => path.replaceAll(PARAMETER, (_all, _kind, name: string) => `{${name}}`);

/** Paths that differ in the names of their parameters only are one path. */
const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/** Path parameters, by the names that the document has for them. */
function pathParametersOf(path: string, documented: string): readonly JsonObject[] {
  const names = [...documented.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return [...path.matchAll(PARAMETER)].map(([, kind], index) => ({
    name: names[index],
    in: 'path',
    required: true,
    ...(kind === '*' ? { description: 'The rest of the path.' } : {}),
    schema: { type: 'string', minLength: 1 },
  }));
}

/** Parameters of the query, or headers. */
function parametersIn(place: 'query' | 'header', members: JsonSchema = {}): readonly JsonObject[] {
  const properties = Object.entries((members['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>);
  const required = new Set((members['required'] ?? []) as readonly string[]);
  return properties.map(([name, schema]) => ({
    name,
    in: place,
    ...(required.has(name) ? { required: true } : {}),
    schema,
  }));
}

function bodyOf(row: RouteRow): JsonObject {
  const { method, request, requestType = 'application/json', surface } = row;
  if (request === undefined || method === 'GET') return {};
  const example = requestType === 'multipart/form-data' ? undefined : bodyExampleOf(row);
  const media = { schema: request, ...(example === undefined ? {} : { example }) };
  const protobuf = surface === 'otlp' ? { 'application/x-protobuf': { schema: {} } } : {};
  return { requestBody: { required: isNeeded(request), content: { [requestType]: media, ...protobuf } } };
}

const isNeeded = ({ required }: JsonSchema): boolean => Array.isArray(required) && required.length > 0;

/** Several paths of one row have ids of their own. */
const idOf = ({ name }: RouteRow, index: number): string => (index === 0 ? name : `${name}.${index + 1}`);

const SECURITY: Readonly<Record<RouteRow['credential'], readonly JsonObject[]>> = {
  required: [{ key: [] }],
  offered: [{}, { key: [] }],
  none: [],
};

function operationOf(row: RouteRow, { path, documented, index }: Place): JsonObject {
  const { name, credential } = row;
  const parameters = [
    ...pathParametersOf(path, documented),
    ...parametersIn('query', row.query),
    ...parametersIn('header', row.headers),
  ];
  const responses = documentedStatuses(row).map((status) => [String(status), responseOf(row, status)]);
  return {
    operationId: idOf(row, index),
    tags: [name.split('.')[0]],
    summary: DESCRIPTIONS[name] ?? '',
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(row),
    responses: { ...Object.fromEntries(responses), ...relayedOf(row) },
    security: SECURITY[credential],
  };
}

interface Place {
  readonly path: string;
  readonly documented: string;
  readonly index: number;
}

/** The document of OpenAPI 3.1 for route rows. */
export function openApiDocument(rows: readonly RouteRow[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const names = new Map<string, string>();
  for (const row of rows)
    for (const [index, path] of row.paths.entries()) {
      const named = documentedPath(path);
      const documented = names.get(shapeOf(named)) ?? named;
      names.set(shapeOf(named), documented);
      const operations = (paths[documented] ??= {});
      operations[row.method.toLowerCase()] ??= operationOf(row, { path, documented, index });
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lensgate',
      version: VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'HTTP paths of the gateway, its management and its traces. The graph at `/graphql` serves the same operations.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { ...FAILURE_SCHEMAS, ...sharedSchemas() },
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A virtual key or the admin key.' } },
    },
  };
}
