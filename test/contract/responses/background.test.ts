import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type Answer, type Json, type ObjectServer, startObjectServer } from '../provider-objects/object-server.ts';

let server: ObjectServer;
const ask = (method: string, path: string, body?: unknown, key?: string | null): Promise<Answer> =>
  server.ask(method, path, body, key);

beforeAll(async () => {
  server = await startObjectServer();
});
afterAll(() => server.stop());

const USAGE = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const upstreamId = (): string => server.upstream.ids().findLast((id) => id.startsWith('resp_')) ?? '';
const end = (more: Json = {}): void =>
  server.upstream.update(upstreamId(), { status: 'completed', usage: USAGE, ...more });

/** Costs of the spend rows of a key, without those of zero. */
async function costsOf(key: string): Promise<readonly unknown[]> {
  const [, rows] = await ask('GET', `/spend/logs?api_key=${key}&summarize=false`, undefined, server.app.adminKey);
  return (rows as unknown as readonly Json[])
    .filter(({ spend }) => spend !== 0)
    .map((row) => [row['call_type'], row['model_group'], row['spend'], row['end_user']]);
}
/** 100 input tokens and 10 output tokens of `tiny`. */
const CHARGED = [['aresponses', 'tiny', 0.2, 'shopper']];

describe('a response in the background', () => {
  async function start(key: string, more: Json = {}): Promise<string> {
    const answer = await fetch(`${server.app.url}/v1/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-litellm-customer-id': 'shopper',
      },
      body: JSON.stringify({ model: 'tiny', input: 'hello', background: true, ...more }),
    });
    const id = /"id":"(resp_[^"]+)"/.exec(await answer.text())?.[1] ?? '';
    expect(answer.status).toBe(200);
    return id;
  }

  it('is charged once when a read shows its end, and not before', async () => {
    const key = await server.newKey();
    const id = await start(key);
    expect((await ask('GET', `/v1/responses/${id}`, undefined, key))[1]['status']).toBe('queued');
    end();
    for (let read = 0; read < 3; read += 1)
      expect((await ask('GET', `/v1/responses/${id}`, undefined, key))[1]['status']).toBe('completed');
    await expect.poll(() => costsOf(key), POLLING).toEqual(CHARGED);
    const info = async () =>
      (await ask('GET', `/key/info?key=${key}`, undefined, server.app.adminKey))[1]['info'] as Json;
    await expect.poll(async () => (await info())['spend'], POLLING).toBe(0.2);
  });

  it('is charged when its stream ended before it', async () => {
    const key = await server.newKey();
    const id = await start(key, { stream: true });
    end({ status: 'incomplete' });
    expect((await ask('GET', `/v1/responses/${id}`, undefined, key))[1]['status']).toBe('incomplete');
    await expect.poll(() => costsOf(key), POLLING).toEqual(CHARGED);
  });

  it('responses.delete 400: until it has ended; its deletion charges it', async () => {
    const key = await server.newKey();
    const id = await start(key);
    const message = 'The response has not ended: cancel it first.';
    expect(await ask('DELETE', `/v1/responses/${id}`, undefined, key)).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    ]);
    end();
    expect((await ask('DELETE', `/v1/responses/${id}`, undefined, key))[0]).toBe(200);
    await expect.poll(() => costsOf(key), POLLING).toEqual(CHARGED);
  });

  it('responses.delete 200: after it was cancelled or has failed, without a usage', async () => {
    for (const status of ['cancelled', 'failed']) {
      const key = await server.newKey();
      const id = await start(key);
      end({ status, usage: null });
      expect((await ask('GET', `/v1/responses/${id}`, undefined, key))[1]['status']).toBe(status);
      expect((await ask('DELETE', `/v1/responses/${id}`, undefined, key))[0]).toBe(200);
      expect(await costsOf(key)).toEqual([]);
    }
  });

  it('responses.delete 400: while its cost is not recorded', async () => {
    const key = await server.newKey();
    const id = await start(key);
    end({ usage: null });
    const message = 'The cost of the response is not recorded yet: try again later.';
    expect(await ask('DELETE', `/v1/responses/${id}`, undefined, key)).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    ]);
    end();
    expect((await ask('DELETE', `/v1/responses/${id}`, undefined, key))[0]).toBe(200);
    await expect.poll(() => costsOf(key), POLLING).toEqual(CHARGED);
  });

  it('has a container that belongs to its owner, also when an administrator reads it first', async () => {
    const id = await start(server.owner);
    const container = 'cntr_of_background';
    server.upstream.update(container, { id: container, object: 'container', status: 'running' });
    end({ output: [{ type: 'code_interpreter_call', container_id: container }] });
    expect((await ask('GET', `/v1/responses/${id}`, undefined, server.app.adminKey))[0]).toBe(200);
    expect((await ask('GET', `/v1/containers/${container}`))[0]).toBe(200);
    expect((await ask('GET', `/v1/containers/${container}`, undefined, server.stranger))[0]).toBe(404);
  });

  it('responses.create 404: names a container whose owner is not known', async () => {
    const tools = [{ type: 'code_interpreter', container: 'cntr_unknown' }];
    const request = { model: 'tiny', input: 'x', tools };
    expect((await ask('POST', '/v1/responses', request))[0]).toBe(200);
    expect((await ask('POST', '/v1/responses', { ...request, background: true }))[0]).toBe(404);
  });
});
