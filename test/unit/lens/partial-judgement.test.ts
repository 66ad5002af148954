import { describe, expect, it } from 'vitest';
import type { ContentPart } from '../../../src/domain/lens/content.ts';
import type { Analyst } from '../../../src/domain/lens/pipeline/analyst.ts';
import { judgeExecution, type ReviewInput } from '../../../src/domain/lens/pipeline/reviewing.ts';
import type { LensSettings } from '../../../src/domain/lens/settings.ts';

const SETTINGS = { context: 'c', checks: [] } as unknown as LensSettings;
const aPart = (spanId: string): ContentPart => ({
  executionId: 'e',
  spanId,
  parentSpanId: null,
  name: 'step',
  kind: 'llm',
  // A question contains at most 48,000 characters, so each part has its own question.
  content: 'x'.repeat(40_000),
  truncated: false,
  startTime: '2026-11-01T00:00:00.000Z',
  endTime: '2026-11-01T00:00:01.000Z',
});

/** Judges an execution with one part for each answer. The answers say whether their part can be assessed. */
async function judgementOf(...assessable: readonly boolean[]) {
  const answers = assessable.map((isAssessable) => ({ observations: [], assessable: isAssessable, reasoning: '' }));
  const analyst = { ask: async () => ({ value: answers.shift() }) } as unknown as Analyst;
  const input = {
    execution: { id: 'e', name: 'n', service: 's', metadata: [] },
    parts: assessable.map((_value, index) => aPart(`s${index}`)),
    partial: false,
    contentVersion: '1',
  } as unknown as ReviewInput;
  const { extraction, partial } = await judgeExecution(input, { settings: SETTINGS, findings: [], analyst });
  return { cannotAssess: extraction?.cannotAssess, partial };
}

describe('a judgement of an execution', () => {
  it.each([
    ['assessed in one part', [true], { cannotAssess: false, partial: false }],
    ['not assessable in one part', [false], { cannotAssess: true, partial: false }],
    ['assessed in both parts', [true, true], { cannotAssess: false, partial: false }],
    ['not assessable in its first part', [false, true], { cannotAssess: false, partial: true }],
    ['not assessable in its last part', [true, false], { cannotAssess: false, partial: true }],
  ])('%s', async (_what, assessable, expected) => {
    expect(await judgementOf(...assessable)).toEqual(expected);
  });
});
