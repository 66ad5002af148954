import { VERSION } from '../src/domain/version.ts';
import { DESCRIPTIONS } from './docs-descriptions.ts';
import { bodyExampleOf } from './docs-examples.ts';
import type { Surface } from './errors.ts';
import { json, type RouteRow } from './http/route.ts';

type Json = Readonly<Record<string, unknown>>;

const OBJECT: Json = { type: 'object' };
const TEXT: Json = { type: 'string' };
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Bodies of failures. */
const SCHEMAS: Json = {
  Error: {
    description: 'A failure in the envelope of OpenAI.',
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'param', 'code'],
        properties: {
          message: TEXT,
          type: { type: ['string', 'null'] },
          param: { type: ['string', 'null'] },
          code: { type: ['string', 'integer', 'null'] },
        },
      },
    },
  },
  Detail: {
    description: 'A failure as `detail`: a text, an object with `error`, or the faults of the request.',
    type: 'object',
    required: ['detail'],
    properties: {
      detail: {
        anyOf: [
          TEXT,
          OBJECT,
          {
            type: 'array',
            items: {
              type: 'object',
              required: ['type', 'loc', 'msg'],
              properties: {
                type: TEXT,
                loc: { type: 'array', items: { type: ['string', 'integer'] } },
                msg: TEXT,
                input: {},
                ctx: OBJECT,
              },
            },
          },
        ],
      },
    },
  },
  VendorError: { description: 'A failure in the envelope of the vendor of the dialect.', type: 'object' },
};

/** Failures of each surface. */
const FAILURES: Readonly<Record<Surface, Json>> = {
  catalog: ref('Detail'),
  proxy: { anyOf: [ref('Error'), ref('Detail')] },
  anthropic: ref('VendorError'),
  gemini: ref('VendorError'),
  management: { anyOf: [ref('Error'), ref('Detail')] },
  traces: { anyOf: [ref('Detail'), ref('Error')] },
  otlp: ref('VendorError'),
  lens: { anyOf: [ref('Detail'), ref('Error')] },
};

const MEANINGS: Readonly<Record<number, string>> = {
  101: 'The connection becomes a WebSocket.',
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without a body.',
  303: 'Redirects to another page.',
  400: 'The request is not valid.',
  401: 'No key, or an invalid one.',
  402: 'A budget is used up.',
  403: 'The key lacks the right.',
  404: 'It does not exist, or the caller may not read it.',
  405: 'The path has no such method.',
  409: 'It conflicts with something that exists.',
  410: 'It is gone.',
  413: 'The body is too large.',
  415: 'The media type is not supported.',
  422: 'The parameters are not valid.',
  429: 'A limit is exceeded.',
  500: 'An upstream or the server failed.',
  502: 'An upstream failed.',
  503: 'Temporarily unavailable.',
};

const SUCCESS = 300;

function responseOf({ surface }: RouteRow, status: number): Json {
  const description = MEANINGS[status] ?? 'See the message.';
  if (status < SUCCESS)
    return status === 204 || status === 101 ? { description } : { description, content: { 'application/json': {} } };
  return { description, content: { 'application/json': { schema: FAILURES[surface] } } };
}

const PARAMETER = /\{?([:*])(\w+)\}?/g;

/** A path in the notation of OpenAPI. */
const documentedPath = (path: string): string => path.replaceAll(PARAMETER, (_all, _kind, name: string) => `{${name}}`);

const parametersOf = (path: string): readonly Json[] =>
  [...path.matchAll(PARAMETER)].map(([, kind, name]) => ({
    name,
    in: 'path',
    required: true,
    ...(kind === '*' ? { description: 'The rest of the path.' } : {}),
    schema: TEXT,
  }));

function bodyOf({ name, method, bodyLimit }: RouteRow): Json {
  if (method === 'GET' || method === 'DELETE' || bodyLimit === 0) return {};
  const example = bodyExampleOf(name);
  const content = { schema: OBJECT, ...(example === undefined ? {} : { example }) };
  return { requestBody: { content: { 'application/json': content } } };
}

/** Several paths of one row have ids of their own. */
const idOf = ({ name }: RouteRow, index: number): string => (index === 0 ? name : `${name}.${index + 1}`);

function operationOf(row: RouteRow, path: string, index: number): Json {
  const { name, answers, credential } = row;
  const parameters = parametersOf(path);
  return {
    operationId: idOf(row, index),
    tags: [name.split('.')[0]],
    summary: DESCRIPTIONS[name] ?? '',
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(row),
    responses: Object.fromEntries(answers.map((status) => [String(status), responseOf(row, status)])),
    security: credential === 'required' ? [{ key: [] }] : [],
  };
}

/** The document of OpenAPI 3.1 for route rows. */
export function openApiDocument(rows: readonly RouteRow[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of rows)
    for (const [index, path] of row.paths.entries()) {
      const operations = (paths[documentedPath(path)] ??= {});
      operations[row.method.toLowerCase()] ??= operationOf(row, path, index);
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lensgate',
      version: VERSION,
      description:
        'HTTP paths of the gateway, its management and its traces. The graph at `/graphql` serves the same operations.',
    },
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A virtual key or the admin key.' } },
    },
  };
}

/** Serves the document of the given rows. */
export function openApiRoutes(documented: readonly RouteRow[]): readonly RouteRow[] {
  return [
    {
      name: 'docs.openApi',
      method: 'GET',
      paths: ['/openapi.json'],
      surface: 'catalog',
      category: null,
      credential: 'none',
      answers: [200],
      bodyLimit: 0,
      handle: () => json(openApiDocument(documented), { 'cache-control': 'no-cache' }),
    },
  ];
}
