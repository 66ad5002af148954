import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

it('a call that has been answered is in the list of traces at once', async () => {
  for (let calls = 1; calls <= 3; calls += 1) {
    const chat = await app.call('POST', '/v1/chat/completions', {
      model: 'demo',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(chat.status).toBe(200);
    await chat.arrayBuffer();
    const list = await app.call('GET', '/v1/traces');
    const { data } = (await list.json()) as { data: { trace_id: string; name: string; llm_calls: number }[] };
    expect(data.map(({ name, llm_calls }) => [name, llm_calls])).toEqual(
      Array.from({ length: calls }, () => ['chat demo', 1]),
    );
    const read = await app.call('GET', `/v1/traces/${data[0]?.trace_id}`);
    expect(read.status).toBe(200);
    await read.arrayBuffer();
  }
});
