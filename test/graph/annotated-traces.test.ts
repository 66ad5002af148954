import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  AnnotatedSessionsDocument,
  AnnotatedSpansDocument,
  AnnotatedTracesDocument,
  type AnnotationFilter,
  AnnotateTraceDocument,
  type AnnotateTraceInput,
  type TypedDocumentString,
} from './generated/graphql.ts';

let app: TestApp;
const keys = new Map<string, string>();
beforeAll(async () => {
  app = await startApp();
  for (const [name, draft] of Object.entries({
    sender: { team_id: 'team-1', user_id: 'ann' },
    teammate: { team_id: 'team-1', user_id: 'ben' },
    stranger: { team_id: 'team-2' },
    withoutTeam: {},
  })) {
    const { key }: { readonly key: string } = await (await app.call('POST', '/key/generate', draft)).json();
    keys.set(name, key);
  }
  keys.set('admin', app.adminKey);
  await send('sender', 'one', 'two', 'three', 'four');
  await send('stranger', 'foreign');
  await annotate('sender', 'one', { name: 'quality', label: 'bad', score: 0.1 });
  await annotate('sender', 'two', { name: 'quality', label: 'good', score: 0.9 });
  await annotate('teammate', 'two', { name: 'toxic', annotatorKind: 'LLM', label: 'no', score: 0 });
  await annotate('teammate', 'three', { name: 'toxic', annotatorKind: 'LLM', label: 'yes', score: 1, spanId: SPAN });
  await annotate('stranger', 'foreign', { name: 'quality', label: 'bad', score: 0.1 });
});
afterAll(() => app.stop());

const authorizationOf = (who: string): Record<string, string> => ({ authorization: `Bearer ${keys.get(who)}` });

interface Answer<Data> {
  readonly data: Data | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

const post = async (who: string, body: object): Promise<Answer<never>> =>
  (await app.call('POST', '/graphql', body, authorizationOf(who))).json() as Promise<Answer<never>>;

const ask = <Data, Variables>(
  who: string,
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Answer<Data>> => post(who, { query: document.toString(), variables });

const SPAN = '1'.repeat(16);
const FROM = new Date(Date.now() - 3_600_000);
const idOf = (name: string): string => Buffer.from(name.padEnd(16, '-')).toString('hex');
let sentTraces = 0;

/** Sends one trace for each name, with one agent span. The traces start one second apart. */
async function send(who: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    sentTraces += 1;
    const start = BigInt(FROM.getTime() + sentTraces * 1_000) * 1_000_000n;
    const texts = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'triage', 'session.id': 'chat' };
    const span = {
      traceId: idOf(name),
      spanId: SPAN,
      name,
      startTimeUnixNano: String(start),
      endTimeUnixNano: String(start + 1_000_000n),
      attributes: Object.entries(texts).map(([key, text]) => ({ key, value: { stringValue: text } })),
    };
    const answer = await app.call(
      'POST',
      '/v1/traces',
      { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] },
      authorizationOf(who),
    );
    expect(answer.status).toBe(200);
  }
}

type Judgement = Omit<AnnotateTraceInput, 'traceId' | 'annotatorKind'> & Partial<AnnotateTraceInput>;

async function annotate(who: string, name: string, judgement: Judgement): Promise<void> {
  const input = { annotatorKind: 'HUMAN' as const, ...judgement, traceId: idOf(name) };
  const { data } = await ask(who, AnnotateTraceDocument, { input });
  expect(data?.annotateTrace).toMatchObject({ __typename: 'Annotation' });
}

/** Names of the traces with a matching annotation, or the code of the error. */
const find = async (who: string, annotation: AnnotationFilter, otherFilters: object = {}) => {
  const search = { from: FROM.toISOString(), filter: { annotation, ...otherFilters } };
  const answer = await ask(who, AnnotatedTracesDocument, search);
  return answer.data?.traces.nodes.map(({ name }) => name) ?? answer.errors?.[0]?.extensions.code;
};

