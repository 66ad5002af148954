import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionOptions,
  type IntrospectionQuery,
  lexicographicSortSchema,
  parse,
  printSchema,
} from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_INTROSPECTION_DEPTH } from '../../schema/base/limits.ts';
import { schema } from '../../schema/index.ts';
import { openGraph } from './graph-server.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

interface Answer<Data = unknown> {
  readonly data?: Data;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code: string } }[];
}

async function ask<Data>(query: string, key: string | null = null, variables: object = {}): Promise<Answer<Data>> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const answer = await graph.post(JSON.stringify({ query, variables }), headers);
  return (await answer.json()) as Answer<Data>;
}

const PUBLISHED = printSchema(lexicographicSortSchema(schema));
const publishedBy = (data: IntrospectionQuery): string => printSchema(lexicographicSortSchema(buildClientSchema(data)));

const ALL: IntrospectionOptions = {
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};
const NONE: IntrospectionOptions = {
  descriptions: false,
  specifiedByUrl: false,
  directiveIsRepeatable: false,
  schemaDescription: false,
  inputValueDeprecation: false,
  oneOf: false,
};

/** Depth of the standard introspection query without the levels of `ofType`, which `typeDepth` sets. */
const DEPTH_WITHOUT_TYPES = 6;

describe('the standard introspection query', () => {
  it.each([null, 'sk-team-a', 'sk-viewer', 'sk-admin'])('returns the whole schema with the key %s', async (key) => {
    graph = await openGraph();
    const { data, errors } = await ask<IntrospectionQuery>(getIntrospectionQuery(ALL), key);
    expect(errors).toBeUndefined();
    expect(data && publishedBy(data)).toBe(PUBLISHED);
  });

  it.each([
    ['without options', {}],
    ['with every option', ALL],
    ['with every option off', NONE],
    ['with the deepest types', { ...ALL, typeDepth: MAX_INTROSPECTION_DEPTH - DEPTH_WITHOUT_TYPES }],
  ])('works %s', async (_name, options) => {
    graph = await openGraph();
    const { data, errors } = await ask<IntrospectionQuery>(getIntrospectionQuery(options));
    expect(errors).toBeUndefined();
    expect(data && buildClientSchema(data).getTypeMap()).toHaveProperty('CatalogEntry');
  });

  it('may be sent in one document with other operations, selected by name', async () => {
    graph = await openGraph();
    const query = `${getIntrospectionQuery(ALL)} query Other { catalogStatus { takenAt } }`;
    const answer = await graph.post(JSON.stringify({ query, operationName: 'IntrospectionQuery' }));
    const { data } = (await answer.json()) as Answer<IntrospectionQuery>;
    expect(data && publishedBy(data)).toBe(PUBLISHED);
  });

  it('is sufficient for graphql-codegen', async () => {
    graph = await openGraph();
    const { data } = await ask<IntrospectionQuery>(getIntrospectionQuery(ALL));
    if (data === undefined) throw new Error('There is no schema.');
    const document = parse('query Entry($id: ID!) { catalogEntry(id: $id) { id mode } }');
    const types = await codegen({
      filename: 'graphql.ts',
      schema: parse(printSchema(buildClientSchema(data))),
      schemaAst: buildClientSchema(data),
      documents: [{ location: 'entry.graphql', document }],
      config: {
        strictScalars: true,
        scalars: { BigInt: 'number | string', DateTime: 'string', Decimal: 'string', JSON: 'unknown' },
      },
      plugins: [{ 'typescript-operations': {} }],
      pluginMap: { 'typescript-operations': typescriptOperations },
    });
    expect(types).toContain('export type EntryQueryVariables');
    expect(types).toContain('catalogEntry: { id: string, mode: string | null } | null');
  });

  it.each(['/graphql', '/graphql/stream'])('is sent as an event over %s', async (path) => {
    graph = await openGraph();
    const answer = await fetch(graph.url.replace('/graphql', path), {
      method: 'POST',
      body: JSON.stringify({ query: getIntrospectionQuery(ALL) }),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    });
    const [, data = ''] = /^event: next\ndata: (.*)$/m.exec(await answer.text()) ?? [];
    expect(publishedBy((JSON.parse(data) as { data: IntrospectionQuery }).data)).toBe(PUBLISHED);
  });

  it('is refused when introspection is disabled', async () => {
    graph = await openGraph({ introspection: false });
    const { data, errors } = await ask(getIntrospectionQuery(ALL));
    expect([data, errors?.[0]?.message]).toEqual([
      undefined,
      'GraphQL introspection has been disabled, but the requested query contained the field "__schema".',
    ]);
  });

  it('is refused for an invalid key, also when its answer is cached', async () => {
    graph = await openGraph();
    await ask(getIntrospectionQuery(ALL));
    const { data, errors } = await ask(getIntrospectionQuery(ALL), 'sk-unknown');
    expect([data, errors?.map(({ extensions }) => extensions?.code)]).toEqual([undefined, ['UNAUTHENTICATED']]);
  });
});

