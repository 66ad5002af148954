import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aResponse,
  chatStream,
  type Frame,
  idOf,
  openResponses,
  type ResponseSetup,
  type ResponseSocket,
  startResponseSetup,
  streamOf,
} from '../../support/response-socket.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const GATEWAY_ID = /^resp_[0-9a-f]{32}$/;

let setup: ResponseSetup;
beforeAll(async () => {
  setup = await startResponseSetup();
});
afterAll(() => setup.stop());

const openSocket = () => openResponses(setup.app);
const notFound = (id: string, overrides: object = {}): object => ({
  type: 'error',
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'previous_response_not_found',
    message: `Previous response with id '${id}' not found.`,
    param: 'previous_response_id',
    headers: expect.any(Object),
  },
  ...overrides,
});

const assistantMessage = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
/** Sends a turn with `store: false` to the upstream with a Responses API, which answers with this text. */
function sendTurn(client: ResponseSocket, text: string, body: object): Promise<readonly Frame[]> {
  const output = [
    { id: 'rs_up', type: 'reasoning', summary: [] },
    { id: 'msg_up', status: 'completed', ...assistantMessage(text) },
  ];
  setup.streamWith(streamOf(aResponse({ id: `resp_${text}`, output })));
  return client.ask({ model: 'thinker', store: false, ...body });
}

describe('a response that is not stored', () => {
  it('can be continued on its connection: the upstream gets the whole conversation', async () => {
    const client = await openSocket();
    const one = idOf(await sendTurn(client, 'One.', { input: 'Say one.' }));
    const frames = await sendTurn(client, 'Two.', {
      input: [{ role: 'user', content: 'Two?' }],
      previous_response_id: one,
      instructions: 'Be brief.',
    });
    expect(setup.sent()).toEqual({
      model: 'up-2',
      store: false,
      stream: true,
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'user', content: 'Say one.' },
        assistantMessage('One.'),
        { role: 'user', content: 'Two?' },
      ],
    });
    expect(frames.map(({ response }) => (response as Frame)['previous_response_id'])).toEqual([one, one]);
    await sendTurn(client, 'Three.', { input: 'Three?', previous_response_id: idOf(frames) });
    expect(setup.sent()['input']).toEqual([
      { type: 'message', role: 'user', content: 'Say one.' },
      assistantMessage('One.'),
      { role: 'user', content: 'Two?' },
      assistantMessage('Two.'),
      { type: 'message', role: 'user', content: 'Three?' },
    ]);
    client.socket.close();
  });

  it('can be continued by its model over chat completions, and then by another model', async () => {
    const client = await openSocket();
    setup.streamWith(chatStream('One.'));
    const one = await client.ask({ model: 'chats', input: 'Say one.', store: false });
    expect(idOf(one)).toMatch(GATEWAY_ID);
    setup.streamWith(chatStream('Two.'));
    const two = await client.ask({ model: 'chats', input: 'Two?', store: false, previous_response_id: idOf(one) });
    expect(setup.sent()['messages']).toEqual([
      { role: 'user', content: 'Say one.' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: 'Two?' },
    ]);
    expect(two.at(-1)).toMatchObject({ response: { previous_response_id: idOf(one), store: false } });
    await sendTurn(client, 'Three.', { input: 'Three?', previous_response_id: idOf(two) });
    // Three inputs and two answers.
    expect((setup.sent()['input'] as object[]).length).toBe(5);
    client.socket.close();
  });

  it('is kept in memory until the next turn of its lane (`stream_id`), for its connection only', async () => {
    const client = await openSocket();
    const one = idOf(await sendTurn(client, 'One.', { input: '1', stream_id: 'a' }));
    // A fork in another lane.
    await sendTurn(client, 'Fork.', { input: 'Fork?', previous_response_id: one, stream_id: 'b' });
    // Two inputs and one answer.
    expect((setup.sent()['input'] as object[]).length).toBe(3);
    const two = idOf(await sendTurn(client, 'Two.', { input: '2', previous_response_id: one, stream_id: 'a' }));
    const callCount = setup.upstream.received.length;
    setup.upstream.answer((response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          error: {
            message: 'Previous response not found.',
            type: 'invalid_request_error',
            param: 'previous_response_id',
            code: 'previous_response_not_found',
          },
        }),
      );
    });
    // The gateway calls the upstream, because the upstream may store responses despite `store: false`.
    expect(
      (await client.ask({ model: 'thinker', input: 'x', previous_response_id: one, stream_id: 'a' })).at(-1),
    ).toEqual(
      expect.objectContaining({
        type: 'error',
        stream_id: 'a',
        error: expect.objectContaining({ code: 'previous_response_not_found' }),
      }),
    );
    expect(setup.upstream.received.length).toBe(callCount + 1);
    expect(setup.sent()['previous_response_id']).toBe('resp_One.');
    // On another connection, the upstream gets the input without the history.
    const other = await openSocket();
    await other.ask({ model: 'thinker', input: 'x', store: false, previous_response_id: two });
    expect(setup.sent()['input']).toBe('x');
    other.socket.close();
    client.socket.close();
  });

  it('is dropped when a turn of its lane fails to continue it; a failure in another lane has no effect', async () => {
    const client = await openSocket();
    setup.streamWith(chatStream('One.'));
    const one = idOf(await client.ask({ model: 'chats', input: '1', store: false, stream_id: 'a' }));
    const continuation = { model: 'chats', input: 'x', store: false, previous_response_id: one };
    setup.upstream.answer((response) => response.writeHead(503).end());
    expect((await client.ask({ ...continuation, stream_id: 'b' })).at(-1)).toMatchObject({
      type: 'error',
      status: 503,
    });
    setup.streamWith(chatStream('Two.'));
    expect((await client.ask({ ...continuation, stream_id: 'c' })).at(-1)?.type).toBe('response.completed');
    setup.upstream.answer((response) => response.writeHead(503).end());
    expect((await client.ask({ ...continuation, stream_id: 'a' })).at(-1)).toMatchObject({
      type: 'error',
      status: 503,
    });
    expect(await client.ask({ ...continuation, stream_id: 'a' })).toEqual([notFound(one, { stream_id: 'a' })]);
    client.socket.close();
  });

  it('is stored with its history when a stored response continues it', async () => {
    const client = await openSocket();
    setup.streamWith(chatStream('One.'));
    const one = idOf(await client.ask({ model: 'chats', input: 'Say one.', store: false }));
    setup.streamWith(chatStream('Two.'));
    const two = idOf(await client.ask({ model: 'chats', input: 'Two?', previous_response_id: one }));
    client.socket.close();
    const httpAnswer = await setup.app.call('POST', '/v1/responses', {
      model: 'chats',
      input: 'Three?',
      previous_response_id: two,
      stream: true,
    });
    expect(await httpAnswer.text()).toContain('response.completed');
    expect(setup.sent()['messages']).toEqual([
      { role: 'user', content: 'Say one.' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: 'Two?' },
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Three?' },
    ]);
  });
});

