import {
  buildSchema,
  getNullableType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
  isScalarType,
} from 'graphql';
import { createClient as createStreamClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type TestApp } from '../support/start-app.ts';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
const codeType = schema.getType('ErrorCode');
const CODES = new Set(isEnumType(codeType) ? codeType.getValues().map(({ name }) => name) : []);

interface GraphAnswer {
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

/** Error codes of an answer. An error without a code of the enum is returned whole. */
const codesOf = ({ errors = [] }: GraphAnswer): readonly unknown[] =>
  errors.map((error) => (CODES.has(error.extensions?.code ?? '') ? error.extensions?.code : error));

const codesOfBody = async (body: object): Promise<readonly unknown[]> =>
  codesOf((await (await app.call('POST', '/graphql', body)).json()) as GraphAnswer);

/** An invalid value of each scalar. */
const INVALID_VALUES: Readonly<Record<string, unknown>> = {
  String: 5,
  ID: 1.5,
  Int: 2 ** 40,
  Float: 'x',
  Boolean: 'x',
  BigInt: 'x',
  Decimal: '1e3',
  DateTime: 'yesterday',
};

/** Puts a value into the value of an argument. */
type Wrap = (value: unknown) => unknown;

/**
 * Function that puts a value of the type `typeName` into a value of `type`. Null where `type` has no such member within
 * three levels.
 */
function wrapperFor(type: GraphQLInputType, typeName: string, depth = 0): Wrap | null {
  const inputType = getNullableType(type);
  if (isListType(inputType)) {
    const wrap = wrapperFor(inputType.ofType, typeName, depth);
    return wrap && ((value) => [wrap(value)]);
  }
  if (!isInputObjectType(inputType)) return inputType.name === typeName ? (value) => value : null;
  if (depth === 3) return null;
  const fields = Object.values(inputType.getFields());
  for (const { name, type: fieldType } of fields) {
    const wrap = wrapperFor(fieldType, typeName, depth + 1);
    const requiredFields = Object.fromEntries(
      fields.flatMap((field) =>
        isRequiredInputField(field) && field.name !== name ? [[field.name, sampleOf(field.type)]] : [],
      ),
    );
    if (wrap !== null) return (value) => ({ ...requiredFields, [name]: wrap(value) });
  }
  return null;
}

/** A valid value of a type, for required members. */
function sampleOf(type: GraphQLInputType): unknown {
  const inputType = getNullableType(type);
  if (isListType(inputType)) return [];
  if (isEnumType(inputType)) return inputType.getValues()[0]?.name;
  if (isScalarType(inputType)) return inputType.name === 'Int' || inputType.name === 'Float' ? 1 : '1';
  const fields = Object.values(inputType.getFields()).filter(isRequiredInputField);
  return Object.fromEntries(fields.map((field) => [field.name, sampleOf(field.type)]));
}

/** The first argument of a query or mutation that can hold a value of the type. */
function argumentFor(typeName: string) {
  for (const [kind, root] of [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
  ] as const)
    for (const field of Object.values(root?.getFields() ?? {}))
      for (const arg of field.args) {
        const wrap = wrapperFor(arg.type, typeName);
        if (wrap !== null) return { kind, field: field.name, arg: arg.name, type: String(arg.type), wrap };
      }
  throw new Error(`No argument takes ${typeName}.`);
}

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${name}: ${literal(member)}`)
    .join(', ')} }`;
};

const INPUTS = Object.values(schema.getTypeMap())
  .filter((type) => (isScalarType(type) || isEnumType(type)) && !type.name.startsWith('__'))
  .map(({ name }) => name)
  // Every value is valid for JSON. Types that no argument takes are left out.
  .filter((name) => name !== 'JSON' && isArgumentType(name));

function isArgumentType(name: string): boolean {
  try {
    argumentFor(name);
    return true;
  } catch {
    return false;
  }
}

