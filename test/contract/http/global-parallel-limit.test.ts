import { afterEach, describe, expect, it } from 'vitest';
import { type RoutedApp, startRouted } from '../routing/routed.ts';

let setup: RoutedApp | null = null;

afterEach(async () => {
  await setup?.stop();
  setup = null;
});

/** Starts the app with the limit. Its models answer after the other calls of a test have arrived. */
async function start(limit: number): Promise<RoutedApp> {
  setup = await startRouted(
    [{ up: 'a' }, { name: 'n', up: 'b' }],
    { general_settings: { global_max_parallel_requests: limit } },
    { a: { delayMs: 400 }, b: { delayMs: 400 } },
  );
  return setup;
}

describe('global_max_parallel_requests', () => {
  it('refuses a further open call of any caller and model with 429, and frees the places at the end', async () => {
    const { ask, keyWith, requestedModels } = await start(2);
    const headers = await keyWith({});
    const answers = await Promise.all([ask(), ask({ model: 'n' }, headers), ask({ model: 'n' })]);
    const refused = answers.find(({ status }) => status !== 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(refused).toEqual({
      status: 429,
      deployment: null,
      retryAfter: '60',
      body: {
        error: {
          message: expect.stringMatching(
            /^Rate limit exceeded for global: all\. Limit type: max_parallel_requests\. Current limit: 2, Remaining: 0\. Limit resets at: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
          ) as string,
          type: 'throttling_error',
          param: null,
          code: '429',
        },
      },
    });
    expect(requestedModels()).toHaveLength(2);
    expect((await ask()).status).toBe(200);
  });

  it('frees the place of a failed call', async () => {
    const { ask } = await start(1);
    expect((await ask({ model: 'none' })).status).toBe(400);
    expect((await ask({ messages: 'none' })).status).toBe(400);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(200);
  });

  it('of 0 is refused at the start', async () => {
    await expect(start(0)).rejects.toThrow('general_settings.global_max_parallel_requests');
  });
});
