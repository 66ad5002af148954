import { ApolloClient, gql as apolloDocument, HttpLink, InMemoryCache } from '@apollo/client';
import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, fetchExchange, gql as urqlDocument } from '@urql/core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment, type RequestParameters, fetchQuery, Network, RecordSource, Store } from 'relay-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSpan, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { traceRefOf } from '../support/memory-trace-store.ts';
import { openGraph } from './graph-server.ts';

const HEADERS = { authorization: 'Bearer sk-admin' };
const SPAN = Buffer.from(`Span:${traceId(1)}:${spanId(1)}:${traceRefOf(TEAM_KEY, traceId(1))}`).toString('base64');

const TRACE = `query Trace($id: ID!) {
  trace(id: $id) { __typename id name spans { nodes { __typename id name parent { __typename id name } } } }
}`;
const NODE = 'query Node($id: ID!) { node(id: $id) { __typename id ... on Span { name status } } }';

let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  graph = await openGraph();
  await graph.ingest(
    TEAM_KEY,
    aSpan({ name: 'root', status: 'error' }),
    aSpan({ spanId: spanId(2), parentSpanId: spanId(1), name: 'below' }),
  );
});
afterEach(() => graph.close());

describe("Apollo's cache", () => {
  it('keeps one object per global id, and merges the fields of a refetch by node', async () => {
    const cache = new InMemoryCache();
    const link = new HttpLink({ uri: graph.url, headers: HEADERS });
    const client = new ApolloClient({ cache, link });
    await client.query({ query: apolloDocument(TRACE), variables: { id: traceId(1) } });
    await client.query({ query: apolloDocument(NODE), variables: { id: SPAN } });
    const stored = cache.extract() as Readonly<Record<string, unknown>>;
    expect(Object.keys(stored).filter((name) => name.startsWith('Span:'))).toHaveLength(2);
    expect(stored[`Span:${SPAN}`]).toMatchObject({ id: SPAN, name: 'root', status: 'ERROR' });
    client.stop();
  });
});

describe("urql's graphcache", () => {
  it('answers an object from the cache after it was read as part of another object', async () => {
    const client = new Client({
      url: graph.url,
      preferGetMethod: false,
      exchanges: [
        cacheExchange({
          resolvers: { Query: { node: (_parent, { id }) => ({ __typename: 'Span', id: id as string }) } },
        }),
        fetchExchange,
      ],
      fetchOptions: { headers: HEADERS },
    });
    await client.query(urqlDocument(TRACE), { id: traceId(1) }).toPromise();
    const nameQuery = urqlDocument('query Name($id: ID!) { node(id: $id) { __typename id ... on Span { name } } }');
    const cached = await client.query(nameQuery, { id: SPAN }, { requestPolicy: 'cache-only' }).toPromise();
    expect(cached.data).toMatchObject({ node: { id: SPAN, name: 'root' } });
    const whole = await client.query(urqlDocument(NODE), { id: SPAN }).toPromise();
    expect(whole.data).toMatchObject({ node: { id: SPAN, name: 'root', status: 'ERROR' } });
  });
});

describe("Relay's @refetchable", () => {
  /** Compiled by relay-compiler 21.0.1 from a fragment on Trace with `@refetchable`. */
  const query = JSON.parse(readFileSync(join(import.meta.dirname, 'relay-refetch-query.json'), 'utf8')) as object;

  it('refetches a fragment by the global id of its object, into one record for each id', async () => {
    const store = new Store(new RecordSource());
    const send = async ({ text }: RequestParameters, variables: object): Promise<unknown> =>
      await (await graph.post(JSON.stringify({ query: text, variables }), HEADERS)).json();
    const environment = new Environment({ network: Network.create(send), store });
    const id = Buffer.from(`Trace:${traceId(1)}:${traceRefOf(TEAM_KEY, traceId(1))}`).toString('base64');
    for (const first of [1, 2]) await fetchQuery(environment, query, { id, first }).toPromise();
    const records = store.getSource().toJSON();
    expect(records[id]).toMatchObject({ id, traceId: traceId(1) });
    expect(records[SPAN]).toMatchObject({ id: SPAN, spanId: spanId(1), parent: null });
    const spans = Object.values(records).filter((record) => record['spanId'] !== undefined);
    expect(spans.map((record) => record['spanId'])).toEqual([spanId(1), spanId(2)]);
  });
});
