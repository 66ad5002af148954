import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

let guarded: GuardedApp;

beforeAll(async () => {
  guarded = await startGuarded(
    [
      contentFilter('words', { blocked_words: [{ keyword: 'forbiddenword', action: 'BLOCK' }] }),
      contentFilter('mask', {
        mode: ['pre_call', 'post_call'],
        patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
      }),
      contentFilter('default', { default_on: true, blocked_words: [{ keyword: 'neverword', action: 'BLOCK' }] }),
    ],
    { passThrough: { path: '/own', guardrails: { words: null, mask: null } } },
  );
});
afterAll(() => guarded.stop());
beforeEach(() => guarded.setAnswer('fine'));

const refusal = (keyword: string, guardrail: string) => ({
  status: 400,
  body: {
    error: {
      message: `Content blocked: keyword '${keyword}' detected`,
      type: 'invalid_request_error',
      provider_specific_fields: { guardrail_name: guardrail, guardrail_mode: 'pre_call' },
    },
  },
});

describe('a pass-through path with guardrails', () => {
  it('200: texts are masked; all other members are unchanged', async () => {
    const body = { a: [{ b: 'to x@example.com' }], n: 1.0, deep: { ok: true } };
    guarded.setAnswer('from y@example.com');
    const answer = await guarded.ask('/own', body);
    expect(answer).toMatchObject({ status: 200, body: { text: 'from [EMAIL_REDACTED]' } });
    expect(answer.headers['x-litellm-applied-guardrails']).toBe('words,mask');
    expect(JSON.parse(guarded.upstreamRequests()[0]?.body ?? '')).toEqual({
      ...body,
      a: [{ b: 'to [EMAIL_REDACTED]' }],
    });
  });

  it('400: a blocked word in a nested member, without an upstream call', async () => {
    expect(await guarded.ask('/own', { a: { b: ['a forbiddenword'] } })).toMatchObject(
      refusal('forbiddenword', 'words'),
    );
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: a blocked word and a text to mask in a body that is not JSON', async () => {
    const plain = { 'content-type': 'text/plain' };
    const post = (text: string) =>
      guarded.app.call('POST', '/own', text, plain).then(async (answer) => [answer.status, await answer.json()]);
    expect(await post('a forbiddenword')).toMatchObject([400, refusal('forbiddenword', 'words').body]);
    expect(await post('to x@example.com')).toMatchObject([
      400,
      { error: { message: expect.stringContaining('would mask a text in this body') } },
    ]);
  });

  it('400: a body in an unsupported character set, without an upstream call', async () => {
    const answer = await guarded.app.call('POST', '/own', Buffer.from('forbiddenword', 'utf16le').toString('latin1'), {
      'content-type': 'text/plain; charset=utf-16le',
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: 'The guardrails of this call cannot check a body in this character set' } },
    ]);
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: a compressed body, without an upstream call', async () => {
    const { url, adminKey } = guarded.app;
    const answer = await fetch(`${url}/own`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'text/plain', 'content-encoding': 'gzip' },
      body: gzipSync('a text'),
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: {
          message: 'The guardrails of this call cannot check a compressed body',
          type: 'invalid_request_error',
          param: null,
          code: '400',
        },
      },
    ]);
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('200: a path without guardrails is not checked, even by default guardrails, as in the reference', async () => {
    const answer = await guarded.ask('/free', { a: 'neverword forbiddenword' });
    expect([answer.status, answer.headers['x-litellm-applied-guardrails']]).toEqual([200, undefined]);
  });
});

describe("a provider's own API", () => {
  it('400: default guardrails run', async () => {
    const answer = await guarded.ask('/openai/v1/other', { a: 'neverword' });
    expect(answer).toMatchObject(refusal('neverword', 'default'));
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: the guardrails of the key run', async () => {
    const key = await guarded.newKey({ metadata: { guardrails: ['words'] } });
    const answer = await guarded.ask('/openai/v1/other', { a: 'forbiddenword' }, key);
    expect(answer).toMatchObject(refusal('forbiddenword', 'words'));
  });
});

describe('coding agents', () => {
  const launch = (text: string) => ({ prompt: { text }, source: { repository: 'https://example.com/a/b' } });

  it('400: default guardrails run on the prompt of a new agent', async () => {
    const answer = await guarded.ask('/codeagent/v0/agents', launch('a neverword'));
    expect(answer).toMatchObject(refusal('neverword', 'default'));
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('200: a masked text replaces the text of the caller', async () => {
    const key = await guarded.newKey({ metadata: { guardrails: ['mask'] } });
    const answer = await guarded.ask('/codeagent/v0/agents', launch('to x@example.com'), key);
    expect(answer.status).toBe(200);
    expect(JSON.parse(guarded.upstreamRequests()[0]?.body ?? '')).toEqual(launch('to [EMAIL_REDACTED]'));
  });
});
