import { describe, expect, it } from 'vitest';
import {
  calibrateAnswer,
  MIN_OUTCOMES,
  fittedTemperature,
  type JudgedAnswer,
  logLoss,
  qualityOf,
} from '../../../src/domain/decisions/calibration.ts';
import type { Question } from '../../../src/domain/decisions/decision.ts';
import { answerOf } from '../../../src/domain/decisions/distribution.ts';
import { judgedAnswer } from '../../../src/domain/decisions/outcome.ts';
import { randomFrom } from '../../support/random.ts';

const PREDICATE: Question = { kind: 'predicate', name: 'late', instructions: null, more: {}, rules: null };
const CHOICE: Question = {
  kind: 'choice',
  name: 'team',
  instructions: null,
  more: {},
  options: [true, 'ops'].map((value) => ({ value, description: null })),
};
const SCORE: Question = {
  kind: 'score',
  name: 'anger',
  instructions: null,
  more: {},
  levels: ['calm', 'angry'].map((label) => ({ label, description: null })),
};

const repeated = (count: number, answer: JudgedAnswer): readonly JudgedAnswer[] =>
  Array.from({ length: count }, () => answer);

/** Outcomes of a model with the constant probability 0.9 that is right in `right` of 100 cases. */
const constantAnswers = (right: number): readonly JudgedAnswer[] => [
  ...repeated(right, { probabilities: [0.9, 0.1], outcome: 0 }),
  ...repeated(100 - right, { probabilities: [0.9, 0.1], outcome: 1 }),
];

describe('a temperature', () => {
  it('makes the probability of a constant answer equal to its share of right answers', () => {
    // 0.9 at temperature T is 1 / (1 + 9^(-1/T)). It is 0.75 where 9^(1/T) = 3, so T = 2.
    expect(fittedTemperature(constantAnswers(75))).toBeCloseTo(2, 9);
    expect(fittedTemperature(constantAnswers(90))).toBeCloseTo(1, 9);
    // It is 0.99 where 9^(1/T) = 99.
    expect(fittedTemperature(constantAnswers(99))).toBeCloseTo(Math.log(9) / Math.log(99), 9);
  });

  it('stays in its range where the optimum is outside of it', () => {
    expect(fittedTemperature(constantAnswers(0))).toBeCloseTo(20, 6);
    // The loss rounds to 0 in doubles above the lowest temperature.
    expect(fittedTemperature(constantAnswers(100))).toBeLessThan(0.06);
    expect(fittedTemperature(constantAnswers(100))).toBeGreaterThanOrEqual(0.05);
  });

  it('is not fitted to fewer than 30 outcomes', () => {
    // The last 15 right answers, and all 25 wrong ones.
    const answers = constantAnswers(75).slice(60);
    expect(fittedTemperature(answers.slice(0, MIN_OUTCOMES - 1))).toBeNull();
    expect(fittedTemperature(answers.slice(0, MIN_OUTCOMES))).not.toBeNull();
  });

  it('never gives a greater log loss than temperature 1 on the outcomes that it is fitted to', () => {
    const random = randomFrom(20_261_123);
    for (let round = 0; round < 300; round += 1) {
      const labels = 2 + random(5);
      const answers = Array.from({ length: MIN_OUTCOMES + random(40) }, (): JudgedAnswer => {
        const weights = Array.from({ length: labels }, () => (random(6) === 0 ? 0 : 1 + random(1000)));
        const sum = weights.reduce((total, weight) => total + weight, 0) || 1;
        return { probabilities: weights.map((weight) => weight / sum), outcome: random(labels) };
      });
      const temperature = fittedTemperature(answers) ?? Number.NaN;
      expect(logLoss(answers, temperature)).toBeLessThanOrEqual(logLoss(answers, 1));
      // The log loss is convex in the inverse temperature: no other temperature is better.
      for (const otherTemperature of [0.1, 0.5, 0.9, 1.1, 2, 5, 15])
        expect(logLoss(answers, temperature)).toBeLessThanOrEqual(logLoss(answers, otherTemperature) + 1e-9);
    }
  });
});

