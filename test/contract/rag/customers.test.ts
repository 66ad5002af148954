import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type StoreServer, startStoreServer } from '../vector-stores/store-server.ts';

let server: StoreServer;
let key: string;
let store: string;
let allowed: string;

beforeAll(async () => {
  server = await startStoreServer();
  key = await server.newKey();
  store = await server.newStore();
  allowed = await server.newStore();
  const customers: readonly Json[] = [
    { user_id: 'blocked', blocked: true },
    { user_id: 'limited', object_permission: { vector_stores: [allowed] } },
    { user_id: 'slow', rpm_limit: 0 },
  ];
  for (const customer of customers) {
    const { rpm_limit, ...members } = customer;
    if (rpm_limit !== undefined) await server.ask('POST', '/budget/new', { budget_id: 'none', rpm_limit });
    const budget = rpm_limit === undefined ? {} : { budget_id: 'none' };
    await server.ask('POST', '/customer/new', { ...members, ...budget });
  }
});
afterAll(() => server.stop());

const ingestBody = (storeId: string | null, more: Json = {}): Json => ({
  file: { filename: 'a.txt', content: Buffer.from('a text').toString('base64') },
  ingest_options: { vector_store: { custom_llm_provider: 'openai', ...(storeId && { vector_store_id: storeId }) } },
  ...more,
});
const queryBody = (storeId: string, more: Json = {}): Json => ({
  model: 'assistant',
  messages: [{ role: 'user', content: 'what is it?' }],
  retrieval_config: { vector_store_id: storeId },
  ...more,
});

async function ask(path: string, body: Json, headers: Record<string, string> = {}): Promise<readonly [number, string]> {
  const answer = await fetch(`${server.app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return [answer.status, await answer.text()];
}

/** The same requests for an ingest and for a query. */
const ROUTES = [
  ['/v1/rag/ingest', ingestBody],
  ['/v1/rag/query', queryBody],
] as const;

describe.each(ROUTES)('%s: the customer of a request', (path, bodyOf) => {
  it.each([
    ['user', { user: 'blocked' }, {}],
    ['x-litellm-customer-id', {}, { 'x-litellm-customer-id': 'blocked' }],
  ])('403: is blocked, named by %s', async (_name, members, headers) => {
    const before = server.upstream.received.length;
    const [status, text] = await ask(path, bodyOf(store, members), headers);
    expect([status, text]).toEqual([403, expect.stringContaining('End user=blocked is blocked.') as string]);
    expect(server.upstream.received.length).toBe(before);
  });

  it('403: may not use the vector store', async () => {
    const message = `The user, organization or customer of the call is not allowed to access the vector store ${store}.`;
    const [status, text] = await ask(path, bodyOf(store, { user: 'limited' }));
    expect([status, text]).toEqual([403, expect.stringContaining(message) as string]);
    expect((await ask(path, bodyOf(allowed, { user: 'limited' })))[0]).toBe(200);
  });

  it('429: has used up its requests of the minute', async () => {
    expect((await ask(path, bodyOf(store, { user: 'slow' })))[0]).toBe(429);
  });
});

it('/v1/rag/ingest as a form: the customer of the part `request` counts', async () => {
  const form = new FormData();
  form.append('request', JSON.stringify(ingestBody(null, { user: 'blocked' })));
  form.append('file', new Blob(['a text']), 'a.txt');
  const answer = await fetch(`${server.app.url}/v1/rag/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  expect([answer.status, await answer.text()]).toEqual([
    403,
    expect.stringContaining('End user=blocked is blocked.') as string,
  ]);
});