describe('a value that does not match its type', () => {
  it('is tested for every scalar of an argument except JSON', () => {
    expect(INPUTS.filter((name) => isScalarType(schema.getType(name))).toSorted()).toEqual(
      ['Boolean', 'DateTime', 'Decimal', 'Float', 'ID', 'Int', 'String'].toSorted(),
    );
    expect(INPUTS.length).toBeGreaterThan(50);
  });

  it.each(INPUTS)('is answered with GRAPHQL_VALIDATION_FAILED: %s', async (typeName) => {
    const { kind, field, arg, type, wrap } = argumentFor(typeName);
    const value = wrap(INVALID_VALUES[typeName] ?? 'NONE_OF_THEM');
    const asVariable = {
      query: `${kind} ($v: ${type}) { ${field}(${arg}: $v) { __typename } }`,
      variables: { v: value },
    };
    const asLiteral = { query: `${kind} { ${field}(${arg}: ${literal(value)}) { __typename } }` };
    expect(await codesOfBody(asVariable)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(new Set(await codesOfBody(asLiteral))).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED']));
  });
});

const query = '{ __typename }';
const BODIES: readonly (readonly [string, string, number, string])[] = [
  ['an array of operations', JSON.stringify([{ query }, { query }]), 400, 'INVALID_INPUT'],
  ['a truncated body', '{"query":', 400, 'INVALID_INPUT'],
  ['no body', '', 400, 'INVALID_INPUT'],
  ['null', 'null', 400, 'INVALID_INPUT'],
  ['no query', '{}', 200, 'INVALID_INPUT'],
  ['a query that is not a text', '{"query":5}', 400, 'INVALID_INPUT'],
  ['variables that are not an object', JSON.stringify({ query, variables: 'x' }), 400, 'INVALID_INPUT'],
  ['an unknown member', JSON.stringify({ query, foo: 1 }), 400, 'INVALID_INPUT'],
  [
    'a hash in place of a query',
    '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}',
    200,
    'UNSUPPORTED',
  ],
  [
    'an unknown operation',
    JSON.stringify({ query: 'query A { __typename }', operationName: 'B' }),
    400,
    'INVALID_INPUT',
  ],
  ['no operation', '{"query":"fragment A on Query { __typename }"}', 400, 'INVALID_INPUT'],
  ['a syntax error', '{"query":"{"}', 200, 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', '{"query":"{ nothing }"}', 200, 'GRAPHQL_VALIDATION_FAILED'],
  ['a missing variable', '{"query":"query ($a: ID!) { node(id: $a) { id } }"}', 200, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'null for an argument with a default',
    JSON.stringify({
      query: 'query ($a: SpendRowOrderField) { spendRows(orderBy: { field: $a }) { nodes { id } } }',
      variables: { a: null },
    }),
    200,
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'a deep operation',
    JSON.stringify({ query: `{ node(id: "x") { ${'... { '.repeat(70)}id${' }'.repeat(72)}` }),
    200,
    'TOO_LARGE',
  ],
];

describe('a request', () => {
  it.each(BODIES)('with %s is answered with a code of ErrorCode', async (_what, body, status, code) => {
    const answer = await app.call('POST', '/graphql', body);
    expect([answer.status, codesOf((await answer.json()) as GraphAnswer)]).toEqual([status, [code]]);
  });

  it.each([
    ['of another media type', 'POST', '/graphql', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED'],
    ['of a form', 'POST', '/graphql', { 'content-type': 'application/x-www-form-urlencoded' }, 400, 'UNSUPPORTED'],
    ['for an image', 'POST', '/graphql', { accept: 'image/png' }, 406, 'UNSUPPORTED'],
    ['with an unknown key', 'POST', '/graphql', { authorization: 'Bearer sk-none' }, 200, 'UNAUTHENTICATED'],
    ['for a mutation by GET', 'GET', '/graphql?query=mutation{__typename}', {}, 405, 'INVALID_INPUT'],
    ['with variables that are not JSON', 'GET', '/graphql?query={__typename}&variables={', {}, 400, 'INVALID_INPUT'],
    ['to a stream that does not exist', 'DELETE', '/graphql/stream', {}, 404, 'INVALID_INPUT'],
  ] as const)('%s is answered with a code of ErrorCode', async (_what, method, path, headers, status, code) => {
    const body = method === 'POST' ? { query } : undefined;
    const answer = await app.call(method, path, body, headers);
    expect([answer.status, codesOf((await answer.json()) as GraphAnswer)]).toEqual([status, [code]]);
  });
});

const OPERATIONS: readonly (readonly [string, string, string])[] = [
  ['a syntax error', '{', 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
  ['a missing variable', 'query ($a: ID!) { node(id: $a) { id } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['an invalid cursor', '{ teams(after: "x") { totalCount } }', 'INVALID_INPUT'],
  ['an unknown cursor of a subscription', 'subscription { traceUpdates(after: "x") { cursor } }', 'CONFLICT'],
  ['no operation', 'fragment A on Query { __typename }', 'GRAPHQL_VALIDATION_FAILED'],
];

describe.each(OPERATIONS)('%s', (_what, text, code) => {
  const codesFrom = (client: {
    subscribe(
      payload: { query: string },
      sink: { next(value: unknown): void; error(error: unknown): void; complete(): void },
    ): unknown;
  }) =>
    new Promise<readonly unknown[]>((resolve) => {
      const received: unknown[] = [];
      client.subscribe(
        { query: text },
        {
          next: (value) => void received.push(...codesOf(value as GraphAnswer)),
          error: (errors) =>
            resolve(Array.isArray(errors) ? codesOf({ errors: errors as GraphAnswer['errors'] & {} }) : [errors]),
          complete: () => resolve(received),
        },
      );
    });

  it('is answered with its error code over a WebSocket', async () => {
    const client = createSocketClient({
      url: `${app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${app.adminKey}` },
    });
    expect(await codesFrom(client)).toEqual([code]);
    await client.dispose();
  });

  it.each([false, true])(
    'is answered with its error code over graphql-sse, with a single connection: %s',
    async (singleConnection) => {
      const headers = () => ({ authorization: `Bearer ${app.adminKey}` });
      const client = createStreamClient({
        url: `${app.url}/graphql/stream`,
        singleConnection,
        retryAttempts: 0,
        headers,
      });
      expect(await codesFrom(client)).toEqual([code]);
      client.dispose();
    },
  );
});
