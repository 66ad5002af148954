import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type StoreServer, startStoreServer } from './store-server.ts';

let server: StoreServer;
let store: string;
/** Keys: of the team that owns the store, without a team, and of this team with a list of another store. */
let member: string;
let stranger: string;
let limited: string;

beforeAll(async () => {
  server = await startStoreServer();
  member = await server.newKey({ team_id: await server.newTeam('owners') });
  stranger = await server.newKey();
  limited = await server.newKey({ team_id: 'owners', object_permission: { vector_stores: ['vs_other'] } });
  store = await server.newStore(member);
});
afterAll(() => server.stop());

const search = (id: string) => ({ type: 'file_search', vector_store_ids: [id] });

/** Requests that name a store in the path (as `STORE`) or in the body. */
const REQUESTS: readonly (readonly [title: string, method: string, path: string, body: (id: string) => Json])[] = [
  ['a tool of a response', 'POST', '/v1/responses', (id) => ({ model: 'assistant', input: 'x', tools: [search(id)] })],
  [
    'a tool of a chat completion',
    'POST',
    '/v1/chat/completions',
    (id) => ({ model: 'assistant', messages: [{ role: 'user', content: 'x' }], tools: [search(id)] }),
  ],
  ['a forwarded response', 'POST', '/openai/v1/responses', (id) => ({ model: 'gpt', input: 'x', tools: [search(id)] })],
  [
    'resources of a forwarded assistant',
    'POST',
    '/openai/v1/assistants',
    (id) => ({ model: 'gpt', tool_resources: { file_search: { vector_store_ids: [id] } } }),
  ],
  ['a forwarded search', 'POST', '/openai/v1/vector_stores/STORE/search', () => ({ query: 'q' })],
  ['an encoded path', 'POST', '/openai/v1/vector%5Fstores/STORE/search', () => ({ query: 'q' })],
  ['a path with an encoded slash', 'POST', '/openai/v1/vector_stores%2FSTORE/search', () => ({ query: 'q' })],
  [
    'a path with an encoded slash after the id',
    'POST',
    '/openai/v1/vector_stores/STORE%2Fsearch',
    () => ({ query: 'q' }),
  ],
  ['a path that is encoded twice', 'POST', '/openai/v1/vector_stores%252FSTORE/search', () => ({ query: 'q' })],
  ['a path with parameters', 'POST', '/openai/v1/vector_stores;a/STORE;b/search', () => ({ query: 'q' })],
  ['a path in upper case', 'POST', '/openai/v1/Vector_Stores/STORE/search', () => ({ query: 'q' })],
  ['a provider path with another prefix', 'POST', '/openai_passthrough/v1/vector_stores/STORE', () => ({ name: 'n' })],
];

/** Whether a request for the store is refused because the key may not access it. */
const isRefused = async (method: string, path: string, body: (id: string) => Json, key: string): Promise<boolean> => {
  const [status, answer] = await server.ask(method, path.replace('STORE', store), JSON.stringify(body(store)), key);
  return status === 403 && JSON.stringify(answer).includes(`not allowed to access the vector store ${store}.`);
};

describe('vector stores that requests for other APIs name', () => {
  it.each(REQUESTS)('403 for %s only without the right to the store', async (...row) => {
    const [, method, path, body] = row;
    expect(await isRefused(method, path, body, stranger)).toBe(true);
    expect(await isRefused(method, path, body, limited)).toBe(true);
    expect(await isRefused(method, path, body, member)).toBe(false);
    expect(await isRefused(method, path, body, server.app.adminKey)).toBe(false);
  });

  it('403 for a batch file with a request for a store, only without the right to the store', async () => {
    const upload = async (key: string): Promise<readonly [number, string]> => {
      const body = { model: 'assistant', input: 'x', tools: [search(store)] };
      const line = { custom_id: 'a', method: 'POST', url: '/v1/responses', body };
      const form = new FormData();
      form.append('purpose', 'batch');
      form.append('file', new Blob([JSON.stringify(line)]), 'a.jsonl');
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${server.app.url}/v1/files`, { method: 'POST', headers, body: form });
      return [answer.status, await answer.text()];
    };
    const sent = server.upstream.received.length;
    for (const key of [stranger, limited]) {
      // oxlint-disable-next-line no-await-in-loop -- one key after another
      expect(await upload(key)).toEqual([403, expect.stringContaining(`the vector store ${store}.`)]);
    }
    expect(server.upstream.received.length).toBe(sent);
    expect((await upload(member))[0]).not.toBe(403);
  });

  it('403 for a store behind which the path has an encoded query, and no long check of many semicolons', async () => {
    expect(await isRefused('POST', `/openai/v1/vector_stores/${store}%3Fa/search`, () => ({}), stranger)).toBe(true);
    const startedMs = performance.now();
    await server.ask('GET', `/openai/v1/${';'.repeat(12_000)}%0Ax`, undefined, stranger);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it('400 and 404 for an id with a slash: the gateway serves no path in an id', async () => {
    const ask = (path: string, key: string) => server.ask('GET', `/v1/vector_stores${path}`, undefined, key);
    const sent = server.upstream.received.length;
    expect((await ask(`%2F${store}`, member))[0]).toBe(404);
    expect((await ask(`/${store}%2Ffiles`, member))[0]).toBe(404);
    const refused = [400, { error: expect.objectContaining({ message: 'An id in the path has a slash.' }) as Json }];
    expect(await ask(`/${store}%2Ffiles`, server.app.adminKey)).toEqual(refused);
    expect(await ask(`/${store}/files/a%2Fcontent`, member)).toEqual(refused);
    expect(await ask(`/${store}/file_batches/a%2Fcancel`, member)).toEqual(refused);
    expect(server.upstream.received.length).toBe(sent);
  });

  it('no 403 for an unregistered store, unless the key has a list without the store', async () => {
    const body = () => ({ model: 'gpt', input: 'x', tools: [search('vs_unregistered')] });
    const [open] = await server.ask('POST', '/openai/v1/responses', JSON.stringify(body()), stranger);
    expect(open).not.toBe(403);
    const [status, answer] = await server.ask('POST', '/openai/v1/responses', JSON.stringify(body()), limited);
    expect([status, JSON.stringify(answer)]).toEqual([403, expect.stringContaining('vs_unregistered')]);
  });
});
