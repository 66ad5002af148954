import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../../support/realtime-client.ts';
import {
  aResponse,
  chatStream,
  eventText,
  type Frame,
  openResponses,
  type ResponseSetup,
  startResponseSetup,
  streamOf,
} from '../../support/response-socket.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const ENCRYPTED_ID = /^resp_[\w-]{80,}$/;
const GATEWAY_ID = /^resp_[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let setup: ResponseSetup;
beforeAll(async () => {
  setup = await startResponseSetup({ max_request_size_mb: 1 });
});
afterAll(() => setup.stop());

const openSocket = (headers: Record<string, string> = {}, path = '/v1/responses') =>
  openResponses(setup.app, { path, headers: { authorization: `Bearer ${setup.app.adminKey}`, ...headers } });

describe('responses.connect 101', () => {
  it.each(['/v1/responses', '/responses', '/openai/v1/responses'])('opens a connection at %s', async (path) => {
    setup.streamWith(streamOf());
    const client = await openSocket({}, path);
    expect(client.headers).toMatchObject({ upgrade: 'websocket', 'x-litellm-version': expect.any(String) });
    expect((await client.ask({ model: 'thinker', input: 'Hello' })).map(({ type }) => type)).toEqual([
      'response.created',
      'response.completed',
    ]);
    client.socket.close();
    // The client closed without a code.
    expect((await client.closed).code).toBe(1005);
  });

  it('a Responses API gets no gateway fields, and its events are forwarded with replaced ids and model names', async () => {
    const created = { type: 'response.created', sequence_number: 0, response: aResponse({ status: 'in_progress' }) };
    const delta = '{"type":"response.output_text.delta" , "delta":"H\\u0069 response.completed"}';
    const completed = { type: 'response.completed', sequence_number: 2, response: aResponse(), later: [1e-7] };
    setup.streamWith(
      `${eventText(created)}event: response.output_text.delta\ndata: ${delta}\n\n: a comment\n\n${eventText(completed)}data: [DONE]\n\n`,
    );
    const client = await openSocket({}, '/v1/responses?model=thinker');
    client.socket.send(
      '{"type":"response.create","top_p":1e-7,"input":"H\\u0069","stream":false,"background":false,"generate":true,"tags":["x"]}',
    );
    const replaced = { id: expect.stringMatching(ENCRYPTED_ID), model: 'thinker' };
    expect(await client.frame()).toEqual({ ...created, response: { ...created.response, ...replaced } });
    expect(await client.nextMessage()).toBe(delta);
    expect(await client.frame()).toEqual({ ...completed, response: { ...completed.response, ...replaced } });
    expect(setup.upstream.received.at(-1)?.body).toBe(
      '{"top_p":1e-7,"input":"H\\u0069","stream":true,"background":false,"model":"up-2"}',
    );
    client.socket.close();
  });

  it('a model of another dialect answers with the events of the Responses API', async () => {
    setup.streamWith(chatStream('Good day.'));
    const client = await openSocket();
    const frames = await client.ask({ model: 'chats', input: 'Hello', instructions: 'Be kind.' });
    expect(frames.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(frames.map((frame) => frame['sequence_number'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(frames.at(-1)).toMatchObject({
      response: { id: expect.stringMatching(GATEWAY_ID), model: 'chats', store: true, usage: { total_tokens: 8 } },
    });
    client.socket.close();
  });

  it('the demo model sends the same event types and texts as over HTTP', async () => {
    const httpAnswer = await setup.app.call('POST', '/v1/responses', { model: 'demo', input: 'Hello', stream: true });
    const events = (await httpAnswer.text())
      .split('\n\n')
      .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ')))
      .map((line) => JSON.parse(line.slice('data: '.length)) as Frame);
    const client = await openSocket();
    const frames = await client.ask({ model: 'demo', input: 'Hello' });
    const texts = (from: readonly Frame[]) => from.map(({ type, delta }) => [type, delta]);
    expect(texts(frames)).toEqual(texts(events));
    expect(frames.length).toBeGreaterThan(8);
    client.socket.close();
  });

  it('every response has its own spend row and call id, in the trace of its connection', async () => {
    setup.streamWith(streamOf());
    const { traceId, headers } = newTrace();
    const client = await openSocket({ ...headers, 'x-litellm-call-id': 'mine' });
    await client.ask({ model: 'thinker', input: 'Hello' });
    setup.streamWith(chatStream('Good day.'));
    await client.ask({ model: 'chats', input: 'Hello' });
    const rows = (await spansIn(setup.app, traceId)) as { name: string; spendRow: object; attributes: object }[];
    // 5 × 0.50 USD + 3 × 0.25 USD.
    const usage = { inputTokens: 5, outputTokens: 3 };
    expect(rows.toSorted((a, b) => a.name.localeCompare(b.name))).toMatchObject([
      { name: 'chat chats', spendRow: { callType: 'aresponses', costUsd: '3.25', status: 'SUCCESS', usage } },
      { name: 'chat thinker', spendRow: { callType: 'aresponses', costUsd: '3.25', status: 'SUCCESS', usage } },
    ]);
    const ids = rows.map(({ attributes }) => (attributes as Record<string, unknown>)['litellm.call_id']);
    expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(new Set(ids).size).toBe(2);
    client.socket.close();
  });

  it('gateway headers of the handshake and gateway fields of an event apply to the call', async () => {
    setup.streamWith(streamOf());
    const { traceId, headers } = newTrace();
    const client = await openSocket({ ...headers, 'x-litellm-session-id': 'session-7', 'x-litellm-timeout': 'soon' });
    const message =
      "/responses: Invalid value for header 'x-litellm-timeout': it must be a number of seconds, at most 86400.";
    expect(await client.ask({ model: 'thinker', input: 'x' })).toMatchObject([{ type: 'error', error: { message } }]);
    client.socket.close();
    const other = await openSocket({ ...headers, 'x-litellm-session-id': 'session-7' });
    const frames = await other.ask({ model: 'thinker', input: 'x', mock_response: 'Made up.' });
    expect(frames.at(-1)).toMatchObject({ response: { output: [{ content: [{ text: 'Made up.' }] }] } });
    expect(JSON.stringify(await spansIn(setup.app, traceId))).toContain('session-7');
    other.socket.close();
  });

  it('a failed response is forwarded, and counts as a failure', async () => {
    const error = { code: 'server_error', message: 'Out of thoughts.' };
    const failed = { type: 'response.failed', sequence_number: 1, response: aResponse({ status: 'failed', error }) };
    setup.streamWith(eventText({ type: 'response.created', response: {} }) + eventText(failed));
    const { traceId, headers } = newTrace();
    const client = await openSocket(headers);
    expect((await client.ask({ model: 'thinker', input: 'x' })).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error },
    });
    expect(await spansIn(setup.app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
    client.socket.close();
  });
});

describe('responses.connect 400', () => {
  it('for a request that is not a WebSocket', async () => {
    const response = await setup.app.call('GET', '/v1/responses');
    const message = '/responses: This path is a WebSocket. Send `Connection: Upgrade` and `Upgrade: websocket`.';
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    ]);
  });

  it('for an invalid handshake', async () => {
    const headers = {
      authorization: `Bearer ${setup.app.adminKey}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '8',
    };
    const upgrade = request(`${setup.app.url}/openai/v1/responses`, { headers }).end();
    const [response] = (await once(upgrade, 'response')) as [IncomingMessage];
    const message = '/responses: This is not a WebSocket handshake: Sec-WebSocket-Version must be 13.';
    expect([response.statusCode, await json(response)]).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    ]);
  });
});

it('a POST with an upgrade header is served over HTTP', async () => {
  setup.streamWith(streamOf());
  const headers = {
    authorization: `Bearer ${setup.app.adminKey}`,
    'content-type': 'application/json',
    connection: 'Upgrade',
    upgrade: 'websocket',
  };
  const upgrade = request(`${setup.app.url}/v1/responses`, { method: 'POST', headers });
  upgrade.end(JSON.stringify({ model: 'thinker', input: 'Hello', stream: true }));
  const [response] = (await once(upgrade, 'response')) as [IncomingMessage];
  expect([response.statusCode, await text(response)]).toEqual([200, expect.stringContaining('response.completed')]);
});

describe('responses.connect 401', () => {
  it.each([
    ['without a key', {}, /^Authentication Error, No api key passed in/],
    ['with an unknown key', { authorization: 'Bearer sk-unknown-virtual-key' }, /Received API Key = sk-\.\.\.-key, /],
  ])('%s', async (_case, headers, message) => {
    const { status, headers: head, body } = await refusalOf(setup.app, { path: '/v1/responses', headers });
    expect([status, body]).toMatchObject([401, { error: { message: expect.stringMatching(message), code: '401' } }]);
    expect(JSON.stringify([head, body])).not.toContain('sk-unknown');
  });
});

it('a message above the size limit ends the connection', async () => {
  const client = await openSocket();
  client.socket.send('x'.repeat(1024 * 1024 + 1));
  expect((await client.closed).code).toBe(1009);
});

it('input for an active response is refused immediately', async () => {
  const calls = setup.hold();
  const client = await openSocket();
  client.sendEvent({ type: 'response.create', model: 'thinker', input: 'x' });
  const { response } = await calls.next();
  const steer = { previous_response_id: 'resp_x', input: [{ role: 'user', content: 'Wait.' }] };
  client.sendEvent({ type: 'response.steer', ...steer });
  expect(await client.frame()).toEqual({
    type: 'response.steer.failed',
    sequence_number: 0,
    steer,
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'A running response does not accept input. Send the input when the response has ended.',
    },
  });
  response.destroy();
  expect((await client.answer()).at(-1)?.type).toBe('error');
  client.socket.close();
});