describe('the quality of answers', () => {
  /** An outcome is the index of the right label. Label 0 of a predicate is yes. */
  const ANSWERS: readonly JudgedAnswer[] = [
    { probabilities: [0.9, 0.1], outcome: 0 },
    { probabilities: [0.8, 0.2], outcome: 1 },
    { probabilities: [0.25, 0.75], outcome: 1 },
    { probabilities: [0.95, 0.05], outcome: 0 },
  ];

  it('counts P(yes) for predicates', () => {
    const { logLoss: loss, brier, calibrationError, reliability } = qualityOf('predicate', ANSWERS, 1);
    expect(loss).toBeCloseTo(-(Math.log(0.9) + Math.log(0.2) + Math.log(0.75) + Math.log(0.95)) / 4, 12);
    // 0.1², 0.8², 0.25² and 0.05².
    expect(brier).toBeCloseTo((0.01 + 0.64 + 0.0625 + 0.0025) / 4, 12);
    // Bins: 0.9 and 0.95 (both yes), 0.8 (no), 0.25 (no).
    expect(calibrationError).toBeCloseTo((2 * 0.075 + 0.8 + 0.25) / 4, 12);
    expect(reliability.filter(({ count }) => count > 0)).toEqual([
      { from: 0.2, to: 0.3, count: 1, reported: expect.closeTo(0.25, 12), observed: 0 },
      { from: 0.8, to: 0.9, count: 1, reported: expect.closeTo(0.8, 12), observed: 0 },
      { from: 0.9, to: 1, count: 2, reported: expect.closeTo(0.925, 12), observed: 1 },
    ]);
  });

  it('counts all labels for choices, and the most likely label in the curve', () => {
    const { brier, calibrationError, reliability } = qualityOf('choice', ANSWERS, 1);
    expect(brier).toBeCloseTo((2 * (0.01 + 0.64 + 0.0625 + 0.0025)) / 4, 12);
    // Bins: 0.9 and 0.95 (right), 0.8 (wrong), 0.75 (right).
    expect(calibrationError).toBeCloseTo((2 * 0.075 + 0.8 + 0.25) / 4, 12);
    expect(reliability.map(({ count }) => count)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 2]);
    expect(reliability[0]).toEqual({ from: 0, to: 0.1, count: 0, reported: null, observed: null });
  });

  it('improves with a fitted temperature', () => {
    const temperature = fittedTemperature(constantAnswers(75)) ?? 1;
    const [raw, fitted] = [1, temperature].map((usedTemperature) =>
      qualityOf('predicate', constantAnswers(75), usedTemperature),
    );
    expect(raw?.calibrationError).toBeCloseTo(0.15, 9);
    expect(fitted?.calibrationError).toBeCloseTo(0, 9);
    expect(fitted?.brier).toBeCloseTo(0.75 * 0.25, 9);
  });
});

describe('a calibrated answer', () => {
  const GROUP = { model: 'openai/tiny', kind: 'predicate', source: 'logprobs' };
  const temperatures = {
    temperatureOf: (group: object) => (JSON.stringify(group) === JSON.stringify(GROUP) ? 2 : null),
  };
  const evidence = { source: 'logprobs', labelMass: 0.99, missingBound: null } as const;

  it('has the probabilities at the temperature, and the raw probabilities', () => {
    const answer = answerOf(PREDICATE, [0.9, 0.1], evidence);
    expect(calibrateAnswer(PREDICATE, answer, { model: 'openai/tiny', scope: 'platform', temperatures })).toEqual({
      kind: 'predicate',
      probability: expect.closeTo(0.75, 9),
      more: {},
      evidence,
      calibration: { temperature: 2, raw: [0.9, expect.closeTo(0.1, 12)] },
    });
  });

  it('is unchanged without a temperature for its model, kind and source', () => {
    const answer = answerOf(PREDICATE, [0.9, 0.1], evidence);
    expect(calibrateAnswer(PREDICATE, answer, { model: 'openai/other', scope: 'platform', temperatures })).toBe(answer);
    const native = answerOf(PREDICATE, [0.9, 0.1], undefined);
    expect(calibrateAnswer(PREDICATE, native, { model: 'openai/tiny', scope: 'platform', temperatures })).toBe(native);
    expect(
      calibrateAnswer(PREDICATE, { kind: 'refusal' }, { model: 'openai/tiny', scope: 'platform', temperatures }),
    ).toEqual({
      kind: 'refusal',
    });
  });

  it('counts in the quality with its probabilities before calibration', () => {
    const answer = calibrateAnswer(PREDICATE, answerOf(PREDICATE, [0.9, 0.1], evidence), {
      model: 'openai/tiny',
      scope: 'platform',
      temperatures,
    });
    expect(judgedAnswer(PREDICATE, answer, false)).toEqual({
      probabilities: [0.9, expect.closeTo(0.1, 12)],
      outcome: 1,
    });
  });
});

describe('an outcome', () => {
  it.each<readonly [Question, unknown, number]>([
    [PREDICATE, true, 0],
    [PREDICATE, false, 1],
    [CHOICE, true, 0],
    [CHOICE, 'ops', 1],
    [SCORE, 1, 1],
  ])('for the question %o with the value %o is label %i', (question, outcome, index) => {
    if (question.kind === 'box') throw new Error('A box has no labels.');
    expect(judgedAnswer(question, answerOf(question, [0.5, 0.5], undefined), outcome)).toEqual({
      probabilities: [0.5, 0.5],
      outcome: index,
    });
  });

  it.each([[null], [2], ['yes'], [{}], ['']])('%o is refused for a predicate', (outcome) => {
    expect(() => judgedAnswer(PREDICATE, answerOf(PREDICATE, [0.5, 0.5], undefined), outcome)).toThrow(
      '`outcome` must be one of true, false.',
    );
  });

  it('is invalid for a refused question', () => {
    expect(() => judgedAnswer(PREDICATE, { kind: 'refusal' }, true)).toThrow('names a question without probabilities');
  });
});
