import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { filter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';
const MASKED = '[EMAIL_REDACTED]';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded([
    filter('words', { blocked_words: [{ keyword: 'forbiddenword', action: 'BLOCK', description: 'not here' }] }),
    filter('mask', {
      inspect_embeddings: true,
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
    }),
    filter('cards', { patterns: [{ pattern_type: 'prebuilt', pattern_name: 'credit_card', action: 'BLOCK' }] }),
    filter('after', {
      mode: 'post_call',
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
      blocked_words: [{ keyword: 'classified', action: 'BLOCK' }],
    }),
    filter('hanging', { patterns: [{ pattern_type: 'regex', pattern: '(a+)+$', name: 'hang', action: 'MASK' }] }),
  ]);
});
afterAll(() => guarded.stop());
beforeEach(() => guarded.says('hello there'));

interface Route {
  readonly path: string;
  body(text: string): object;
}

const predicate = { type: 'predicate', name: 'ok', instructions: 'is it fine?' };

const ROUTES: readonly Route[] = [
  { path: '/v1/chat/completions', body: (text) => ({ model: 'chat', messages: [{ role: 'user', content: text }] }) },
  {
    path: '/v1/chat/completions',
    body: (text) => ({ model: 'claude', messages: [{ role: 'user', content: [{ type: 'text', text }] }] }),
  },
  { path: '/v1/completions', body: (text) => ({ model: 'chat', prompt: [text] }) },
  {
    path: '/v1/responses',
    body: (text) => ({ model: 'chat', input: [{ role: 'user', content: [{ type: 'input_text', text }] }] }),
  },
  { path: '/v1/responses', body: (text) => ({ model: 'chat', input: text }) },
  {
    path: '/v1/messages',
    body: (text) => ({
      model: 'claude',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'call it' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'a', input: { deep: [text] } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text }] }] },
      ],
    }),
  },
  {
    path: '/v1/messages',
    body: (text) => ({ model: 'chat', max_tokens: 9, system: text, messages: [{ role: 'user', content: 'hi' }] }),
  },
  {
    path: '/v1beta/models/gemini-up:generateContent',
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
  { path: '/v1/embeddings', body: (text) => ({ model: 'chat', input: ['fine', text] }) },
  { path: '/v1/decisions', body: (text) => ({ model: 'decider', input: text, questions: [predicate] }) },
  {
    path: '/v1/decisions',
    body: (text) => ({ model: 'decider', input: 'a', questions: [{ ...predicate, instructions: text }] }),
  },
  {
    path: '/v1/decisions',
    body: (text) => ({
      model: 'decider',
      input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
      questions: [predicate],
    }),
  },
  {
    path: '/v1/systemone',
    body: (text) => ({
      model: 'named',
      state: { a: [text] },
      questions: { ok: { type: 'noul', instructions: 'is it?' } },
    }),
  },
  {
    path: '/v1/alt-decisions',
    body: (text) => ({
      model: 'named',
      state: 'a',
      questions: { ok: { type: 'noul', criteria: { true: text, false: 'no' } } },
    }),
  },
];

const GENERATE = /generateContent/;

