import { expect, it } from 'vitest';
import type { Answer, MadeDecision, Question } from '../../../src/domain/decisions/decision.ts';
import { decisionTexts } from '../../../src/domain/guardrails/texts/decision-texts.ts';

const common = { name: 'secret name', instructions: 'secret question', more: {} };
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

const choice: Question = {
  kind: 'choice',
  ...common,
  options: [
    { value: 'secret a', description: 'secret' },
    { value: true, description: null },
    { value: 'secret b', description: null },
    { value: 'secret', description: null },
    { value: 'X', description: null },
  ],
};
const score: Question = {
  kind: 'score',
  ...common,
  levels: [
    { label: 'secret low', description: null },
    { label: { json: { text: 'secret high' } }, description: null },
  ],
};
const predicate: Question = { kind: 'predicate', ...common, rules: null };
const scoreAnswer: Answer = {
  kind: 'score',
  score: 1,
  confidence: 1,
  probabilities: new Map([['0', 1]]),
  legend: new Map<string, unknown>([
    ['0', 'secret legend'],
    ['1', 7],
  ]),
  more: {},
};

const made = (questions: readonly Question[], answers: readonly Answer[], more: object = {}): MadeDecision => ({
  qualifiedModel: 'p/m',
  questions,
  decision: { model: 'm', answers, usage, more: { ...more }, usageMore: {} },
});

/** The decision in which each text from the word `secret` on is `X`. */
function masked(decision: MadeDecision): MadeDecision {
  const { places, withTexts } = decisionTexts(decision);
  return withTexts(places.map(({ text }) => text.replace(/secret.*/, 'X')));
}

it('options stay distinct, and each keeps its probability; boolean options are no texts', () => {
  const probabilities = new Map([
    ['secret b', 0.5],
    ['true', 0.25],
    ['secret other', 0.125],
    ['X', 0.125],
  ]);
  const answer: Answer = { kind: 'choice', choice: 'secret b', confidence: 1, probabilities, more: { note: 'secret' } };
  const { questions, decision } = masked(made([choice], [answer]));
  expect(questions).toEqual([
    {
      ...choice,
      options: ['X (2)', true, 'X (3)', 'X (4)', 'X'].map((value, index) => ({
        value,
        description: index === 0 ? 'secret' : null,
      })),
    },
  ]);
  expect(decision.answers).toEqual([
    {
      ...answer,
      choice: 'X (3)',
      probabilities: new Map([
        ['X (3)', 0.5],
        ['true', 0.25],
        ['X (5)', 0.125],
        ['X', 0.125],
      ]),
      more: { note: 'X' },
    },
  ]);
});

it('labels of levels, texts of the upstream about levels, and members beyond the format are edited', () => {
  const { questions, decision } = masked(made([score], [scoreAnswer], { id: 'secret id', note: { text: 'secret' } }));
  const levels = [
    { label: 'X', description: null },
    { label: { json: { text: 'X' } }, description: null },
  ];
  expect(questions).toEqual([{ ...score, levels }]);
  const legend = new Map<string, unknown>([
    ['0', 'X'],
    ['1', 7],
  ]);
  expect(decision).toMatchObject({ answers: [{ legend }], more: { id: 'secret id', note: { text: 'X' } } });
});

it('a refusal has no texts: its question stays as the caller sent it', () => {
  const refused = made([choice, score, predicate], [{ kind: 'refusal' }]);
  expect(decisionTexts(refused).places).toEqual([]);
  const answers = Array.from({ length: 3 }, () => ({ kind: 'refusal' }));
  expect(masked(refused)).toEqual({ ...refused, decision: { ...refused.decision, answers } });
});