describe('traces by annotation', () => {
  it.each<[AnnotationFilter, readonly string[]]>([
    [{}, ['three', 'two', 'one']],
    [{ name: 'quality' }, ['two', 'one']],
    [{ name: 'quality', label: 'bad' }, ['one']],
    [{ name: 'toxic', annotatorKind: 'LLM' }, ['three', 'two']],
    [{ author: 'ben' }, ['three', 'two']],
    [{ minScore: 0.9 }, ['three', 'two']],
    [{ maxScore: 0.1 }, ['two', 'one']],
    [{ name: 'toxic', minScore: 0.5 }, ['three']],
    [{ spanId: SPAN }, ['three']],
    [{ traceId: idOf('two') }, ['two']],
    [{ name: 'quality', author: 'ben' }, []],
    [{ from: '2999-01-01T00:00:00Z' }, []],
    [{ to: '0000-01-01T00:00:00Z' }, []],
  ])('%j finds %j', async (annotation, names) => {
    expect(await find('sender', annotation)).toEqual(names);
  });

  it('include only traces that the key may read: those of its team, or all for an administrator', async () => {
    expect(await find('teammate', { name: 'quality' })).toEqual(['two', 'one']);
    expect(await find('stranger', { label: 'bad' })).toEqual(['foreign']);
    expect(await find('stranger', { traceId: idOf('one') })).toEqual([]);
    expect(await find('stranger', { author: 'ann' })).toEqual([]);
    expect(await find('withoutTeam', {})).toEqual([]);
    expect(await find('admin', { label: 'bad' })).toEqual(['foreign', 'one']);
    expect(await find('admin', { label: 'bad' }, { teamId: 'team-2' })).toEqual(['foreign']);
    expect(await find('stranger', { label: 'bad' }, { teamId: 'team-1' })).toEqual([]);
  });

  it('are counted and paged; a cursor contains its search and is refused with another search', async () => {
    // The agent name `triage` of every trace contains the text `T`: case does not matter.
    const search = {
      from: FROM.toISOString(),
      filter: { annotation: { minScore: 0, to: '2999-01-01T00:00:00Z' }, text: 'T' },
      orderBy: { field: 'DURATION' as const, direction: 'DESC' as const },
      first: 1,
    };
    const first = (await ask('sender', AnnotatedTracesDocument, search)).data?.traces;
    expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    const names = [...(first?.nodes ?? [])].map(({ name }) => name);
    for (let after = first?.pageInfo.endCursor; after;) {
      const page = (await ask('sender', AnnotatedTracesDocument, { first: 1, after })).data?.traces;
      names.push(...(page?.nodes ?? []).map(({ name }) => name));
      after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    }
    expect(new Set(names)).toEqual(new Set(['one', 'three', 'two']));
    expect(names).toHaveLength(3);
    const otherSearch = {
      ...search,
      after: first?.pageInfo.endCursor ?? null,
      filter: { annotation: { minScore: 1 } },
    };
    expect((await ask('sender', AnnotatedTracesDocument, otherSearch)).errors?.[0]).toMatchObject({
      message: 'The cursor belongs to another search.',
      extensions: { code: 'INVALID_INPUT' },
    });
  });

  it('are the only traces in sessions, agents and series with the same filter', async () => {
    const search = { from: FROM.toISOString(), filter: { annotation: { name: 'toxic' } } };
    expect((await ask('sender', AnnotatedSessionsDocument, search)).data).toEqual({
      sessions: {
        totalCount: 1,
        nodes: [{ sessionId: 'chat', traces: { nodes: [{ name: 'three' }, { name: 'two' }] } }],
      },
      agents: [{ name: 'triage', traceCount: 2 }],
      traceSeries: [{ traceCount: 2 }],
    });
  });

  it('are not shown to another caller with the cursor of an administrator', async () => {
    const search = { from: FROM.toISOString(), filter: { annotation: { name: 'quality' } }, first: 1 };
    const after = (await ask('admin', AnnotatedTracesDocument, search)).data?.traces.pageInfo.endCursor ?? null;
    // The cursor is after `foreign`, the only matching trace of the stranger.
    const { data } = await ask('stranger', AnnotatedTracesDocument, { after });
    expect(data?.traces).toMatchObject({ totalCount: 1, nodes: [] });
  });
});

