import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';
const MASKED = '[EMAIL_REDACTED]';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded(
    [
      contentFilter('mask', {
        default_on: true,
        patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
      }),
    ],
    { general: { store_decisions: 'full' } },
  );
});
afterAll(() => guarded.stop());

const upstreamBody = (): unknown => JSON.parse(guarded.upstreamRequests()[0]?.body ?? 'null');

describe('decisions with a guardrail', () => {
  it('200: texts are masked in place in the standard format; choice values and names are unchanged', async () => {
    const question = {
      type: 'choice',
      name: `who ${SECRET}`,
      instructions: `choose for ${SECRET}`,
      choices: [
        { value: 'a', description: `is ${SECRET}` },
        { value: SECRET, description: null },
      ],
    };
    const input = [{ role: 'user', content: [{ type: 'input_text', text: `from ${SECRET}` }] }];
    const { status } = await guarded.ask('/v1/decisions', { model: 'decider', input, questions: [question] });
    expect(status).toBe(200);
    expect(upstreamBody()).toEqual({
      model: 'up',
      input: [{ role: 'user', type: 'message', content: [{ type: 'input_text', text: `from ${MASKED}` }] }],
      questions: [
        {
          type: 'choice',
          name: `who ${SECRET}`,
          instructions: `choose for ${MASKED}`,
          choices: [{ value: 'a', description: `is ${MASKED}` }, { value: SECRET }],
        },
      ],
    });
  });

  it('200: texts are masked at every depth of the named-map format', async () => {
    const criteria = { 2: `two ${SECRET}`, 1: 'one', b: { deep: [SECRET] } };
    const { status } = await guarded.ask('/v1/systemone', {
      model: 'named',
      state: { ticket: { lines: [`a ${SECRET}`, 7, null] } },
      questions: { q: { type: 'choice', instructions: { text: SECRET }, criteria } },
    });
    expect(status).toBe(200);
    expect(upstreamBody()).toMatchObject({
      state: { ticket: { lines: [`a ${MASKED}`, 7, null] } },
      questions: {
        q: { instructions: { text: MASKED }, criteria: { 2: `two ${MASKED}`, 1: 'one', b: { deep: [MASKED] } } },
      },
    });
  });

  it.each([
    ['/v1/decisions', { model: 'decider', input: SECRET, questions: [{ type: 'predicate', instructions: 'x' }] }],
    ['/v1/systemone', { model: 'named', state: SECRET, questions: { ok: { type: 'noul', instructions: 'x' } } }],
  ])('200: %s lists the runs of guardrails only if `include_guardrail_response` is true', async (path, body) => {
    const { status, body: answer } = await guarded.ask(path, { ...body, include_guardrail_response: true });
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      guardrail_information: [{ guardrail_name: 'mask', guardrail_status: 'guardrail_intervened' }],
    });
    expect(guarded.upstreamRequests()[0]?.body).not.toContain('include_guardrail_response');
    const { body: plain } = await guarded.ask(path, { ...body, include_guardrail_response: 'true' });
    expect(plain).not.toHaveProperty('guardrail_information');
  });

  it('400: audio cannot be checked', async () => {
    const { status, body } = await guarded.ask('/v1/systemone', {
      model: 'named',
      state: 'x',
      audio: ['data:audio/wav;base64,AAAA'],
      questions: { ok: { type: 'noul', instructions: 'x' } },
    });
    expect([status, body, guarded.upstreamRequests()]).toMatchObject([
      400,
      { error: { message: "The guardrails of this call check texts, and cannot check 'audio'." } },
      [],
    ]);
  });

  it('200: the inputs of stored decisions are masked', async () => {
    // The tests above stored decisions.
    const query = 'query { decisions(first: 50) { edges { node { input } } } }';
    const answer = await guarded.app.call('POST', '/graphql', { query });
    const text = await answer.text();
    expect([answer.status, text.includes('"errors"'), text.includes(SECRET)]).toEqual([200, false, false]);
    expect(text).toContain(MASKED);
  });
});
