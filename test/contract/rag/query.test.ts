import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, NO_KEY, type StoreServer, startStoreServer } from '../vector-stores/store-server.ts';

let server: StoreServer;
let key: string;
let store: string;
beforeAll(async () => {
  server = await startStoreServer();
  key = await server.newKey();
  store = await server.newStore();
  await server.newFile('first text', store);
  await server.newFile('second text', store);
});
afterAll(() => server.stop());

const messages = [
  { role: 'system', content: 's' },
  { role: 'user', content: [{ type: 'text', text: 'what is it?' }] },
];
const queryBody = (more: Json = {}): Json => ({
  model: 'assistant',
  messages,
  retrieval_config: { vector_store_id: store },
  ...more,
});
const ask = (body: Json, sentKey: string | null = key) => server.ask('POST', '/v1/rag/query', body, sentKey);
const detail = (error: string): Json => ({ detail: { error } });

interface Completion {
  readonly choices: readonly [
    { readonly message: { readonly content: string; readonly provider_specific_fields: Json } },
  ];
}

/** Messages that the model got, which it repeats as its answer. */
const messagesIn = (body: unknown): unknown => JSON.parse((body as Completion).choices[0].message.content);
const fieldsIn = (body: unknown): Json => (body as Completion).choices[0].message.provider_specific_fields;

describe('rag.query', () => {
  it('200: the texts of the search come before the last message, and the answer has the results', async () => {
    const [status, body] = await ask(
      queryBody({ retrieval_config: { vector_store_id: store, top_k: 7, retrieval_filter: { type: 'eq' } } }),
    );
    expect(status).toBe(200);
    expect(messagesIn(body)).toEqual([
      messages[0],
      { role: 'user', content: 'Context:\n\nfirst text\n\nsecond text' },
      messages[1],
    ]);
    expect(fieldsIn(body)).toEqual({
      search_results: [
        expect.objectContaining({ object: 'vector_store.search_results.page', search_query: 'what is it?' }) as Json,
      ],
    });
    const search = server.upstream.received.find(({ path }) => path.endsWith(`${store}/search`));
    expect(JSON.parse(search?.body ?? '')).toEqual({
      query: 'what is it?',
      max_num_results: 7,
      filters: { type: 'eq' },
    });
    const chat = server.upstream.received.findLast(({ path }) => path.endsWith('/chat/completions'));
    expect(Object.keys(JSON.parse(chat?.body ?? '') as Json).toSorted()).toEqual(['messages', 'model']);
  });

  it('200: results are reranked', async () => {
    const [status, body] = await ask(queryBody({ rerank: { enabled: true, model: 'ranker', top_n: 1 } }));
    expect(status).toBe(200);
    expect(messagesIn(body)).toMatchObject([{}, { content: 'Context:\n\nsecond text' }, {}]);
    expect(fieldsIn(body)).toMatchObject({ rerank_results: { results: [{ index: 1 }] } });
  });

  it('500: the answer of the rerank model is too large to read', async () => {
    const large = await server.newStore();
    await server.newFile('HUGE_RERANK', large);
    const rerank = { enabled: true, model: 'ranker' };
    const [status, body] = await ask(queryBody({ retrieval_config: { vector_store_id: large }, rerank }));
    expect([status, body]).toEqual([
      500,
      detail('The answer of the rerank model ranker cannot be used: it is no JSON object.'),
    ]);
  });

  it('200: a stream', async () => {
    const answer = await fetch(`${server.app.url}/rag/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(queryBody({ stream: true })),
    });
    expect([answer.status, answer.headers.get('x-accel-buffering')]).toEqual([200, 'no']);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const text = await answer.text();
    expect([text.includes('streamed'), text.trimEnd().endsWith('data: [DONE]')]).toEqual([true, true]);
  });

  it.each([
    [{}, 'model is required'],
    [{ model: 'assistant' }, 'messages is required'],
    [{ model: 'assistant', messages }, 'retrieval_config is required'],
    [{ model: 'assistant', messages, retrieval_config: {} }, 'retrieval_config.vector_store_id is required'],
    [
      { model: 'assistant', messages, retrieval_config: { vector_store_id: 'x', litellm_embedding_model: 'e' } },
      'retrieval_config.litellm_embedding_model is set with the registration of the vector store.',
    ],
  ])('400: %j', async (body, message) => {
    expect(await ask(body)).toEqual([400, detail(message)]);
  });

  it('400: no text to search for, an unknown model, and an account of the caller', async () => {
    expect(await ask(queryBody({ messages: [{ role: 'user', content: [] }] }))).toEqual([
      400,
      detail('The last message has no text to search for.'),
    ]);
    expect((await ask(queryBody({ model: 'nope' }), server.app.adminKey))[0]).toBe(400);
    const config = { vector_store_id: 'vs_nope', api_base: 'http://127.0.0.1:1' };
    expect(await ask(queryBody({ retrieval_config: config }), server.app.adminKey)).toEqual([
      400,
      detail('retrieval_config.api_base is not accepted: register the vector store with its account.'),
    ]);
  });

  it('400: the id of a store with an unpaired surrogate', async () => {
    const retrieval_config = { vector_store_id: '\ud800' };
    expect(await ask(queryBody({ retrieval_config }), server.app.adminKey)).toEqual([
      400,
      detail('An id in the path has an unpaired surrogate.'),
    ]);
  });

  it('200 for a key of the routes of models; 403 for a key of management routes only', async () => {
    const ofModels = await server.newKey({ allowed_routes: ['llm_api_routes'] });
    expect((await ask(queryBody(), ofModels))[0]).toBe(200);
    const ofManagement = await server.newKey({ allowed_routes: ['management_routes'] });
    expect((await ask(queryBody(), ofManagement))[0]).toBe(403);
  });

  it('401: no key', async () => {
    expect(await ask({}, null)).toEqual([401, NO_KEY]);
  });

  it('403: a store that the list of the key does not have', async () => {
    const limited = await server.newKey({ object_permission: { vector_stores: ['vs_other'] } });
    expect(await ask(queryBody(), limited)).toEqual([
      403,
      {
        error: {
          message: `The key is not allowed to access the vector store ${store}.`,
          type: 'key_vector_store_access_denied',
          param: null,
          code: '403',
        },
      },
    ]);
  });

  it('404: a store that is not registered, and one that the provider does not have', async () => {
    const retrieval_config = { vector_store_id: 'vs_nope' };
    expect(await ask(queryBody({ retrieval_config }))).toEqual([404, detail('Vector store with ID vs_nope not found')]);
    expect(await ask(queryBody({ retrieval_config }), server.app.adminKey)).toEqual([
      404,
      detail("No vector store found with id 'vs_nope'."),
    ]);
  });

  it('422: a body that is not JSON', async () => {
    expect((await server.ask('POST', '/v1/rag/query', '{', key))[0]).toBe(422);
  });

  it('500: another failure of the model', async () => {
    const failing = queryBody({ messages: [{ role: 'user', content: 'FAIL_CHAT' }] });
    const [status, body] = await ask(failing);
    expect([status, body]).toEqual([500, detail(expect.stringContaining('The model is a teapot.') as string)]);
  });
});