describe.each(ROUTES.map((route, index) => ({ ...route, index })))(
  'content filter on $path (request $index)',
  ({ path, body }) => {
    it('200: a masked text does not reach the upstream', async () => {
      const { status, headers } = await guarded.ask(path, { ...body(`mail ${SECRET} now`), guardrails: ['mask'] });
      const sent = JSON.stringify(guarded.sent());
      expect([status, guarded.sent().length, sent.includes(SECRET), sent.includes(`mail ${MASKED} now`)]).toEqual([
        200,
        1,
        false,
        true,
      ]);
      expect(headers['x-litellm-applied-guardrails']).toBe('mask');
    });

    it('200: a clean text passes as it is', async () => {
      const { status } = await guarded.ask(path, { ...body('a clean text'), guardrails: ['mask', 'words'] });
      expect([status, JSON.stringify(guarded.sent()).includes('a clean text')]).toEqual([200, true]);
    });

    it.skipIf(path === '/v1/embeddings')('400: a blocked word, without an upstream call', async () => {
      const answer = await guarded.ask(path, { ...body('a ForbiddenWord here'), guardrails: ['words'] });
      const message = "Content blocked: keyword 'forbiddenword' detected";
      expect([answer.status, guarded.sent()]).toEqual([400, []]);
      expect(answer.headers['x-litellm-applied-guardrails']).toBe('words');
      if (path.startsWith('/v1/messages'))
        expect(answer.body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error', message } });
      else if (GENERATE.test(path))
        expect(answer.body).toEqual({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
      else
        expect(answer.body).toEqual({
          error: {
            message,
            type: 'invalid_request_error',
            param: null,
            code: '400',
            provider_specific_fields: {
              error: message,
              keyword: 'forbiddenword',
              description: 'not here',
              guardrail_name: 'words',
              guardrail_mode: 'pre_call',
            },
          },
        });
    });
  },
);

const chat = (text: string, more: object = {}) => ({
  model: 'chat',
  messages: [{ role: 'user', content: text }],
  ...more,
});
const CHAT = '/v1/chat/completions';

describe('content filter', () => {
  it('400: a card number by its check digit; another number passes', async () => {
    const blocked = await guarded.ask(CHAT, chat('pay 4111 1111 1111 1111', { guardrails: ['cards'] }));
    expect(blocked).toMatchObject({
      status: 400,
      body: {
        error: {
          message: 'Content blocked: credit_card pattern detected',
          provider_specific_fields: { pattern: 'credit_card', guardrail_name: 'cards', guardrail_mode: 'pre_call' },
        },
      },
    });
    expect((await guarded.ask(CHAT, chat('pay 4111 1111 1111 1112', { guardrails: ['cards'] }))).status).toBe(200);
  });

  it('400: the answer is blocked, and its cost is recorded', async () => {
    const key = await guarded.newKey({ max_budget: 5 });
    guarded.says('this is Classified');
    const answer = await guarded.ask(CHAT, chat('hi', { guardrails: ['after'] }), key);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { provider_specific_fields: { guardrail_mode: 'post_call', guardrail_name: 'after' } } },
    });
    expect(guarded.sent().length).toBe(1);
    guarded.says('fine');
    const next = await guarded.ask(CHAT, chat('hi'), key);
    expect(Number(next.headers['x-litellm-key-spend'])).toBeCloseTo(2 * (9 * 0.001 + 3 * 0.01), 9);
  });

  it('200: the answer is masked', async () => {
    guarded.says(`ask ${SECRET}`);
    const { body, status } = await guarded.ask(CHAT, chat('hi', { guardrails: ['after'] }));
    expect(status).toBe(200);
    expect(body).toMatchObject({ choices: [{ message: { role: 'assistant', content: `ask ${MASKED}` } }] });
  });

  it('200: the list of runs, on request, without what was matched', async () => {
    const { body } = await guarded.ask(CHAT, chat(SECRET, { guardrails: ['mask'], include_guardrail_response: true }));
    expect(body).toMatchObject({
      guardrail_information: [
        {
          guardrail_name: 'mask',
          guardrail_provider: 'litellm_content_filter',
          guardrail_mode: 'pre_call',
          guardrail_status: 'guardrail_intervened',
          masked_entity_count: { email: 1 },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it('200: an empty list where none ran', async () => {
    const { body } = await guarded.ask(CHAT, chat('hi', { include_guardrail_response: true }));
    expect(body).toMatchObject({ choices: [{}], guardrail_information: [] });
  });

  it('400: an unknown guardrail, without an upstream call', async () => {
    const answer = await guarded.ask(CHAT, chat('hi', { guardrails: ['nope'] }));
    const message = "The guardrail 'nope' does not exist. Remove it from 'guardrails', or name one that is configured.";
    expect([answer.status, answer.body, guarded.sent()]).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: 'guardrails', code: '400' } },
      [],
    ]);
  });

  it('200: an expression that would hang another engine, and a text of 1 MB', async () => {
    const started = performance.now();
    const answer = await guarded.ask(
      CHAT,
      chat(`${'a'.repeat(100_000)}! ${'word '.repeat(200_000)}`, { guardrails: ['hanging', 'mask', 'cards', 'words'] }),
    );
    expect(answer.status).toBe(200);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
