import { afterEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { send, serveFiles, upload } from '../files/file-client.ts';

const completion = (model: string): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

let app: TestApp;
let upstream: FaultServer;
afterEach(async () => {
  await app.stop();
  await upstream.stop();
});

async function start(router: object, ...params: readonly object[]): Promise<void> {
  upstream = await startFaultServer();
  serveFiles(upstream);
  app = await startApp({
    config: {
      model_list: params.map((more, index) => ({
        model_name: 'm',
        litellm_params: {
          model: `openai/chat_completions/up-${index}`,
          api_base: `${upstream.url}/v1`,
          api_key: `k${index}`,
          ...more,
        },
        model_info: { id: `id-${index}` },
      })),
      router_settings: { num_retries: 0, disable_cooldowns: true, ...router },
    },
  });
}

function serveChats(delayOf: (model: string) => number = () => 0): void {
  upstream.answer((response, _socket, { body }) => {
    const { model } = JSON.parse(body) as { model: string };
    response.setHeader('content-type', 'application/json');
    setTimeout(() => response.end(completion(model)), delayOf(model));
  });
}

const chat = () => app.call('POST', '/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }] });

it('reads of objects do not use up the requests per minute of a deployment', async () => {
  await start({ routing_strategy: 'usage-based-routing-v2' }, { rpm: 3 });
  const { id } = await upload(app, { purpose: 'user_data', model: 'm' });
  for (let read = 0; read < 5; read += 1) {
    expect((await send(app, 'GET', `/v1/files/${id}`)).status).toBe(200);
    expect((await send(app, 'GET', '/v1/files')).status).toBe(200);
  }
  serveChats();
  // The upload is the first of three requests.
  expect([(await chat()).status, (await chat()).status, (await chat()).status]).toEqual([200, 200, 429]);
});

it('durations of reads and uploads are no latencies of a model', async () => {
  await start(
    { routing_strategy: 'latency-based-routing', routing_strategy_args: { lowest_latency_buffer: 0 } },
    {},
    {},
  );
  // Each deployment answers one chat first: the second one faster.
  serveChats((model) => (model === 'up-0' ? 60 : 20));
  const called = new Set<string | null>();
  for (let call = 0; call < 2; call += 1) called.add((await chat()).headers.get('x-litellm-model-id'));
  expect(called).toEqual(new Set(['id-0', 'id-1']));
  serveFiles(upstream);
  // Files are at the fastest deployment. Their uploads and reads take longer than any chat.
  const answers = upstream.received.length;
  const { id } = await upload(app, { purpose: 'user_data', model: 'm' });
  expect(upstream.received[answers]?.headers.authorization).toBe('Bearer k1');
  upstream.answer((response, _socket, { path }) => {
    response.setHeader('content-type', 'application/json');
    setTimeout(
      () => response.end(JSON.stringify({ id: path.split('/')[3], object: 'file', purpose: 'user_data' })),
      200,
    );
  });
  for (let read = 0; read < 3; read += 1) expect((await send(app, 'GET', `/v1/files/${id}`)).status).toBe(200);
  serveChats();
  expect((await chat()).headers.get('x-litellm-model-id')).toBe('id-1');
});
