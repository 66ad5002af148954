import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerBasis, FROM_SOURCE } from '../../schema/base/answer-basis.ts';
import type { GraphContext } from '../../schema/base/builder.ts';
import { schema } from '../../schema/index.ts';
import type { VariableValues } from '../../src/graphql/plans/completion.ts';
import { AnswerTexts } from '../../src/graphql/plans/answer-texts.ts';
import { createPlan } from '../../src/graphql/plans/plan.ts';
import { aSpan, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import { createMemoryTraceStore } from '../support/memory-trace-store.ts';
import { anEntry, openGraph } from './graph-server.ts';

type Graph = Awaited<ReturnType<typeof openGraph>>;

const WINDOW = 'from: "2001-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z"';
const LIST =
  '{ catalogEntries(first: 3) { totalCount nodes { entryId provider mode inputCostPerToken supportsVision } } }';
const TEXT_TO_ESCAPE = 'a "quoted" \\ text, \u{1F600}, \u0001 and\nlines';

/** A title, a query and its variables. */
type QueryCase = readonly [title: string, query: string, variables?: object];

const cases = (list: readonly QueryCase[]) =>
  list.map(([title, query, variables = {}]) => [title, { query, variables }] as const);

/** Queries with a plan. */
const PLANNED: readonly QueryCase[] = [
  ['a list', LIST],
  [
    'a long list',
    '{ catalogEntries(first: 200) { nodes { id entryId } edges { cursor node { mode } } pageInfo { endCursor } } }',
  ],
  ['the name of the root', '{ __typename }'],
  [
    'aliases',
    '{ a: catalogEntries(first: 1) { nodes { x: entryId y: entryId } } b: catalogEntries(first: 2) { nodes { entryId } } }',
  ],
  [
    'fragments, and selections that are merged',
    `query Q { catalogEntries(first: 2) { ...Page nodes { ... on Node { id } ... on CatalogEntry { mode } ... on Trace { name } } } }
     fragment Page on CatalogEntryConnection { nodes { __typename provider } }`,
  ],
  [
    'variables',
    'query Q($first: Int!, $mode: String) { catalogEntries(first: $first, filter: { mode: $mode }) { nodes { entryId } } }',
    { first: 2, mode: 'chat' },
  ],
  ['defaults of variables', 'query Q($first: Int = 1) { catalogEntries(first: $first) { nodes { extraFields } } }'],
  ['an unknown object', '{ catalogEntry(id: "none") { entryId } }'],
  [
    'traces with their spans',
    `{ traces(${WINDOW}) { totalCount nodes { id name inputPreview startedAt status tags sessionId costUsd agents { name llmCalls }
       spans(first: 5) { nodes { id spanId parent { spanId } children(first: 2) { nodes { spanId name } } } } } } }`,
  ],
];

/** Documents without a plan. */
const UNPLANNED: readonly QueryCase[] = [
  [
    'a directive',
    'query Q($with: Boolean!) { catalogEntries(first: 1) { totalCount @include(if: $with) } }',
    { with: true },
  ],
  ['introspection', '{ __schema { queryType { name } } }'],
  ['an interface', '{ node(id: "none") { id } }'],
  ['a mutation', 'mutation { deleteAnnotation(input: { id: "none" }) { __typename } }'],
];

/** Queries with errors. */
const FAILING: readonly QueryCase[] = [
  ['an unknown field', '{ nothing }'],
  ['a missing variable', 'query Q($first: Int!) { catalogEntries(first: $first) { totalCount } }'],
  ['a page out of range', `{ catalogEntries(first: 1) { totalCount } traces(${WINDOW}, first: 0) { totalCount } }`],
  ['an invalid pattern', '{ catalogEntries(first: 1, filter: { model: "re:(" }) { totalCount } }'],
  [
    'too many fields',
    `{ traces(${WINDOW}) { nodes { spans(first: 500) { nodes { children(first: 500) { nodes { name } } } } } } }`,
  ],
];

let planned: Graph;
let unplanned: Graph;
beforeAll(async () => {
  const traces = createMemoryTraceStore();
  const entries = Array.from({ length: 150 }, (_, index) =>
    anEntry(`model-${index}`, {
      input_cost_per_token: index * 1.5e-7,
      supports_vision: index % 2 === 0,
      note: TEXT_TO_ESCAPE,
    }),
  );
  planned = await openGraph({ traces, entries });
  unplanned = await openGraph({ traces, entries, plans: false });
  await planned.ingest(
    TEAM_KEY,
    aSpan({
      name: TEXT_TO_ESCAPE,
      type: 'agent',
      agent: TEXT_TO_ESCAPE,
      inputPreview: '',
      endNs: nsAt(START_MS + 7),
      cost: picos(7n),
    }),
    aSpan({
      spanId: spanId(2),
      parentSpanId: spanId(1),
      labels: { sessionId: 's', userId: null, tags: [TEXT_TO_ESCAPE] },
    }),
    aSpan({ spanId: spanId(3), parentSpanId: spanId(2), status: 'error', error: TEXT_TO_ESCAPE }),
  );
  await planned.ingest(TEAM_KEY, aSpan({ traceId: traceId(2), model: null }));
});
afterAll(async () => {
  await planned.close();
  await unplanned.close();
});

async function answerTo(graph: Graph, query: string, variables?: object): Promise<readonly unknown[]> {
  const answer = await graph.post(JSON.stringify({ query, variables }), { authorization: 'Bearer sk-admin' });
  const text = await answer.text();
  // The request ids of errors differ.
  return [answer.status, answer.headers.get('content-type'), text.replaceAll(/[\da-f-]{36}/g, 'an id')];
}

describe('a query', () => {
  it.each(cases([...PLANNED, ...UNPLANNED, ...FAILING]))(
    'has the same answer with and without plans: %s',
    async (_name, { query, variables }) => {
      const expected = await answerTo(unplanned, query, variables);
      // Later requests use what the first has cached.
      for (let round = 0; round < 4; round += 1) expect(await answerTo(planned, query, variables)).toEqual(expected);
    },
  );

  it.each(cases(PLANNED))('is planned: %s', (_name, { query }) => {
    expect(createPlan(schema, parse(query), null, new AnswerTexts())).not.toBeNull();
  });

  it.each(cases(UNPLANNED))('is not planned: %s', (_name, { query }) => {
    expect(createPlan(schema, parse(query), null, new AnswerTexts())).toBeNull();
  });

  it('is executed for each request with its variables and its caller', async () => {
    const query = 'query Q($first: Int) { catalogEntries(first: $first) { nodes { entryId } } }';
    const sizes = [];
    for (const first of [3, 3, 3, 1, 5, 0])
      sizes.push(
        ((await (await planned.post(JSON.stringify({ query, variables: { first } }))).json()) as EntriesAnswer).data
          .catalogEntries.nodes.length,
      );
    expect(sizes).toEqual([3, 3, 3, 1, 5, 0]);
    const traces = `{ traces(${WINDOW}) { totalCount } }`;
    for (let round = 0; round < 3; round += 1)
      for (const [key, count] of [
        ['sk-admin', 2],
        ['sk-team-b', 0],
        ['sk-nobody', undefined],
      ] as const) {
        const answer = await planned.post(JSON.stringify({ query: traces }), { authorization: `Bearer ${key}` });
        const { data } = (await answer.json()) as { data?: { traces: { totalCount: number } } | null };
        expect([key, data?.traces.totalCount]).toEqual([key, count]);
      }
  });

  it('is answered after failed requests of the same query', async () => {
    const query = 'query Q($mode: String) { catalogEntries(first: 1, filter: { model: $mode }) { totalCount } }';
    const expected = await answerTo(unplanned, query, { mode: 're:(' });
    // After a failure of its plan, 16 requests of a query are answered without the plan. 20 rounds are more.
    for (let round = 0; round < 20; round += 1) {
      expect(await answerTo(planned, query, { mode: 're:(' })).toEqual(expected);
      expect((await answerTo(planned, query, { mode: 'model-1' }))[0]).toBe(200);
    }
  });
});

describe('the cached text of an answer', () => {
  const CATALOG = 'query Q($first: Int) { catalogEntries(first: $first) { totalCount nodes { entryId mode } } }';
  const context = {} as GraphContext;

  /**
   * A schema whose root field `page` is cached and `clock` is not, and counts of calls of its resolvers. The source
   * object of `page`, under which the text is cached, is `state.basis`.
   */
  function countingSchema(extensions: Readonly<Record<string, unknown>> = FROM_SOURCE) {
    const counts = { roots: 0, leaves: 0 };
    const state = { basis: {}, value: 'a' };
    const leaf = {
      type: new GraphQLNonNull(GraphQLString),
      extensions,
      resolve: (source: { readonly value: string }) => {
        counts.leaves += 1;
        return source.value;
      },
    };
    const page = new GraphQLObjectType({ name: 'Page', fields: { value: leaf } });
    const root = {
      type: new GraphQLNonNull(page),
      args: { first: { type: GraphQLInt } },
      extensions: answerBasis(() => state.basis),
      resolve: (_root: unknown, { first }: { readonly first?: number }) => {
        counts.roots += 1;
        return { value: `${state.value}${first ?? ''}` };
      },
    };
    const query = new GraphQLObjectType({ name: 'Query', fields: { page: root, clock: { ...root, extensions: {} } } });
    const planOf = (text: string) => createPlan(new GraphQLSchema({ query }), parse(text), null, new AnswerTexts());
    return { counts, state, planOf };
  }
  /**
   * Second argument of `run` for a query without variables. The third argument is the key of the variables in the
   * cache, or null where the variables are too long.
   */
  const noVariables = { sources: {}, coerced: {} } as unknown as VariableValues;

  it('is used until its source object is replaced, and the root resolver runs each time', async () => {
    const { counts, state, planOf } = countingSchema();
    const plan = planOf('{ page { value } }');
    expect(await plan?.run(context, noVariables, '')).toBe('{"page":{"value":"a"}}');
    state.value = 'b';
    expect(await plan?.run(context, noVariables, '')).toBe('{"page":{"value":"a"}}');
    state.basis = {};
    expect(await plan?.run(context, noVariables, '')).toBe('{"page":{"value":"b"}}');
    expect(counts).toEqual({ roots: 3, leaves: 2 });
  });

  it('differs for other variables, another field and another selection', async () => {
    const { planOf } = countingSchema();
    const plan = planOf('query Q($first: Int) { x: page(first: $first) { value } y: page(first: 7) { v: value } }');
    const coerced = (first: number) => ({ sources: {}, coerced: { first } }) as unknown as VariableValues;
    for (let round = 0; round < 2; round += 1) {
      expect(await plan?.run(context, coerced(1), '1')).toBe('{"x":{"value":"a1"},"y":{"v":"a7"}}');
      expect(await plan?.run(context, coerced(2), '2')).toBe('{"x":{"value":"a2"},"y":{"v":"a7"}}');
    }
  });

  it.each([
    ['a field that depends on more than its source', {}, '{ page { value } }', ''],
    ['a root field that names no source object', FROM_SOURCE, '{ clock { value } }', ''],
    ['variables that are too long', FROM_SOURCE, '{ page { value } }', null],
  ])('does not exist for %s', async (_name, extensions, query, key) => {
    const { counts, state, planOf } = countingSchema(extensions);
    const plan = planOf(query);
    await plan?.run(context, noVariables, key);
    state.value = 'b';
    expect(await plan?.run(context, noVariables, key)).toMatch(/"b"/);
    expect(counts.leaves).toBe(2);
  });

  it('shows a new catalog immediately', async () => {
    const graph = await openGraph({ entries: [anEntry('old')] });
    const body = JSON.stringify({ query: CATALOG, variables: { first: 1 } });
    const text = async (): Promise<string> => (await graph.post(body)).text();
    for (let round = 0; round < 3; round += 1) expect(await text()).toMatch(/"old"/);
    graph.replaceCatalog([anEntry('new')]);
    expect(await text()).toMatch(/"new"/);
    await graph.close();
  });

  it('is bounded for each text and in total', () => {
    const texts = new AnswerTexts();
    const basis = {};
    texts.set('long', basis, 'x'.repeat(64 * 1024 + 1));
    expect(texts.get('long', basis)).toBeUndefined();
    for (let index = 0; index < 100; index += 1) texts.set(String(index), basis, 'x'.repeat(64 * 1024));
    // Together the texts may have 4 MiB: the last 64 of 100 texts of 64 KiB.
    expect([35, 36].map((index) => texts.get(String(index), basis)?.length)).toEqual([undefined, 65_536]);
    texts.set('36', basis, 'x');
    expect(texts.get('36', basis)).toBe('x');
    expect(texts.get('36', {})).toBeUndefined();
  });
});

interface EntriesAnswer {
  readonly data: { readonly catalogEntries: { readonly nodes: readonly object[] } };
}
