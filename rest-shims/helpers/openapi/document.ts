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
import { bodyExample } from './examples.ts';
import { statusOf } from '../../errors.ts';
import { type RouteFacts, type RouteRow } from '../http/route.ts';
import type { JsonSchema } from '../http/schema.ts';
import { FAILURE_SCHEMAS, failureSchema } from './failures.ts';

const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  101: 'The connection becomes a WebSocket.',
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without a body.',
  303: 'Redirects to another page.',
  304: 'The content that the client has is current.',
  307: 'Redirects to another address.',
  400: 'The request is not valid.',
  401: 'The key is missing or not valid.',
  402: 'A budget is exceeded.',
  403: 'The caller lacks the right.',
  404: 'The object does not exist, or the caller may not read it.',
  405: 'The path does not support the method.',
  406: 'The client does not accept the media type of the answer.',
  408: 'An upstream did not answer in time.',
  409: 'The request conflicts with the current state.',
  410: 'The object is no longer available.',
  413: 'The body is too large.',
  415: 'The media type is not supported.',
  422: 'The parameters are not valid.',
  429: 'A limit is exceeded.',
  500: 'An upstream or the server failed.',
  502: 'An upstream failed.',
  503: 'Temporarily unavailable.',
  504: 'An upstream did not answer in time.',
};

const FIRST_FAILURE_STATUS = 400;
const BODILESS = new Set([101, 204, 303, 304, 307]);

/**
 * Failures of all rows for which `appliesTo` returns true: authentication, access, limits, body size and shutdown. Only
 * the status of `error` is used.
 */
const COMMON_FAILURES: readonly { readonly error: DomainError; readonly appliesTo: (row: RouteFacts) => boolean }[] = [
  { error: new Unauthenticated('', 'unknown'), appliesTo: ({ credential }) => credential !== 'none' },
  // The caller lacks the right, or the client address is not allowed.
  {
    error: new Forbidden('', 'route'),
    appliesTo: ({ credential, anyAddress }) => credential === 'required' || anyAddress !== true,
  },
  { error: new LimitExceeded('', 'requests'), appliesTo: ({ credential }) => credential !== 'none' },
  { error: new TooLarge('', 0), appliesTo: ({ method, bodyLimit }) => method !== 'GET' && bodyLimit !== 0 },
  { error: new Unavailable(''), appliesTo: () => true },
];

/** Statuses that a row lists, and the statuses of the common failures. */
export const documentedStatuses = (row: RouteFacts): readonly number[] =>
  [
    ...new Set([
      ...row.statuses,
      ...COMMON_FAILURES.flatMap(({ error, appliesTo }) => (appliesTo(row) ? [statusOf(row.surface, error)] : [])),
    ]),
  ].toSorted((left, right) => left - right);

const RELAYED_ANSWER = { description: 'The answer of the upstream, unchanged.', content: { '*/*': {} } } as const;

function responseObject(row: RouteRow, status: number): JsonObject {
  const description = STATUS_DESCRIPTIONS[status] ?? 'See the message.';
  if (status >= FIRST_FAILURE_STATUS) {
    // Both the upstream and the gateway may answer with this status, so the media type is open.
    if (row.relays === 'answers') return { ...RELAYED_ANSWER, description };
    const answerTypes = answerContent(row.name, status);
    const media = row.surface === 'otlp' ? ['application/json', 'application/x-protobuf'] : ['application/json'];
    const schema = failureSchema(row);
    const page = row.failureForm?.page === undefined ? {} : { 'text/html': {} };
    return {
      description,
      content: answerTypes ?? { ...Object.fromEntries(media.map((type) => [type, { schema }])), ...page },
    };
  }
  if (BODILESS.has(status)) return { description };
  const answerTypes = answerContent(row.name, status);
  if (answerTypes === null && row.relays === 'answers') return RELAYED_ANSWER;
  return { description, content: answerTypes ?? { 'application/json': {} } };
}

/** Response for all other statuses, which come from an upstream. Empty if the row relays no status of an upstream. */
function defaultResponseOf(row: RouteRow): JsonObject {
  if (row.relays === undefined) return {};
  if (row.relays === 'answers') return { default: RELAYED_ANSWER };
  const content = { 'application/json': { schema: failureSchema(row) } };
  return { default: { description: 'The upstream failed. The status is that of the upstream.', content } };
}

