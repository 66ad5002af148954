import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

let guarded: GuardedApp;
beforeAll(async () => {
  const words = { blocked_words: [{ keyword: 'classified', action: 'BLOCK' }] };
  guarded = await startGuarded([
    contentFilter('before', { ...words, default_on: true }),
    contentFilter('after', { ...words, mode: 'post_call' }),
    contentFilter('masks', {
      mode: ['pre_call', 'post_call'],
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
    }),
  ]);
});
afterAll(() => guarded.stop());

const message = "Content blocked: keyword 'classified' detected";

async function chat(content: string, guardrails: readonly string[]): Promise<unknown> {
  const query = `mutation ($input: ChatInput!) { chat(input: $input) {
    __typename ... on ChatCompletion { text } ... on UserError { message } } }`;
  const input = { model: 'chat', messages: [{ role: 'USER', content }], parameters: { guardrails } };
  const { body } = await guarded.ask('/graphql', { query, variables: { input } });
  return body;
}

describe('guardrails of a chat in the graph', () => {
  it('block the request before the upstream call, and block the answer', async () => {
    expect(await chat('classified', [])).toMatchObject({ data: { chat: { __typename: 'RejectedError', message } } });
    expect(guarded.upstreamRequests()).toEqual([]);
    guarded.setAnswer('it is classified');
    expect(await chat('hi', ['after'])).toMatchObject({ data: { chat: { __typename: 'RejectedError', message } } });
  });

  it('mask the request and the answer', async () => {
    guarded.setAnswer('ask b@example.com');
    expect(await chat('I am a@example.com', ['masks'])).toMatchObject({
      data: { chat: { text: 'ask [EMAIL_REDACTED]' } },
    });
    expect(guarded.upstreamRequests()[0]?.body).toContain('I am [EMAIL_REDACTED]');
  });

  it('end a stream with an error before a blocked text', async () => {
    guarded.setAnswer('one ', 'two ', 'three ', 'four ', 'five ', 'class', 'ified ', 'eight');
    const query = `subscription ($input: ChatInput!) { chatStream(input: $input) {
      __typename ... on ChatText { textSoFar } ... on ChatFailure { message } } }`;
    const input = { model: 'chat', messages: [{ role: 'USER', content: 'hi' }], parameters: { guardrails: ['after'] } };
    const answer = await guarded.ask(
      '/graphql/stream',
      { query, variables: { input } },
      { accept: 'text/event-stream' },
    );
    const text = String(answer.body);
    expect(answer.status).toBe(200);
    // No text ends with `class`: the start of the blocked word is not sent.
    expect([text.includes('one two three four five '), text.includes('class"'), text.includes(message)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
