import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { newTrace, spansIn } from './trace-spans.ts';
import {
  CHAT,
  completionOf,
  MESSAGES,
  refused,
  upstreamFailure,
  contentOf,
  type ScriptedApp,
  startScripted,
} from './scripted.ts';
import { POLLING } from '../../support/polling.ts';

let setup: ScriptedApp;

beforeAll(async () => {
  setup = await startScripted();
});

afterAll(() => setup.stop());

beforeEach(() => setup.plan({}));

const ascending = (left = '', right = '') => Number(left) - Number(right);

describe('a call with num_retries', () => {
  it('is retried at the same deployment until it answers; a header has the number of retries', async () => {
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'one-up': [503, 500, 200] });
    const answer = await setup.ask({ model: 'one', num_retries: 3 });
    expect(setup.requestedModels(firstIndex)).toEqual(['one-up', 'one-up', 'one-up']);
    expect(answer).toEqual({
      status: 200,
      retryHeaders: {
        'model-group': 'one',
        'model-id': expect.any(String),
        'attempted-retries': '2',
        'max-retries': '3',
        'attempted-fallbacks': '0',
      },
      body: { ...completionOf('one-up'), model: 'one' },
    });
    expect(JSON.parse(setup.upstream.received.at(-1)?.body ?? '')).toEqual({ model: 'one-up', messages: MESSAGES });
  });

  it('is retried at the other deployment after a failure of the first one', async () => {
    for (const status of [401, 404, 429, 500]) {
      const firstIndex = setup.upstream.received.length;
      setup.plan({ 'pair-a': [status], 'pair-b': [200] });
      const first = await setup.ask({ model: 'pair', num_retries: 1 });
      const second = await setup.ask({ model: 'pair', num_retries: 1 });
      // Deployments alternate: one of the two calls starts at the failing deployment. The app of `startScripted` has
      // no cooldowns, so a failure does not exclude `pair-a` from later calls.
      expect([contentOf(first), contentOf(second)]).toEqual(['I am pair-b', 'I am pair-b']);
      expect([first, second].map(({ retryHeaders }) => retryHeaders['attempted-retries']).toSorted(ascending)).toEqual([
        '0',
        '1',
      ]);
      expect(setup.requestedModels(firstIndex).filter((model) => model === 'pair-a')).toHaveLength(1);
    }
  });

  it('is retried as often as x-litellm-num-retries allows, and the header has precedence over the body', async () => {
    setup.plan({ 'one-up': [500, 500, 200] });
    const answer = await setup.ask({ model: 'one', num_retries: 0 }, { 'x-litellm-num-retries': '2' });
    expect(answer).toMatchObject({ status: 200, retryHeaders: { 'attempted-retries': '2' } });
  });

  it('is retried before the first byte of its stream', async () => {
    setup.plan({ 'one-up': [500, 200] });
    const answer = await setup.ask({ model: 'one', stream: true, num_retries: 1 });
    expect(answer).toMatchObject({ status: 200, retryHeaders: { 'attempted-retries': '1' } });
    expect(answer.body).toMatch(/"model":"one".*I am one-up.*\n\ndata: \[DONE\]\n\n$/s);
  });

  it('ends with the last failure and the number of retries', async () => {
    setup.plan({ 'one-up': [500, 429] });
    expect(await setup.ask({ model: 'one', num_retries: 2 })).toEqual(
      upstreamFailure(429, {
        message:
          'litellm.RateLimitError: RateLimitError: OpenAIException - one-up says 429 LiteLLM Retried: 2 times, LiteLLM Max Retries: 2',
        type: 'throttling_error',
      }),
    );
  });

  it('is not retried at the only deployment after 400, 401, 403, 404, 413 or 422', async () => {
    for (const status of [400, 401, 403, 404, 413, 422]) {
      const firstIndex = setup.upstream.received.length;
      setup.plan({ 'one-up': [status] });
      expect((await setup.ask({ model: 'one', num_retries: 5 })).status).toBe(status);
      expect(setup.requestedModels(firstIndex)).toEqual(['one-up']);
    }
  });

  it('has one span and one spend row, with the deployment that answered', async () => {
    const { traceId, headers } = newTrace();
    setup.plan({ 'one-up': [500, 200] });
    await setup.ask({ model: 'one', num_retries: 1 }, headers);
    expect(await spansIn(setup.app, traceId)).toEqual([
      expect.objectContaining({
        name: 'chat one',
        attributes: expect.objectContaining({ 'http.request.resend_count': '1' }),
        spendRow: expect.objectContaining({ modelGroup: 'one', model: 'one-up', status: 'SUCCESS', costUsd: '1' }),
      }),
    ]);
  });

  it('ends when the caller disconnects before the first retry', async () => {
    const { traceId, headers } = newTrace();
    const firstIndex = setup.upstream.received.length;
    // By its `retry-after`, a call to `slow-up` is retried after 30 s.
    setup.plan({ 'slow-up': [429] });
    const controller = new AbortController();
    const firstFailure = setup.nextError('slow-up');
    const call = fetch(`${setup.app.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${setup.app.adminKey}`, ...headers },
      body: JSON.stringify({ model: 'slow', messages: MESSAGES, num_retries: 3 }),
      signal: controller.signal,
    });
    await firstFailure;
    controller.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(
      async () =>
        expect(await spansIn(setup.app, traceId)).toEqual([
          expect.objectContaining({
            spendRow: expect.objectContaining({ modelGroup: 'slow', status: 'FAILURE', errorCode: 'CLIENT_GONE' }),
          }),
        ]),
      POLLING,
    );
    expect(setup.requestedModels(firstIndex)).toEqual(['slow-up']);
  });

  it('400: an invalid number of retries', async () => {
    const wanted = 'it must be a whole number from 0 to 20.';
    for (const num_retries of [-1, 1.5, '2', 21, true])
      expect(await setup.ask({ model: 'one', num_retries })).toEqual(
        refused(400, {
          message: `/chat/completions: Invalid type for parameter 'num_retries': ${wanted}`,
          type: 'invalid_request_error',
          param: 'num_retries',
        }),
      );
    expect(await setup.ask({ model: 'one' }, { 'x-litellm-num-retries': '-1' })).toEqual(
      refused(400, {
        message: `/chat/completions: Invalid value for header 'x-litellm-num-retries': ${wanted}`,
        type: 'invalid_request_error',
        param: 'x-litellm-num-retries',
      }),
    );
  });
});
