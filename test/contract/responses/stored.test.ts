import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  hexOf,
  invalid,
  type Json,
  noPrevious,
  refusal,
  type ResponseClient,
  startResponses,
} from './response-client.ts';

let client: ResponseClient;
beforeAll(async () => {
  client = await startResponses();
});
afterAll(() => client.stop());

describe('a response that was translated from a chat completion is stored for its owner', () => {
  it.each(['/v1/responses', '/responses', '/openai/v1/responses'])(
    'responses.get 200: the response as it was created (%s)',
    async (base) => {
      const response = await client.chatAnswer('Hi', {
        input: 'Hello',
        metadata: { a: 'b' },
        instructions: 'Be brief.',
      });
      expect(response).toMatchObject({
        id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
        store: true,
        status: 'completed',
      });
      const callCount = client.upstream.received.length;
      expect(await client.call('GET', `${base}/${response.id}`)).toEqual({ status: 200, body: response });
      expect(client.upstream.received.length).toBe(callCount);
    },
  );

  it('responses.get 200: a streamed response, as soon as its last event has arrived', async () => {
    client.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const delta of [{ role: 'assistant', content: 'H' }, { content: 'i' }])
        response.write(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
      response.write('data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n');
      response.end('data: [DONE]\n\n');
    });
    const streamed = await client.app.call(
      'POST',
      '/v1/responses',
      { model: 'chats', input: 'Hello', stream: true },
      client.key,
    );
    const events = (await streamed.text()).trimEnd().split('\n\n');
    const dataOf = (event = ''): Json => JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)) as Json;
    const [created, completed] = [dataOf(events[0]), dataOf(events.at(-1))];
    expect([created['type'], completed['type']]).toEqual(['response.created', 'response.completed']);
    expect(created['response']).toMatchObject({ store: true, output: [] });
    const response = completed['response'] as Json & { readonly id: string };
    expect(await client.call('GET', `/v1/responses/${response.id}`)).toEqual({ status: 200, body: response });
  });

  it('responses.inputItems 200: all items have ids; they can be read as one list, by page, and in both orders', async () => {
    const input = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Yes?' },
      { id: 'msg_mine', role: 'user', content: [{ type: 'input_text', text: 'The weather.' }] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Rain.' },
    ];
    const { id } = await client.chatAnswer('It rains.', { input });
    const itemId = (kind: string, index: number): string => `${kind}_${hexOf(id)}_i${index}`;
    const items: readonly Json[] = [
      {
        ...input[0],
        id: itemId('msg', 0),
        type: 'message',
        status: 'completed',
        content: [{ type: 'input_text', text: 'Hello' }],
      },
      {
        ...input[1],
        id: itemId('msg', 1),
        type: 'message',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Yes?', annotations: [] }],
      },
      { ...input[2], type: 'message', status: 'completed' },
      { ...input[3], id: itemId('fc', 3), status: 'completed' },
      { ...input[4], id: itemId('fco', 4), status: 'completed' },
    ];
    const list = (query: string) => client.call('GET', `/v1/responses/${id}/input_items${query}`);
    const page = (data: readonly Json[], more: boolean) => ({
      status: 200,
      body: {
        object: 'list',
        data,
        first_id: data[0]?.['id'] ?? null,
        last_id: data.at(-1)?.['id'] ?? null,
        has_more: more,
      },
    });
    expect(await list('?order=asc')).toEqual(page(items, false));
    expect(await list('')).toEqual(page(items.toReversed(), false));
    expect(await list('?order=asc&limit=2')).toEqual(page(items.slice(0, 2), true));
    expect(await list(`?order=asc&limit=2&after=${itemId('msg', 1)}`)).toEqual(page(items.slice(2, 4), true));
    expect(await list(`?order=desc&limit=3&after=${itemId('fc', 3)}`)).toEqual(
      page(items.slice(0, 3).toReversed(), false),
    );
    expect(await list('?after=msg_nothing')).toEqual(page([], false));
  });

  it('responses.delete 200: afterwards the response is 404 and cannot be continued', async () => {
    const { id } = await client.chatAnswer('Hi', { input: 'Hello' });
    expect(await client.call('DELETE', `/v1/responses/${id}`)).toEqual({
      status: 200,
      body: { id, object: 'response', deleted: true },
    });
    const missing = refusal(404, { message: `Response with id '${id}' not found.`, type: 'not_found_error' });
    expect(await client.call('GET', `/v1/responses/${id}`)).toEqual(missing);
    expect(await client.call('DELETE', `/v1/responses/${id}`)).toEqual(missing);
    expect(await client.ask({ model: 'chats', input: 'x', previous_response_id: id })).toEqual(noPrevious(id));
  });

  it('responses.cancel 400: a completed response', async () => {
    const { id } = await client.chatAnswer('Hi', { input: 'Hello' });
    expect(await client.call('POST', `/v1/responses/${id}/cancel`)).toEqual(
      refusal(400, { message: 'Cannot cancel a synchronous response.', type: 'invalid_request_error' }),
    );
  });

  it('responses.inputItems 400: an invalid page size or order', async () => {
    const { id } = await client.chatAnswer('Hi', { input: 'Hello' });
    const list = (query: string) => client.call('GET', `/v1/responses/${id}/input_items${query}`);
    const limit = invalid(
      'limit',
      "/responses: Invalid value for parameter 'limit': it must be a whole number from 1 to 100.",
    );
    for (const query of ['?limit=0', '?limit=101', '?limit=x']) expect(await list(query)).toEqual(limit);
    expect(await list('?order=up')).toEqual(
      invalid('order', "/responses: Invalid value for parameter 'order': it must be 'asc' or 'desc'."),
    );
  });

  it.each([
    ['responses.get', 'GET', ''],
    ['responses.inputItems', 'GET', '/input_items'],
    ['responses.delete', 'DELETE', ''],
    ['responses.cancel', 'POST', '/cancel'],
  ])('%s 404: a response of another owner and an unknown response have the same error', async (_name, method, tail) => {
    const [team, teammate, otherTeam] = await Promise.all([
      client.newKey({ team_id: 'team-1' }),
      client.newKey({ team_id: 'team-1' }),
      client.newKey({ team_id: 'team-2' }),
    ]);
    const own = await client.chatAnswer('Hi', { input: 'Hello' });
    const shared = await client.chatAnswer('Hi', { input: 'Hello' }, team);
    const unknown = `resp_${'0'.repeat(32)}`;
    const missing = (id: string) =>
      refusal(404, { message: `Response with id '${id}' not found.`, type: 'not_found_error' });
    for (const [id, headers] of [
      [own.id, otherTeam],
      [own.id, team],
      [shared.id, otherTeam],
      [shared.id, client.key],
      [unknown, client.key],
    ] as const)
      expect(await client.call(method, `/v1/responses/${id}${tail}`, headers)).toEqual(missing(id));
    for (const [id, headers] of [
      [own.id, { authorization: `Bearer ${client.app.adminKey}` }],
      [shared.id, teammate],
    ] as const)
      // A completed response cannot be cancelled.
      expect((await client.call(method, `/v1/responses/${id}${tail}`, headers)).status).toBe(
        tail === '/cancel' ? 400 : 200,
      );
  });

  it('responses.create 200: a response with store false is not stored, and its answer has store false', async () => {
    const response = await client.chatAnswer('Hi', { input: 'Hello', store: false });
    expect(response['store']).toBe(false);
    expect((await client.call('GET', `/v1/responses/${response.id}`)).status).toBe(404);
  });
});

