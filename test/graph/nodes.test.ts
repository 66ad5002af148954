import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aKey, aSpan, aSpendRow, OTHER_TEAM_KEY, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { traceRefOf } from '../support/memory-trace-store.ts';
import { NodeDocument, NodesDocument, SpanNodesDocument, ViewerDocument } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

const idOf = (address: string): string => Buffer.from(address).toString('base64');
const ref = traceRefOf(TEAM_KEY, traceId(1));
const TRACE = idOf(`Trace:${traceId(1)}:${ref}`);
const SPAN = idOf(`Span:${traceId(1)}:${spanId(1)}:${ref}`);
const KEY = idOf(`VirtualKey:${TEAM_KEY.keyHash}`);
const ROW = idOf(`SpendRow:${traceId(1)}:${spanId(1)}`);
/** Ids of objects of team-a, which the key of team-b may not read. */
const FOREIGN = [TRACE, SPAN, KEY, ROW, idOf(`Team:${TEAM_KEY.teamId}`)];

let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  graph = await openGraph({
    entries: [anEntry('openai/gpt-4o')],
    spend: [aSpendRow({ id: 'row', traceId: traceId(1), spanId: spanId(1), ...TEAM_KEY })],
  });
  await graph.addKey(aKey({ hash: TEAM_KEY.keyHash }));
  await graph.ingest(
    TEAM_KEY,
    aSpan({ name: 'root' }),
    aSpan({ spanId: spanId(2), parentSpanId: spanId(1), name: 'below' }),
  );
});
afterEach(() => graph.close());

const nodes = async (ids: readonly string[], key: string | null = 'sk-admin') =>
  await graph.call(NodesDocument, { ids: [...ids] }, key);

