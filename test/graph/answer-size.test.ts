import { afterEach, describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import { MAX_ANSWER_BYTES } from '../../src/graphql/answers.ts';
import { aSpan, TEAM_KEY } from '../ports/samples.ts';
import { anEntry, eventually, openGraph, scriptedGateway } from './graph-server.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer sk-admin' };
const MESSAGE = `The answer has more than ${MAX_ANSWER_BYTES} bytes. Ask for less at once.`;
const REFUSAL = { errors: [{ message: MESSAGE, extensions: { code: 'TOO_LARGE' } }] };

/** Characters that JSON escapes, and characters of two and four bytes. */
const TEXT = 'é"\\\n\u0001🌍 plain ';

/** Query with aliases of one text of a catalog entry. The answer has about `bytes` bytes. */
function queryOf(bytes: number, text: string): string {
  // Alias, member name and punctuation take about 16 bytes around each text.
  const count = Math.ceil(bytes / (Buffer.byteLength(JSON.stringify(text)) + 16));
  return `{ catalogEntry(id: "large") { ${Array.from({ length: count }, (_, index) => `a${index}: extraFields`).join(' ')} } }`;
}

const entryWith = (text: string) => anEntry('large', { text });

/** Results in the `next` events of a stream. */
const resultsIn = (text: string): unknown[] =>
  [...text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown);

type Transport = (query: string) => Promise<unknown>;

const overHttp =
  (path: string, accept: string): Transport =>
  async (query) => {
    const answer = await fetch(graph.url.replace('/graphql', path), {
      method: 'POST',
      body: JSON.stringify({ query }),
      headers: { ...HEADERS, accept },
    });
    const text = await answer.text();
    return accept === 'text/event-stream' ? resultsIn(text)[0] : JSON.parse(text);
  };

