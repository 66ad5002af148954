import { afterEach, describe, expect, it } from 'vitest';
import { aSpan, TEAM_KEY } from '../ports/samples.ts';
import { MAX_OPERATIONS } from '../../src/graphql/sse-protocol.ts';
import { TraceUpdatesDocument } from './generated/graphql.ts';
import { eventually, openGraph } from './graph-server.ts';

const JSON_BODY = { 'content-type': 'application/json', authorization: 'Bearer sk-admin' };
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

const streamUrl = (search = ''): string => `${graph.url}/stream${search}`;
const withToken = (token: string) => ({ ...JSON_BODY, 'x-graphql-event-stream-token': token });
const reserve = async (headers: Record<string, string> = {}): Promise<string> =>
  (await fetch(streamUrl(), { method: 'PUT', headers })).text();
const start = (token: string, operationId: string, query: string = TraceUpdatesDocument.toString()) =>
  fetch(streamUrl(), {
    method: 'POST',
    headers: withToken(token),
    body: JSON.stringify({ query, extensions: { operationId } }),
  });

describe('a stream of the single connection mode', () => {
  it('has a random UUID as its token', async () => {
    graph = await openGraph();
    const tokens = await Promise.all([reserve(), reserve()]);
    expect(tokens).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  it.each(['__proto__', 'constructor', 'guess'])('cannot have a token that the client chose: %s', async (token) => {
    graph = await openGraph();
    const reserved = await reserve({ 'x-graphql-event-stream-token': token });
    expect([reserved, (await start(token, '1')).status]).toEqual([expect.stringMatching(UUID), 404]);
    // A reader gets no stream: its request is one of the distinct connections mode, without a query.
    const reader = await fetch(streamUrl(`?token=${token}`), { headers: { accept: 'text/event-stream' } });
    expect(reader.status).toBe(400);
    expect(await reader.text()).toContain('Missing query');
    expect((await start(reserved, '1')).status).toBe(202);
  });

  it('sends events that were published before its reader connected', async () => {
    graph = await openGraph();
    const token = await reserve();
    expect((await start(token, '1')).status).toBe(202);
    expect((await start(token, '1')).status).toBe(409);
    await graph.ingest(TEAM_KEY, aSpan());
    const leaving = new AbortController();
    const stream = await fetch(streamUrl(`?token=${token}`), {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    const reader = stream.body?.getReader();
    let text = '';
    while (!text.includes('"spanCount":1')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(text).toContain('"id":"1"');
    leaving.abort();
    await eventually(() => graph.bus.subscriberCount() === 0, 'the subscription closed');
    expect((await start(token, '2')).status).toBe(404);
  });

  it('refuses an operation above the limit of concurrent operations', async () => {
    graph = await openGraph();
    const token = await reserve();
    const started = await Promise.all(Array.from({ length: MAX_OPERATIONS }, (_, index) => start(token, `o${index}`)));
    expect(new Set(started.map(({ status }) => status))).toEqual(new Set([202]));
    await eventually(() => graph.bus.subscriberCount() === MAX_OPERATIONS, 'all subscriptions began');
    await start(token, 'more');
    const leaving = new AbortController();
    const stream = await fetch(streamUrl(`?token=${token}`), {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    let text = '';
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('event: complete')) break;
    }
    leaving.abort();
    expect(text).toContain(
      '{"id":"more","payload":{"data":null,"errors":[{"message":"This stream already runs 100 operations.","extensions":{"code":"TOO_LARGE"}}]}}',
    );
    await eventually(() => graph.bus.subscriberCount() === 0, 'the subscriptions closed');
  });

  it('reads only a few events of its sources before a reader connects', async () => {
    graph = await openGraph({ queueLimit: 4 });
    const token = await reserve();
    await start(token, '1');
    const [summary] = await graph.ingest(TEAM_KEY, aSpan());
    if (!summary) throw new Error('Nothing was stored.');
    for (let index = 0; index < 1_000; index += 1) {
      graph.bus.publish('trace', { summary });
      await new Promise((resolve) => setImmediate(resolve));
    }
    const leaving = new AbortController();
    const stream = await fetch(streamUrl(`?token=${token}`), {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    let text = '';
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (/"droppedUpdates":[1-9]/.test(text)) break;
    }
    const missed = [...text.matchAll(/"droppedUpdates":(\d+)/g)].map(([, count]) => Number(count));
    // Without a reader, the stream read few events. The queue of 4 events dropped most of the others.
    expect(missed.length).toBeLessThan(30);
    expect(Math.max(...missed)).toBeGreaterThan(900);
    leaving.abort();
  });

  it('is removed when too many newer streams are reserved and none is read', async () => {
    graph = await openGraph();
    const first = await reserve();
    await start(first, '1');
    expect(graph.bus.subscriberCount()).toBe(1);
    // At most 1,000 reserved streams are kept.
    for (let index = 0; index < 1_000; index += 1) await reserve();
    await eventually(() => graph.bus.subscriberCount() === 0, 'the oldest stream removed');
    expect((await start(first, '2')).status).toBe(404);
  });

  it('sends the errors of an invalid operation as its result', async () => {
    graph = await openGraph();
    const token = await reserve();
    expect((await start(token, '1', '{ nope }')).status).toBe(202);
    // The stream then ends, and its whole text can be read.
    graph.transport.close();
    const stream = await fetch(streamUrl(`?token=${token}`), { headers: { accept: 'text/event-stream' } });
    expect(await stream.text()).toContain('Cannot query field \\"nope\\" on type \\"Query\\".');
  });
});

describe('the distinct connections mode', () => {
  it('ends immediately with a reason during a shutdown', async () => {
    graph = await openGraph();
    graph.transport.close();
    const answer = await fetch(streamUrl(), {
      method: 'POST',
      headers: { ...JSON_BODY, accept: 'text/event-stream', authorization: 'Bearer sk-admin' },
      body: JSON.stringify({ query: 'subscription { traceUpdates { droppedUpdates } }' }),
    });
    expect(await answer.text()).toBe(
      ':\n\nevent: next\ndata: {"errors":[{"message":"The process is shutting down.","extensions":{"code":"UNAVAILABLE","retryAfterSeconds":2}}]}\n\nevent: complete\ndata:\n\n',
    );
  });

  it('also runs queries', async () => {
    graph = await openGraph();
    const answer = await fetch(streamUrl(), {
      method: 'POST',
      headers: { ...JSON_BODY, accept: 'text/event-stream' },
      body: JSON.stringify({ query: '{ catalogEntries { totalCount } }' }),
    });
    expect(await answer.text()).toBe(
      ':\n\nevent: next\ndata: {"data":{"catalogEntries":{"totalCount":0}}}\n\nevent: complete\ndata:\n\n',
    );
  });

  it('answers invalid JSON with 400, and a request with neither `accept: text/event-stream` nor a token with 404', async () => {
    graph = await openGraph();
    const invalidJson = await fetch(streamUrl(), {
      method: 'POST',
      headers: { ...JSON_BODY, accept: 'text/event-stream' },
      body: '{"query":',
    });
    const withoutStream = await fetch(streamUrl(), {
      method: 'POST',
      headers: JSON_BODY,
      body: '{"query":"{ __typename }"}',
    });
    expect([invalidJson.status, withoutStream.status]).toEqual([400, 404]);
  });
});