describe('introspection', () => {
  const times = (count: number, field: string): string =>
    Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
  /** An operation that selects nothing but the schema may cause 60000 fields, any other one 30000. */
  const refusal = 'The operation, with its introspection, causes more than 60000 fields.';
  const FULL = 'types { name fields { name args { name type { name } } type { name ofType { name } } } }';

  it.each([
    ['aliases', `{ ${times(660, `__schema { types { name } }`)} }`],
    ['aliases with a fragment', `{ ${times(100, '__schema { ...S }')} } fragment S on __Schema { ${FULL} }`],
    ['aliases inside', `{ __schema { ${times(300, 'types { name }')} } }`],
    ['fields under aliases', `{ __schema { types { ${times(150, 'fields { name }')} } } }`],
    ['types by name', `{ ${times(330, '__type(name: "Query") { fields { name type { name } } }')} }`],
    ['inline fragments', `{ ... on Query { ${times(100, `__schema { ... on __Schema { ${FULL} } }`)} } }`],
  ])('counts toward the cost: %s', async (_name, query) => {
    graph = await openGraph();
    const { data, errors } = await ask(query);
    expect([data, errors?.map(({ message, extensions }) => [message, extensions?.code])]).toEqual([
      undefined,
      [[refusal, 'TOO_LARGE']],
    ]);
  });

  it('counts toward the cost together with a page', async () => {
    graph = await openGraph();
    const query = `{ catalogEntries(first: 500) { nodes { ${times(55, 'id')} } } __schema { ${FULL} } }`;
    expect((await ask(query)).errors).toMatchObject([
      {
        message: 'The operation, with its introspection, causes more than 30000 fields.',
        extensions: { code: 'TOO_LARGE' },
      },
    ]);
  });

  it('counts the type that a variable names', async () => {
    graph = await openGraph();
    const query = `query($name: String!) { ${times(310, '__type(name: $name) { fields { name type { name } } }')} }`;
    expect((await ask(query, null, { name: 'Decimal' })).errors).toBeUndefined();
    expect((await ask(query, null, { name: 'Query' })).errors?.[0]?.message).toBe(refusal);
  });

  it('counts no fields below a null field', async () => {
    graph = await openGraph();
    const { data, errors } = await ask(
      `{ ${times(330, '__type(name: "Decimal") { fields { name type { name } } }')} }`,
    );
    expect(errors).toBeUndefined();
    expect(Object.values(data as object)).toEqual(Array.from({ length: 330 }, () => ({ fields: null })));
  });

  it('counts every `__typename`', async () => {
    graph = await openGraph();
    // 500 entries with 61 fields each, and 200 for `catalogEntries` itself (`SEARCH_COST`).
    const nested = `{ catalogEntries(first: 500) { nodes { ${times(61, '__typename')} } } }`;
    expect((await ask(nested)).errors?.map(({ message }) => message)).toEqual([
      'The operation may cause 30700 fields; the limit is 30000. Ask for smaller pages.',
    ]);
  });

  it('counts toward the depth', async () => {
    graph = await openGraph();
    // The query is four fields deeper than its levels of `ofType`.
    const deep = (levels: number): string =>
      `{ __type(name: "Query") { fields { type { ${'ofType { '.repeat(levels)}name${' }'.repeat(levels)} } } } }`;
    expect((await ask(deep(MAX_INTROSPECTION_DEPTH - 4))).errors).toBeUndefined();
    expect((await ask(deep(MAX_INTROSPECTION_DEPTH - 3))).errors).toMatchObject([
      {
        message: `The introspection is ${MAX_INTROSPECTION_DEPTH + 1} fields deep; the limit is ${MAX_INTROSPECTION_DEPTH}.`,
        extensions: { code: 'TOO_LARGE' },
      },
    ]);
  });

  it('counts toward the depth in fragments', async () => {
    graph = await openGraph();
    const fragments = Array.from(
      { length: 30 },
      (_, index) => `fragment F${index} on __Type { ofType { ...F${index + 1} } }`,
    );
    const query = `{ __type(name: "Query") { ...F0 } } ${fragments.join(' ')} fragment F30 on __Type { name }`;
    // `__type`, 30 times `ofType`, and `name`.
    expect((await ask(query)).errors?.map(({ message }) => message)).toEqual([
      `The introspection is 32 fields deep; the limit is ${MAX_INTROSPECTION_DEPTH}.`,
    ]);
  });

  it('has the same answer for every caller, in concurrent and in repeated requests', async () => {
    graph = await openGraph();
    const query = '{ __schema { queryType { name } } __type(name: "Decimal") { kind } __typename }';
    const answer = {
      data: { __schema: { queryType: { name: 'Query' } }, __type: { kind: 'SCALAR' }, __typename: 'Query' },
    };
    const sameOperation = `# another text\n query { ${query.slice(1, -1)} }`;
    expect(await Promise.all([ask(query), ask(query, 'sk-admin'), ask(sameOperation), ask(query)])).toEqual(
      Array.from({ length: 4 }, () => answer),
    );
    expect(await ask(query)).toEqual(answer);
  });

  it('depends on its variables', async () => {
    graph = await openGraph();
    const query = 'query($name: String!) { __type(name: $name) { kind } }';
    const kindOf = async (name: string) => (await ask(query, null, { name, unused: 'x' })).data;
    expect([await kindOf('Decimal'), await kindOf('Trace'), await kindOf('Decimal'), await kindOf('No')]).toEqual([
      { __type: { kind: 'SCALAR' } },
      { __type: { kind: 'OBJECT' } },
      { __type: { kind: 'SCALAR' } },
      { __type: null },
    ]);
  });
});
