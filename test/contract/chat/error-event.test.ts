import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CHUNK = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
const ERROR = 'data: {"error":{"message":"overloaded","type":"server_error","code":"500"}}\n\n';
const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'm',
          litellm_params: { model: 'openai/m', api_base: `${upstream.url}/v1`, api_key: 'sk-upstream' },
        },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ask = (members: object = {}): Promise<Response> =>
  app.call('POST', '/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }], ...members });

it('an error event in the last chunk of a stream does not block later calls', async () => {
  for (let round = 0; round < 3; round += 1) {
    const streaming = Promise.withResolvers<() => void>();
    upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(CHUNK);
      streaming.resolve(() => {
        // One write: the gateway reads the error event together with the end of the body.
        socket.cork();
        response.end(ERROR);
        socket.uncork();
      });
    });
    const stream = await ask({ stream: true });
    expect(stream.status).toBe(200);
    (await streaming.promise)();
    expect(await stream.text()).toContain('overloaded');
    upstream.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(COMPLETION));
    // A connection that is destroyed but stays in the pool would keep one of these calls waiting.
    const later = await Promise.all(Array.from({ length: 6 }, async () => (await ask()).status));
    expect(later).toEqual([200, 200, 200, 200, 200, 200]);
  }
});
