import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';
const MASKED = '[EMAIL_REDACTED]';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded([
    contentFilter('words', { blocked_words: [{ keyword: 'forbiddenword', action: 'BLOCK', description: 'not here' }] }),
    contentFilter('mask', {
      inspect_embeddings: true,
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
    }),
  ]);
});
afterAll(() => guarded.stop());
beforeEach(() => guarded.setAnswer('hello there'));

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

/** Error body of a refusal in the dialect of a path. */
function refusalAt(path: string, message: string): object {
  if (path.startsWith('/v1/messages')) return { type: 'error', error: { type: 'invalid_request_error', message } };
  if (path.includes('generateContent')) return { error: { code: 400, message, status: 'INVALID_ARGUMENT' } };
  const fields = { error: message, keyword: 'forbiddenword', description: 'not here' };
  return {
    error: {
      message,
      type: 'invalid_request_error',
      param: null,
      code: '400',
      provider_specific_fields: { ...fields, guardrail_name: 'words', guardrail_mode: 'pre_call' },
    },
  };
}

describe.each(ROUTES.map((route, index) => ({ ...route, index })))(
  'content filter on $path (request $index)',
  ({ path, body }) => {
    it('200: a masked text does not reach the upstream', async () => {
      const { status, headers } = await guarded.ask(path, { ...body(`mail ${SECRET} now`), guardrails: ['mask'] });
      const upstreamBodies = JSON.stringify(guarded.upstreamRequests());
      expect([
        status,
        guarded.upstreamRequests().length,
        upstreamBodies.includes(SECRET),
        upstreamBodies.includes(`mail ${MASKED} now`),
      ]).toEqual([200, 1, false, true]);
      expect(headers['x-litellm-applied-guardrails']).toBe('mask');
    });

    it('200: a clean text is unchanged', async () => {
      const { status } = await guarded.ask(path, { ...body('a clean text'), guardrails: ['mask', 'words'] });
      expect([status, JSON.stringify(guarded.upstreamRequests()).includes('a clean text')]).toEqual([200, true]);
    });

    // The guardrail `words` does not check the inputs of embeddings.
    it.skipIf(path === '/v1/embeddings')('400: a blocked word, without an upstream call', async () => {
      const answer = await guarded.ask(path, { ...body('a ForbiddenWord here'), guardrails: ['words'] });
      const message = "Content blocked: keyword 'forbiddenword' detected";
      expect([answer.status, guarded.upstreamRequests()]).toEqual([400, []]);
      expect(answer.headers['x-litellm-applied-guardrails']).toBe('words');
      expect(answer.body).toMatchObject(refusalAt(path, message));
    });
  },
);