/** Runs the query over a stream of the single connection mode. */
const overOneStream: Transport = async (query) => {
  const token = await (await fetch(`${graph.url}/stream`, { method: 'PUT', headers: HEADERS })).text();
  const leaving = new AbortController();
  const stream = await fetch(`${graph.url}/stream?token=${token}`, {
    headers: { accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  const headers = { ...HEADERS, 'x-graphql-event-stream-token': token };
  await fetch(`${graph.url}/stream`, {
    method: 'POST',
    body: JSON.stringify({ query, extensions: { operationId: 'one' } }),
    headers,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream.body ?? []) {
    chunks.push(chunk);
    if (Buffer.from(chunk).includes('event: complete')) break;
  }
  leaving.abort();
  const [result] = resultsIn(Buffer.concat(chunks).toString()) as { readonly id: string; readonly payload: unknown }[];
  return result?.id === 'one' ? result.payload : undefined;
};

const TRANSPORTS: readonly (readonly [string, Transport])[] = [
  ['/graphql', overHttp('/graphql', 'application/json')],
  ['/graphql as application/graphql-response+json', overHttp('/graphql', 'application/graphql-response+json')],
  ['/graphql as events', overHttp('/graphql', 'text/event-stream')],
  ['/graphql/stream', overHttp('/graphql/stream', 'text/event-stream')],
  ['/graphql/stream in the single connection mode', overOneStream],
];

describe('a large answer', () => {
  it.each(TRANSPORTS)('is complete below the limit, over %s', async (_name, ask) => {
    const text = TEXT.repeat(3_000);
    graph = await openGraph({ entries: [entryWith(text)] });
    const answer = (await ask(queryOf(MAX_ANSWER_BYTES - 200_000, text))) as {
      readonly data: { readonly catalogEntry: Readonly<Record<string, { readonly text: string }>> };
      readonly errors?: unknown;
    };
    expect(answer.errors).toBeUndefined();
    const texts = Object.values(answer.data.catalogEntry);
    expect(texts.length).toBeGreaterThan(50);
    expect(texts.filter((value) => value.text !== text)).toEqual([]);
  });

  it.each(TRANSPORTS)('is an error above the limit, and never partial, over %s', async (_name, ask) => {
    const text = TEXT.repeat(3_000);
    graph = await openGraph({ entries: [entryWith(text)] });
    expect(await ask(queryOf(MAX_ANSWER_BYTES + 200_000, text))).toEqual(REFUSAL);
  });

  it('contains both its data and its errors', async () => {
    const text = 'x'.repeat(300_000);
    graph = await openGraph({ entries: [entryWith(text)] });
    const query = `{ catalogEntry(id: "large") { extraFields } priceHistory(entryId: "large", from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z") { priceUsd } }`;
    const answer = await graph.post(JSON.stringify({ query }), HEADERS);
    expect(await answer.json()).toMatchObject({
      data: { catalogEntry: { extraFields: { text } }, priceHistory: null },
      errors: [{ path: ['priceHistory'], extensions: { code: 'INVALID_INPUT' } }],
    });
  });
});

describe('a mutation', () => {
  async function chatOf(characters: number): Promise<unknown> {
    async function* deltas(): AsyncIterableIterator<ChatDelta> {
      yield { kind: 'text', text: 'x'.repeat(characters) };
    }
    graph = await openGraph({ gateway: scriptedGateway(deltas) });
    const input = { model: 'demo', messages: [{ role: 'USER', content: 'Hello' }] };
    const query = 'mutation($input: ChatInput!) { chat(input: $input) { ... on ChatCompletion { text } } }';
    const answer = await graph.post(JSON.stringify({ query, variables: { input } }), HEADERS);
    return await answer.json();
  }

  it('with a result below the limit is complete', async () => {
    // The JSON around the text has fewer than 100 bytes.
    const characters = MAX_ANSWER_BYTES - 100;
    expect(await chatOf(characters)).toEqual({ data: { chat: { text: 'x'.repeat(characters) } } });
  });

  it('with a result above the limit is an error', async () => {
    expect(await chatOf(MAX_ANSWER_BYTES)).toEqual(REFUSAL);
  });
});

describe('an event of a subscription', () => {
  const QUERY = `subscription { traceUpdates { trace { ${Array.from({ length: 30 }, (_, index) => `s${index}: spans(first: 100) { nodes { spanId name agent service error } }`).join(' ')} } } }`;
  const largeSpans = (repeats: number): readonly Span[] =>
    Array.from({ length: 100 }, (_, index) =>
      aSpan({ spanId: (index + 1).toString(16).padStart(16, '0'), name: TEXT.repeat(repeats) }),
    );

  async function firstEvent(path: string, spans: readonly Span[]): Promise<unknown> {
    const leaving = new AbortController();
    const stream = await fetch(graph.url.replace('/graphql', path), {
      method: 'POST',
      body: JSON.stringify({ query: QUERY }),
      headers: { ...HEADERS, accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    await eventually(() => graph.bus.subscriberCount() === 1, 'the subscription began');
    await graph.ingest(TEAM_KEY, ...spans);
    const chunks: Uint8Array[] = [];
    let results: unknown[] = [];
    for await (const chunk of stream.body ?? []) {
      chunks.push(chunk);
      if (!Buffer.from(chunk).toString().endsWith('\n\n')) continue;
      results = resultsIn(Buffer.concat(chunks).toString());
      if (results.length > 0) break;
    }
    leaving.abort();
    return results[0];
  }

  it.each(['/graphql', '/graphql/stream'])('is complete below the limit, over %s', async (path) => {
    graph = await openGraph();
    const event = (await firstEvent(path, largeSpans(100))) as {
      readonly data: {
        readonly traceUpdates: { readonly trace: Readonly<Record<string, { readonly nodes: readonly object[] }>> };
      };
    };
    const lists = Object.values(event.data.traceUpdates.trace).map(({ nodes }) => nodes);
    expect(lists.map(({ length }) => length)).toEqual(Array.from({ length: 30 }, () => 100));
    expect(lists[29]?.[99]).toMatchObject({ name: TEXT.repeat(100) });
  });

  it.each(['/graphql', '/graphql/stream'])('is an error above the limit, over %s', async (path) => {
    graph = await openGraph();
    expect(await firstEvent(path, largeSpans(300))).toEqual(REFUSAL);
  });
});

describe('an answer', () => {
  it('is an error when its lists yield more than 500,000 fields', async () => {
    graph = await openGraph({ entries: Array.from({ length: 600 }, (_, index) => anEntry(`azure/r${index}/gpt-4o`)) });
    // 200 lists of 600 offers. An offer counts as five fields: four selected ones, and one for the offer itself.
    const lists = Array.from(
      { length: 200 },
      (_, index) => `s${index}: offers { a: entryId b: provider c: mode d: maxTokens }`,
    );
    const query = `{ model(name: "gpt-4o") { ${lists.join(' ')} } }`;
    const answer = await graph.post(JSON.stringify({ query }), HEADERS);
    expect(await answer.json()).toEqual({
      errors: [
        {
          message: 'The lists of the answer yield more than 500000 fields. Ask for less at once.',
          extensions: { code: 'TOO_LARGE' },
        },
      ],
    });
  });

  it('lists at most 20 errors, then the number of further errors', async () => {
    graph = await openGraph();
    const fields = Array.from({ length: 50 }, (_, index) => `s${index}: span(traceId: "x", spanId: "x") { name }`);
    const answer = await graph.post(JSON.stringify({ query: `{ ${fields.join(' ')} }` }), HEADERS);
    const { errors } = (await answer.json()) as { errors: { message: string }[] };
    expect([errors.length, errors.at(-1)?.message]).toEqual([21, '30 further errors are not listed.']);
  });
});
