import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

/** Filter that blocks its name followed by `word`: the guardrail `key` blocks `keyword`. */
const blockFilter = (name: string, params: object = {}): object =>
  contentFilter(name, { blocked_words: [{ keyword: `${name}word`, action: 'BLOCK' }], ...params });

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded([
    ...['key', 'team', 'request'].map((name) => blockFilter(name)),
    blockFilter('answer', { mode: 'post_call' }),
  ]);
});
afterAll(() => guarded.stop());
beforeEach(() => guarded.setAnswer('hello there'));

/** Decision request of each format, with the given input, instructions and options. */
const FORMATS = [
  {
    path: '/v1/decisions',
    body: (input: string, instructions = 'x', options = ['yes', 'no']): object => ({
      model: 'decider',
      input,
      questions: [{ type: 'choice', name: 'ok', instructions, choices: options.map((value) => ({ value })) }],
    }),
  },
  {
    path: '/v1/systemone',
    body: (state: string, instructions = 'x', options = ['yes', 'no']): object => ({
      model: 'decider',
      state,
      questions: {
        ok: { type: 'choice', instructions, criteria: Object.fromEntries(options.map((option) => [option, null])) },
      },
    }),
  },
] as const;

const refusalBy = (name: string, mode = 'pre_call') => ({
  status: 400,
  body: {
    error: {
      message: `Content blocked: keyword '${name}word' detected`,
      provider_specific_fields: { guardrail_name: name, guardrail_mode: mode },
    },
  },
});

describe.each(FORMATS)('decisions at $path', ({ path, body }) => {
  it.each(['input', 'instructions'])('400: a guardrail of the key blocks a text in the %s', async (place) => {
    const key = await guarded.newKey({ metadata: { guardrails: ['key'] } });
    const request = place === 'input' ? body('a keyword') : body('x', 'a keyword');
    expect(await guarded.ask(path, request, key)).toMatchObject(refusalBy('key'));
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: a guardrail of the team of the key blocks a text', async () => {
    const response = await guarded.app.call('POST', '/team/new', { metadata: { guardrails: ['team'] } });
    const { team_id: team } = (await response.json()) as { team_id: string };
    const key = await guarded.newKey({ team_id: team });
    expect(await guarded.ask(path, body('a teamword'), key)).toMatchObject(refusalBy('team'));
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: a guardrail that the request names blocks a text', async () => {
    const request = { ...body('a requestword'), guardrails: ['request'] };
    expect(await guarded.ask(path, request)).toMatchObject(refusalBy('request'));
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: a guardrail blocks a text of the answer after the call', async () => {
    guarded.setAnswer('answerword');
    const request = { ...body('x', 'x', ['answerword', 'no']), guardrails: ['answer'] };
    expect(await guarded.ask(path, request)).toMatchObject(refusalBy('answer', 'post_call'));
    expect(guarded.upstreamRequests()).toHaveLength(1);
  });
});
