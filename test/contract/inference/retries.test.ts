import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { aTrace, left } from './left.ts';
import { CHAT, completionOf, MESSAGES, refused, said, type Scripted, startScripted } from './scripted.ts';

let house: Scripted;

beforeAll(async () => {
  house = await startScripted();
});

afterAll(() => house.stop());

beforeEach(() => house.plan({}));

const inOrder = (one = '', other = '') => Number(one) - Number(other);

describe('num_retries', () => {
  it('asks the same again until it answers, and tells how often', async () => {
    const from = house.upstream.received.length;
    house.plan({ 'one-up': [503, 500, 200] });
    const answer = await house.ask({ model: 'one', num_retries: 3 });
    expect(house.asked(from)).toEqual(['one-up', 'one-up', 'one-up']);
    expect(answer).toEqual({
      status: 200,
      tries: {
        'model-group': 'one',
        'model-id': expect.any(String),
        'attempted-retries': '2',
        'attempted-fallbacks': '0',
      },
      body: { ...completionOf('one-up'), model: 'one' },
    });
    expect(JSON.parse(house.upstream.received.at(-1)?.body ?? '')).toEqual({ model: 'one-up', messages: MESSAGES });
  });

  it('goes to another deployment first, wherever the fault is one of the deployment', async () => {
    for (const status of [401, 404, 429, 500]) {
      const from = house.upstream.received.length;
      house.plan({ 'pair-a': [status], 'pair-b': [200] });
      const before = await house.ask({ model: 'pair', num_retries: 1 });
      const after = await house.ask({ model: 'pair', num_retries: 1 });
      // Deployments take turns: one of the two calls begins at the one that fails.
      expect([said(before), said(after)]).toEqual(['I am pair-b', 'I am pair-b']);
      expect([before, after].map(({ tries }) => tries['attempted-retries']).toSorted(inOrder)).toEqual(['0', '1']);
      expect(house.asked(from).filter((model) => model === 'pair-a')).toHaveLength(1);
    }
  });

  it('in a header, which beats the body', async () => {
    house.plan({ 'one-up': [500, 500, 200] });
    const answer = await house.ask({ model: 'one', num_retries: 0 }, { 'x-litellm-num-retries': '2' });
    expect(answer).toMatchObject({ status: 200, tries: { 'attempted-retries': '2' } });
  });

  it('before the first byte of a stream', async () => {
    house.plan({ 'one-up': [500, 200] });
    const answer = await house.ask({ model: 'one', stream: true, num_retries: 1 });
    expect(answer).toMatchObject({ status: 200, tries: { 'attempted-retries': '1' } });
    expect(answer.body).toMatch(/"model":"one".*I am one-up.*\n\ndata: \[DONE\]\n\n$/s);
  });

  it('fails as it failed last, says how often it was tried, and does not hand on when to come again', async () => {
    house.plan({ 'one-up': [500, 429] });
    expect(await house.ask({ model: 'one', num_retries: 2 })).toEqual(
      refused(429, {
        message:
          'litellm.RateLimitError: RateLimitError: OpenAIException - one-up says 429 LiteLLM Retried: 2 times, LiteLLM Max Retries: 2',
        type: 'its_type',
      }),
    );
  });

  it('not for what would be refused again', async () => {
    for (const status of [400, 401, 403, 404, 413, 422]) {
      const from = house.upstream.received.length;
      house.plan({ 'one-up': [status] });
      expect((await house.ask({ model: 'one', num_retries: 5 })).status).toBe(status);
      expect(house.asked(from)).toEqual(['one-up']);
    }
  });

  it('leaves one spend row, at the deployment that answered, and one span', async () => {
    const { traceId, headers } = aTrace();
    house.plan({ 'one-up': [500, 200] });
    await house.ask({ model: 'one', num_retries: 1 }, headers);
    expect(await left(house.app, traceId)).toEqual([
      expect.objectContaining({
        name: 'chat one',
        attributes: expect.objectContaining({ 'http.request.resend_count': '1' }),
        spendRow: expect.objectContaining({ modelGroup: 'one', model: 'one-up', status: 'SUCCESS', costUsd: '1' }),
      }),
    ]);
  });

  it('ends with its caller, who need not wait', async () => {
    const { traceId, headers } = aTrace();
    const from = house.upstream.received.length;
    house.plan({ 'slow-up': [429] });
    const leaving = new AbortController();
    const refusedOnce = house.refuses('slow-up');
    const call = fetch(`${house.app.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.app.adminKey}`, ...headers },
      body: JSON.stringify({ model: 'slow', messages: MESSAGES, num_retries: 3 }),
      signal: leaving.signal,
    });
    await refusedOnce;
    leaving.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(async () =>
      expect(await left(house.app, traceId)).toEqual([
        expect.objectContaining({
          spendRow: expect.objectContaining({ modelGroup: 'slow', status: 'FAILURE', errorCode: 'CLIENT_GONE' }),
        }),
      ]),
    );
    expect(house.asked(from)).toEqual(['slow-up']);
  });

  it('400: what is no number of times', async () => {
    const wanted = 'it must be a whole number from 0 to 20.';
    for (const num_retries of [-1, 1.5, '2', 21, true])
      expect(await house.ask({ model: 'one', num_retries })).toEqual(
        refused(400, {
          message: `/chat/completions: Invalid type for parameter 'num_retries': ${wanted}`,
          type: 'invalid_request_error',
          param: 'num_retries',
        }),
      );
    expect(await house.ask({ model: 'one' }, { 'x-litellm-num-retries': '-1' })).toEqual(
      refused(400, {
        message: `/chat/completions: Invalid value for header 'x-litellm-num-retries': ${wanted}`,
        type: 'invalid_request_error',
        param: 'x-litellm-num-retries',
      }),
    );
  });
});
