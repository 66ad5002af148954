import { describe, expect, it, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { capabilityAnswer, fuseAnswer } from '../../support/tier-upstream.ts';
import { answerText, chat, answerTextFor, rowsOf, upstream, useRouters } from './router-client.ts';

useRouters();

describe('a judge', () => {
  it('selects the tier; its call is a priced call of the same key in the same trace', async () => {
    upstream.judge = 'The tier is {"tier": "COMPLEX"}.';
    const response = await chat('judged', 'hi');
    expect(await answerText(response)).toBe('from tier-c');
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(rows.map((row) => `${row.model_group} ${row.spend}`).toSorted()).toEqual(['judge-1 0.15', 'tier-c 0.015']);
    expect(new Set(rows.map((row) => row.api_key)).size).toBe(1);
    expect(rows.find((row) => row.model_group === 'tier-c')?.metadata.routing_decision).toMatchObject({
      cause: 'llm_classifier',
      signals: ['llm:COMPLEX'],
    });
    expect(upstream.seen[0]?.body).toMatchObject({
      model: 'judge-1',
      max_tokens: 256,
      response_format: { type: 'json_schema' },
    });
  });

  it('may answer with the label of a tier; the decision has the tier and its label', async () => {
    upstream.judge = '{"tier": "Cheap"}';
    const response = await chat('judged', 'Think step by step, analyze');
    expect(await answerText(response)).toBe('from tier-s');
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(rows.find((row) => row.model_group === 'tier-s')?.metadata.routing_decision).toMatchObject({
      tier: 'SIMPLE',
      tier_label: 'Cheap',
    });
  });

  it.each([
    ['an unknown tier', '{"tier": "HUGE"}'],
    ['another member', '{"tier": "COMPLEX", "more": 1}'],
    ['no object', 'COMPLEX'],
    ['an error', { status: 500 }],
  ])('is replaced by the heuristic after %s, without a retry', async (_case, judge) => {
    upstream.judge = judge;
    const response = await chat('judged', 'hi');
    expect(await answerText(response)).toBe('from tier-s');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['judge-1', 'tier-s']);
  });

  it('is replaced by the default model after an error, with classifier_fallback default_model', async () => {
    upstream.judge = { status: 500 };
    expect(await answerTextFor('judged-default', 'hi')).toBe('from spare');
  });

  it('is not called by heuristic_first for texts of the tier heuristic_first_max_tier', async () => {
    upstream.judge = '{"tier": "REASONING"}';
    expect(await answerTextFor('first', 'hi')).toBe('from tier-s');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
    expect(await answerTextFor('first', 'Explain how an API endpoint works.')).toBe('from tier-r');
  });

  it('is called by hybrid only for scores near a border', async () => {
    upstream.judge = '{"tier": "REASONING"}';
    expect(await answerTextFor('hybrid', 'hi')).toBe('from tier-s');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
    // One word about code scores 0.15, which is the border.
    expect(await answerTextFor('hybrid', `Please look at this ${'word '.repeat(12)} function now and tell me.`)).toBe(
      'from tier-r',
    );
  });
});

describe('a capability router', () => {
  it.each([
    ['at the threshold of a supported task', capabilityAnswer(0.6), 'tier-s'],
    ['below the threshold of a supported task', capabilityAnswer(0.59), 'tier-r'],
    ['at the threshold of an uncertain task', capabilityAnswer(0.7, 'uncertain', 'UNC-1'), 'tier-s'],
    ['below the threshold of an unmatched task', capabilityAnswer(0.69, 'unmatched', 'none'), 'tier-r'],
    ['at the threshold of an unsupported task', capabilityAnswer(0.8, 'unsupported', 'LIM-2'), 'tier-s'],
    ['with a rule of another boundary', capabilityAnswer(0.99, 'supported', 'LIM-1'), 'tier-r'],
    ['with a probability above 1', capabilityAnswer(1.1), 'tier-r'],
  ])('selects a tier %s', async (_case, judge, model) => {
    upstream.judge = judge;
    expect(await answerTextFor('capable', 'Prove it')).toBe(`from ${model}`);
  });

  it('records boundary, rule and probability', async () => {
    upstream.judge = capabilityAnswer(0.9);
    const response = await chat('capable', 'hi');
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(rows.find((row) => row.model_group === 'tier-s')?.metadata.routing_decision).toMatchObject({
      cause: 'capability_classifier',
      signals: ['capability-boundary:supported', 'capability-rule:SUP-1'],
      probability: 0.9,
    });
  });

  it('uses the capable tier after a timeout, calls no judge during the cooldown, then calls it once', async () => {
    upstream.judge = 'no answer';
    expect(await answerTextFor('capable', 'hi')).toBe('from tier-r');
    expect(await answerTextFor('capable', 'hi')).toBe('from tier-r');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['judge-1', 'tier-r', 'tier-r']);
    upstream.judge = capabilityAnswer(0.9);
    await vi.waitFor(async () => expect(await answerTextFor('capable', 'hi')).toBe('from tier-s'), POLLING);
    expect(upstream.seen.filter(({ model }) => model === 'judge-1')).toHaveLength(2);
  });
});

describe('a Fuse v2 router', () => {
  it.each([
    ['within the gap', fuseAnswer(0.8, 0.9), 'tier-s'],
    ['beyond the gap', fuseAnswer(0.79, 0.9), 'tier-r'],
    ['after an answer with another member', fuseAnswer(0.9, 0.9).replace('{', '{"x":1,'), 'tier-r'],
  ])('selects a model %s', async (_case, judge, model) => {
    upstream.judge = judge;
    expect(await answerTextFor('fuse', 'hi')).toBe(`from ${model}`);
  });

  it('sends profiles and the task, and records signals of llm-v2', async () => {
    upstream.judge = fuseAnswer(0.8, 0.9);
    const response = await chat('fuse', 'Fix the join');
    const messages = upstream.seen[0]?.body['messages'] as { role: string; content: string }[];
    expect(JSON.parse(messages[1]?.content ?? '')).toEqual({
      caller_constraints: '',
      task_and_follow_ups: ['Fix the join'],
    });
    expect(messages[0]?.content).toContain(
      '{"prompt_version":"llm-v2-1","harness":"c","efficient":{"model":"tier-s","profile":"a"}',
    );
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    const decision = rows.find((row) => row.model_group === 'tier-s')?.metadata.routing_decision;
    expect(decision).toMatchObject({ cause: 'llm_v2_classifier', probability: 0.8 });
    expect((decision?.['signals'] as string[] | undefined)?.every((signal) => signal.startsWith('llm-v2:'))).toBe(true);
  });
});
