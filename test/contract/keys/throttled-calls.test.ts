import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { openRealtime, refusalOf } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let passThroughTarget: FaultServer;
let realtimeUpstream: RealtimeUpstream;

beforeAll(async () => {
  passThroughTarget = await startFaultServer();
  passThroughTarget.answer((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}'),
  );
  realtimeUpstream = await startRealtimeUpstream();
  const params = {
    model: 'openai/gpt-realtime',
    api_base: `${realtimeUpstream.url}/v1`,
    api_key: 'sk-upstream-credential-0123456789',
    input_cost_per_token: 0.01,
    output_cost_per_token: 0.01,
  };
  app = await startApp({
    config: {
      litellm_settings: { budget_exceeded_throttle_percentage: 0.1 },
      general_settings: {
        pass_through_endpoints: [
          { path: '/forwarded', target: passThroughTarget.url, auth: true, cost_per_request: 1 },
        ],
      },
      model_list: [{ model_name: 'voice', litellm_params: params }],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await passThroughTarget.stop();
  await realtimeUpstream.stop();
});

/** Creates a key with a used-up budget. The key may still send 2 of its 20 requests a minute. */
async function throttledKey(): Promise<{ readonly token: string; readonly headers: Record<string, string> }> {
  const draft = { max_budget: 1, spend: 1, throttle_on_budget_exceeded: true, rpm_limit: 20 };
  const created = (await (await app.call('POST', '/key/generate', draft)).json()) as Record<'key' | 'token', string>;
  return { token: created.token, headers: { authorization: `Bearer ${created.key}` } };
}

const refused = (token: string) => ({
  error: {
    message: expect.stringContaining(
      `Rate limit exceeded for api_key: ${token}. Limit type: requests. Current limit: 2, Remaining: 0.`,
    ) as string,
    type: 'throttling_error',
    param: null,
    code: '429',
  },
});

it('a key beyond its budget may send a part of its requests on pass-through paths', async () => {
  const { token, headers } = await throttledKey();
  for (let call = 0; call < 2; call += 1) {
    const answer = await app.call('POST', '/forwarded', {}, headers);
    expect([answer.status, await answer.json()]).toEqual([200, { done: true }]);
  }
  const third = await app.call('POST', '/forwarded', {}, headers);
  expect([third.status, await third.json(), third.headers.get('retry-after')]).toEqual([429, refused(token), '60']);
});

it('a key beyond its budget may open a part of its realtime sessions, and the budget does not end a session', async () => {
  const { token, headers } = await throttledKey();
  for (let call = 0; call < 2; call += 1) {
    const client = await openRealtime(app, { path: '/v1/realtime?model=voice', headers });
    const session = await realtimeUpstream.session();
    // The budget of the key is checked after each answer.
    const usage = { total_tokens: 2, input_tokens: 1, output_tokens: 1 };
    const done = { type: 'response.done', response: { id: 'r', status: 'completed', usage } };
    for (let turn = 0; turn < 2; turn += 1) {
      session.sendEvent(done);
      expect(JSON.parse(await client.nextMessage())).toMatchObject({ type: 'response.done' });
    }
    session.sendEvent({ type: 'later' });
    expect(JSON.parse(await client.nextMessage())).toEqual({ type: 'later' });
    client.socket.close();
    await session.closed;
  }
  const third = await refusalOf(app, { path: '/v1/realtime?model=voice', headers });
  expect([third.status, third.body, third.headers['retry-after']]).toEqual([429, refused(token), '60']);
});