it('a stored response is continued at the upstream that stores it', async () => {
  const client = await openSocket();
  setup.streamWith(streamOf());
  const one = idOf(await client.ask({ model: 'thinker', input: '1' }));
  await client.ask({ model: 'thinker', input: '2', previous_response_id: one, stream_id: 'other' });
  expect(setup.sent()).toEqual({ model: 'up-2', input: '2', stream: true, previous_response_id: 'resp_up' });
  // The third turn is not stored, and the fourth continues it.
  const three = idOf(await sendTurn(client, 'Three.', { input: '3', previous_response_id: one }));
  await sendTurn(client, 'Four.', { input: '4', previous_response_id: three });
  expect(setup.sent()).toMatchObject({
    previous_response_id: 'resp_up',
    input: [{ role: 'user', content: '3' }, assistantMessage('Three.'), { role: 'user', content: '4' }],
  });
  client.socket.close();
});

describe('a response with generate: false', () => {
  it('calls no upstream, and can be continued like any other response', async () => {
    const callCount = setup.upstream.received.length;
    const { traceId, headers } = newTrace();
    const client = await openResponses(setup.app, {
      headers: { ...headers, authorization: `Bearer ${setup.app.adminKey}` },
    });
    const frames = await client.ask({ model: 'thinker', input: 'Know this.', generate: false, stream_id: 'main' });
    expect(frames.map(({ type, stream_id: lane, sequence_number: number }) => [type, lane, number])).toEqual([
      ['response.created', 'main', 0],
      ['response.in_progress', 'main', 1],
      ['response.completed', 'main', 2],
    ]);
    expect(frames.at(-1)).toMatchObject({
      response: {
        id: expect.stringMatching(GATEWAY_ID),
        status: 'completed',
        model: 'thinker',
        output: [],
        store: false,
        usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
      },
    });
    expect(setup.upstream.received.length).toBe(callCount);
    await sendTurn(client, 'Yes.', { input: 'Do you?', previous_response_id: idOf(frames), stream_id: 'main' });
    expect(setup.sent()['input']).toEqual([
      { type: 'message', role: 'user', content: 'Know this.' },
      { type: 'message', role: 'user', content: 'Do you?' },
    ]);
    expect((await spansIn(setup.app, traceId)) as object[]).toHaveLength(1);
    client.socket.close();
  });

  it('can continue a stored conversation', async () => {
    const client = await openSocket();
    setup.streamWith(chatStream('One.'));
    const one = idOf(await client.ask({ model: 'chats', input: '1' }));
    const ready = await client.ask({ model: 'chats', input: '2', generate: false, previous_response_id: one });
    expect(ready.at(-1)).toMatchObject({ response: { previous_response_id: one } });
    await client.ask({ model: 'chats', input: '3', previous_response_id: idOf(ready) });
    expect(setup.sent()['messages']).toEqual([
      { role: 'user', content: '1' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: '2' },
      { role: 'user', content: '3' },
    ]);
    client.socket.close();
  });

  it('needs access to the model, a budget and a known previous response, like any other response', async () => {
    const key = await setup.newKey({ models: ['thinker'], max_budget: 0 });
    const client = await openResponses(setup.app, { headers: { authorization: `Bearer ${key}` } });
    const refused = async (body: object) => (await client.ask({ input: 'x', generate: false, ...body })).at(-1);
    expect(await refused({ model: 'chats' })).toMatchObject({
      status: 403,
      error: { type: 'key_model_access_denied' },
    });
    expect(await refused({ model: 'thinker' })).toMatchObject({ status: 422, error: { type: 'budget_exceeded' } });
    expect(await refused({ model: 'thinker', previous_response_id: 'resp_none' })).toEqual(notFound('resp_none'));
    client.socket.close();
  });
});