describe('with store_responses off', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ config: { general_settings: { store_responses: false } } });
  });
  afterAll(() => app.stop());

  it('responses.create 200: the answer has store false, and a header lists a requested `store` as dropped', async () => {
    const withoutStore = await app.call('POST', '/v1/responses', { model: 'demo', input: 'Hello' });
    const withStore = await app.call('POST', '/v1/responses', { model: 'demo', input: 'Hello', store: true });
    const { id, store } = (await withStore.json()) as { readonly id: string; readonly store: boolean };
    expect([
      withoutStore.headers.get('x-gateway-dropped-params'),
      withStore.headers.get('x-gateway-dropped-params'),
    ]).toEqual([null, 'store']);
    expect(store).toBe(false);
    expect((await app.call('GET', `/v1/responses/${id}`)).status).toBe(404);
  });
});

// IDEs append `/chat/completions` to their base URL, also for bodies of the Responses API.
it('a response for an IDE is stored only if the request has store true', async () => {
  client.answerWith({ role: 'assistant', content: 'Hi' });
  const statusAfter = async (body: object): Promise<number> => {
    const answer = await client.app.call(
      'POST',
      '/ide/chat/completions',
      { model: 'chats', input: 'Hello', ...body },
      client.key,
    );
    const { id } = (await answer.json()) as { readonly id: string };
    expect(id).toMatch(/^resp_/);
    return (await client.call('GET', `/v1/responses/${id}`)).status;
  };
  expect([await statusAfter({}), await statusAfter({ store: true })]).toEqual([404, 200]);
});