/** Path parameter of @koa/router, with or without braces: `:name` is one segment, `*name` the rest of the path. */
const PARAMETER = /\{?([:*])(\w+)\}?/g;

/** A path in the notation of OpenAPI. */
const openApiPathOf = (path: string): string => path.replaceAll(PARAMETER, (_all, _kind, name: string) => `{${name}}`);

/** Key of a path. OpenAPI treats paths that differ only in parameter names as the same path. */
const pathWithoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/** Parameters of a path, with the names that the same path has in the document: see `DocumentedPath`. */
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

/** Parameters of the query or of the headers, from an object schema. */
function parametersIn(location: 'query' | 'header', members: JsonSchema = {}): readonly JsonObject[] {
  const properties = Object.entries((members['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>);
  const required = new Set((members['required'] ?? []) as readonly string[]);
  return properties.map(([name, schema]) => ({
    name,
    in: location,
    ...(required.has(name) ? { required: true } : {}),
    schema,
  }));
}

function requestBodyOf(row: RouteRow): JsonObject {
  const { method, bodySchema, bodyType = 'application/json', surface } = row;
  if (bodySchema === undefined || method === 'GET') return {};
  const example = bodyType === 'multipart/form-data' ? undefined : bodyExample(row);
  const media = { schema: bodySchema, ...(example === undefined ? {} : { example }) };
  const protobuf = surface === 'otlp' ? { 'application/x-protobuf': { schema: {} } } : {};
  return { requestBody: { required: hasRequiredMembers(bodySchema), content: { [bodyType]: media, ...protobuf } } };
}

const hasRequiredMembers = ({ required }: JsonSchema): boolean => Array.isArray(required) && required.length > 0;

/** `operationId` of a path of a row: the name of the row. Further paths also have a number, from 2. */
const operationId = ({ name }: RouteRow, index: number): string => (index === 0 ? name : `${name}.${index + 1}`);

/** Security requirements of OpenAPI: any one of a list is enough, and the empty object requires no key. */
const SECURITY: Readonly<Record<RouteRow['credential'], readonly JsonObject[]>> = {
  required: [{ key: [] }],
  offered: [{}, { key: [] }],
  tried: [{}, { key: [] }],
  none: [],
};

function operationObject(row: RouteRow, { path, documented, index }: DocumentedPath): JsonObject {
  const { name, credential } = row;
  const parameters = [
    ...pathParametersOf(path, documented),
    ...parametersIn('query', row.querySchema),
    ...parametersIn('header', row.headerSchema),
  ];
  const responses = documentedStatuses(row).map((status) => [String(status), responseObject(row, status)]);
  return {
    operationId: operationId(row, index),
    tags: [name.split('.')[0]],
    summary: DESCRIPTIONS[name] ?? '',
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(row),
    responses: { ...Object.fromEntries(responses), ...defaultResponseOf(row) },
    security: SECURITY[credential],
  };
}

interface DocumentedPath {
  /** Path in the notation of @koa/router. */
  readonly path: string;
  /** The same path in the document, with the parameter names of the first row that has it. */
  readonly documented: string;
  /** Position in the paths of the row. */
  readonly index: number;
}

/** OpenAPI 3.1 document of route rows. */
export function openApiDocument(rows: readonly RouteRow[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const documentedPaths = new Map<string, string>();
  for (const row of rows)
    for (const [index, path] of row.paths.entries()) {
      const openApiPath = openApiPathOf(path);
      const documented = documentedPaths.get(pathWithoutNames(openApiPath)) ?? openApiPath;
      documentedPaths.set(pathWithoutNames(openApiPath), documented);
      const operations = (paths[documented] ??= {});
      operations[row.method.toLowerCase()] ??= operationObject(row, { path, documented, index });
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lensgate',
      version: VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'HTTP paths of the gateway, its management and its traces. The graph at `/graphql` shares many of their operations.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { ...FAILURE_SCHEMAS, ...sharedSchemas() },
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A virtual key or the admin key.' } },
    },
  };
}