describe('node', () => {
  it('reads objects of several types by their global ids', async () => {
    const expected = [
      { __typename: 'Trace', id: TRACE, traceId: traceId(1), spanCount: 2 },
      { __typename: 'Span', id: SPAN, spanId: spanId(1), name: 'root' },
      { __typename: 'VirtualKey', id: KEY, hash: TEAM_KEY.keyHash },
      { __typename: 'SpendRow', id: ROW, gatewayCallId: 'row' },
      { __typename: 'CatalogEntry', id: idOf('CatalogEntry:openai/gpt-4o'), entryId: 'openai/gpt-4o' },
      { __typename: 'Model', id: idOf('Model:gpt-4o'), name: 'gpt-4o' },
      { __typename: 'Team', id: idOf('Team:team-a'), teamId: 'team-a' },
    ];
    for (const node of expected) expect(await graph.call(NodeDocument, { id: node.id })).toEqual({ data: { node } });
    expect(await nodes(expected.map(({ id }) => id))).toEqual({ data: { nodes: expected } });
  });

  it('is null for an object that the caller may not read, and for an object that does not exist', async () => {
    const unknown = [
      idOf(`Trace:${traceId(9)}:${ref}`),
      idOf(`Span:${traceId(1)}:${spanId(9)}:${ref}`),
      idOf(`VirtualKey:${'f'.repeat(64)}`),
      idOf(`SpendRow:${traceId(9)}:${spanId(9)}`),
      idOf('Team:team-z'),
    ];
    const nullNodes = { data: { nodes: [null, null, null, null, null] } };
    expect(await nodes(FOREIGN, 'sk-team-b')).toEqual(nullNodes);
    expect(await nodes(unknown, 'sk-team-b')).toEqual(nullNodes);
    const [ownTrace] = (await nodes([TRACE], 'sk-team-a')).data.nodes;
    expect(ownTrace).toMatchObject({ __typename: 'Trace' });
  });

  it('is null, without an error, for ids of types that only administrators may read', async () => {
    const types = [
      'QuarantinedPrice',
      'Checkout',
      'Credential',
      'StoredDeployment',
      'PassThroughEndpoint',
      'Guardrail',
    ];
    const nullNodes = { data: { nodes: types.map(() => null) } };
    expect(
      await nodes(
        types.map((type) => idOf(`${type}:x`)),
        'sk-team-a',
      ),
    ).toEqual(nullNodes);
  });

  it('fails without a key for each private id, whether the object exists or not', async () => {
    const unknown = idOf(`Trace:${traceId(9)}:${ref}`);
    const { data, errors } = await nodes([TRACE, idOf('Model:gpt-4o'), unknown], null);
    expect(data.nodes.map((node) => node?.id ?? null)).toEqual([null, idOf('Model:gpt-4o'), null]);
    expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED']);
  });

  it.each([
    '',
    'x',
    traceId(1),
    idOf('Trace'),
    idOf('Trace:'),
    idOf(`trace:${traceId(1)}`),
    idOf(`Query:${traceId(1)}`),
    idOf(`TraceBucket:1`),
    idOf(`Trace:${traceId(1)}:`),
    idOf(`Trace:${traceId(1)}:\0`),
    idOf(`Span:${traceId(1)}:${spanId(1)}`),
    idOf('VirtualKey:sk-1234'),
    idOf(`Trace:${'0'.repeat(10_000)}`),
    `${TRACE}=`,
    ` ${TRACE}`,
    '\u{1f600}',
  ])('is null for the malformed id %j', async (id) => {
    expect(await graph.call(NodeDocument, { id })).toEqual({ data: { node: null } });
    expect(graph.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('reads the span of the owner in the id when two keys sent the same span id', async () => {
    await graph.ingest(OTHER_TEAM_KEY, aSpan({ name: 'another' }));
    const otherSpan = idOf(`Span:${traceId(1)}:${spanId(1)}:${traceRefOf(OTHER_TEAM_KEY, traceId(1))}`);
    // A trace id without an owner names the merged trace, here with the span ids 1 and 2.
    const { data } = await nodes([SPAN, otherSpan, idOf(`Trace:${traceId(1)}`)]);
    expect(data.nodes).toMatchObject([{ name: 'root' }, { name: 'another' }, { spanCount: 2 }]);
  });
});

describe('nodes', () => {
  it('needs one read of each kind for many ids', async () => {
    const count = 20;
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    const hashOf = (number: number): string => number.toString(16).padStart(64, '0');
    for (const number of numbers) {
      await graph.addKey(aKey({ hash: hashOf(number) }));
      await graph.ingest(TEAM_KEY, aSpan({ traceId: traceId(number), spanId: spanId(7), parentSpanId: spanId(1) }));
    }
    const spanIds = numbers.map((number) => {
      return idOf(`Span:${traceId(number)}:${spanId(7)}:${traceRefOf(TEAM_KEY, traceId(number))}`);
    });
    const { data, errors } = await graph.call(SpanNodesDocument, { ids: spanIds });
    expect([errors, data.nodes.filter((node) => node !== null).length]).toEqual([undefined, count]);
    expect(graph.reads).toMatchObject({ listSpans: 1, findBySpans: 0 });
    const keyIds = [...numbers.map((number) => idOf(`VirtualKey:${hashOf(number)}`)), KEY, KEY];
    const keys = await nodes(keyIds);
    expect(keys.data.nodes.map((node) => node?.id)).toEqual(keyIds);
    expect(graph.reads.findKeys).toBe(1);
    await nodes(numbers.map((number) => idOf(`SpendRow:${traceId(number)}:${spanId(1)}`)));
    expect(graph.reads.findBySpans).toBe(1);
  });

  it.each([
    ['empty', ''],
    ['no base64', '\u{1F600}'],
    ['long', 'A'.repeat(100_000)],
    ['a type alone', idOf('Trace:')],
    ['too few parts', idOf(`Span:${traceId(1)}`)],
    ['a name of Object.prototype', idOf('constructor:toString')],
    ['an unknown type', idOf('__proto__:x')],
    ['SQL', idOf("VirtualKey:' or 1=1 --")],
  ])('is null for a malformed id: %s', async (_name, id) => {
    expect(await nodes([id, TRACE])).toMatchObject({ data: { nodes: [null, { id: TRACE }] } });
    expect(await graph.call(NodeDocument, { id })).toEqual({ data: { node: null } });
  });

  it('keeps the order of the ids: null for an unknown id, the object again for a repeated id', async () => {
    const { data } = await nodes([SPAN, 'x', TRACE, SPAN]);
    expect(data.nodes.map((node) => node?.id ?? null)).toEqual([SPAN, null, TRACE, SPAN]);
  });

  // At most 100 ids are allowed. 1,000 ids exceed the limit of the cost, which is checked before the number of ids.
  it.each([101, 1_000])('refuses %i ids', async (count) => {
    const { errors } = await nodes(Array.from({ length: count }, () => TRACE));
    expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual([
      count === 101 ? 'INVALID_INPUT' : 'TOO_LARGE',
    ]);
  });
});

describe('viewer', () => {
  it('is the caller, and null without a key', async () => {
    // Keys of the test server are not stored: `keyHash` has role and team, and `key` is null.
    expect(await graph.call(ViewerDocument, {}, 'sk-team-a')).toEqual({
      data: {
        viewer: {
          role: 'INTERNAL_USER',
          keyHash: 'internal_user-team-a',
          key: null,
          team: { teamId: 'team-a' },
          userId: null,
        },
      },
    });
    expect(await graph.call(ViewerDocument, {}, null)).toEqual({ data: { viewer: null } });
  });
});
