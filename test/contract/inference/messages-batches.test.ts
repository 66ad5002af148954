import Anthropic, { AuthenticationError, NotFoundError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const CALLS: readonly (readonly [string, (client: Anthropic) => Promise<unknown>])[] = [
  [
    'messages.createBatch',
    async ({ messages }) => {
      const params = { model: 'demo', max_tokens: 5, messages: [{ role: 'user' as const, content: 'x' }] };
      return await messages.batches.create({ requests: [{ custom_id: '1', params }] });
    },
  ],
  ['messages.listBatches', async ({ messages }) => await messages.batches.list()],
  ['messages.getBatch', async ({ messages }) => await messages.batches.retrieve('msgbatch_1')],
  // `results` reads the batch first.
  ['messages.getBatch', async ({ messages }) => await messages.batches.results('msgbatch_1')],
  ['messages.cancelBatch', async ({ messages }) => await messages.batches.cancel('msgbatch_1')],
  ['messages.deleteBatch', async ({ messages }) => await messages.batches.delete('msgbatch_1')],
];

const clientOf = (apiKey: string) => new Anthropic({ apiKey, baseURL: app.url, maxRetries: 0 });

describe("message batches of Anthropic's SDK", () => {
  it.each(CALLS)('%s 404: the error names the supported path /v1/batches', async (_name, call) => {
    const failure = await call(clientOf(app.adminKey)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(failure).toMatchObject({
      error: { type: 'error', error: { type: 'not_found_error', message: expect.stringContaining('/v1/batches') } },
    });
  });

  it.each(CALLS)('%s 401: an unknown key', async (_name, call) => {
    await expect(call(clientOf('sk-0000000000000000000000'))).rejects.toBeInstanceOf(AuthenticationError);
  });
});