describe('annotated spans', () => {
  it('are the spans of the matching annotations; null for an annotation of a whole trace', async () => {
    const filter = { name: 'toxic' };
    expect((await ask('sender', AnnotatedSpansDocument, { filter })).data?.annotations).toEqual({
      totalCount: 2,
      nodes: [{ span: { spanId: SPAN, name: 'three', annotations: [{ name: 'toxic' }] } }, { span: null }],
    });
    expect((await ask('stranger', AnnotatedSpansDocument, { filter })).data?.annotations.nodes).toEqual([]);
  });
});

const QUERY = AnnotatedTracesDocument.toString();
const from = FROM.toISOString();

describe('a hostile filter of annotations', () => {
  it.each<[unknown, string]>([
    [{ minScore: '0.5' }, 'GRAPHQL_VALIDATION_FAILED'],
    [{ minScore: [1] }, 'GRAPHQL_VALIDATION_FAILED'],
    [{ annotatorKind: 'ROBOT' }, 'GRAPHQL_VALIDATION_FAILED'],
    [{ from: 'yesterday' }, 'GRAPHQL_VALIDATION_FAILED'],
    [{ score: 1 }, 'GRAPHQL_VALIDATION_FAILED'],
    ['quality', 'GRAPHQL_VALIDATION_FAILED'],
    [[{}, {}], 'GRAPHQL_VALIDATION_FAILED'],
    [{ name: { $ne: '' } }, 'GRAPHQL_VALIDATION_FAILED'],
  ])('%j is refused', async (annotation, code) => {
    const answer = await post('sender', { query: QUERY, variables: { from, filter: { annotation } } });
    expect(answer.errors?.[0]?.extensions.code).toBe(code);
  });

  it.each<AnnotationFilter>([
    { name: "x' or '1'='1" },
    { name: '%' },
    { name: '\0' },
    { label: '\ud800' },
    { name: 'x'.repeat(500_000) },
    { traceId: 'not an id' },
    { spanId: 'U3Bhbjo=' },
    { traceId: Buffer.from('Trace:').toString('base64') },
    { author: Buffer.from('VirtualKey:x').toString('base64') },
    { minScore: 1e308, maxScore: -1e308 },
    { minScore: 5e-324, maxScore: 5e-324 },
  ])('finds nothing (case %#)', async (annotation) => {
    expect(await find('sender', annotation)).toEqual([]);
  });

  it('is refused in a cursor', async () => {
    const first = await ask('admin', AnnotatedTracesDocument, { from, filter: { annotation: {} }, first: 1 });
    const cursor = first.data?.traces.pageInfo.endCursor ?? '';
    // Value 3 of a cursor is a JSON list of filters. The last one is the annotation filter, a list of 10 values.
    const state = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const filters = JSON.parse(String(state[3])) as unknown[];
    const emptyFilter = filters.at(-1) as unknown[];
    expect(emptyFilter).toHaveLength(10);
    const withFilter = (hostile: unknown) =>
      Buffer.from(JSON.stringify(state.with(3, JSON.stringify([...filters.slice(0, -1), hostile])))).toString(
        'base64url',
      );
    const withMember = (index: number, value: unknown) => emptyFilter.with(index, value);
    for (const hostile of [
      'x',
      {},
      [],
      [...emptyFilter, null],
      withMember(2, { a: 1 }),
      withMember(3, 'robot'),
      withMember(6, '1'),
      withMember(8, 1.5),
      withMember(9, 1e300),
    ]) {
      const answer = await ask('sender', AnnotatedTracesDocument, { after: withFilter(hostile) });
      expect(answer.errors?.[0]).toMatchObject({ message: 'Invalid cursor.', extensions: { code: 'INVALID_INPUT' } });
    }
    // Values 8 and 9 are the bounds of the creation time. The first and last time of a JavaScript date are outside the
    // range of the database. A filter with both matches every annotation.
    const after = withFilter(emptyFilter.with(8, -8.64e15).with(9, 8.64e15));
    expect((await ask('admin', AnnotatedTracesDocument, { after })).data?.traces.totalCount).toBe(4);
  });

  it('is not supported for traceUpdates', async () => {
    const query = 'subscription { traceUpdates(filter: { annotation: { name: "quality" } }) { cursor } }';
    const answer = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { ...authorizationOf('sender'), 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
    });
    expect(await answer.text()).toContain('"code":"UNSUPPORTED"');
  });
});
