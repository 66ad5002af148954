import { describe, expect, it } from 'vitest';
import type { Answer, Decision, Question } from '../../../src/domain/decisions/decision.ts';
import { isWeak, weakPositions, mergeEarlierAnswers } from '../../../src/domain/decisions/earlier-answers.ts';
import type { Usd } from '../../../src/domain/money.ts';
import { randomFrom } from '../../support/random.ts';

const REFUSAL: Answer = { kind: 'refusal' };
const answer = (probability: number, labelMass: number | null = null): Answer => ({
  kind: 'predicate',
  probability,
  more: {},
  ...(labelMass === null ? {} : { evidence: { source: 'logprobs', labelMass, missingBound: null } }),
});
const decisionOf = (answers: readonly Answer[], tokens: number, charged?: bigint): Decision => ({
  model: `m${tokens}`,
  answers,
  usage: { inputTokens: tokens, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  ...(charged === undefined ? {} : { charged: charged as Usd }),
  more: {},
  usageMore: { cost: tokens },
});

/** Questions with the name `name` and their position. */
const questionsOf = (count: number, name = 'q'): readonly Question[] =>
  Array.from({ length: count }, (_unused, position) => ({
    kind: 'predicate',
    name: `${name}${position}`,
    instructions: null,
    rules: null,
    more: {},
  }));

describe('weak answers', () => {
  it.each([
    [REFUSAL, 0, true],
    [answer(0.5), 1, false],
    [answer(0.5, 0.4), 0, false],
    [answer(0.5, 0.4), 0.4, false],
    [answer(0.5, 0.4), 0.41, true],
    [answer(0.5, 0), 0, false],
  ])('%o with the limit %d is weak: %s', (candidate, limit, weak) => {
    expect(isWeak(candidate, limit)).toBe(weak);
  });
});

describe('a decision whose weakly answered questions were sent to another model', () => {
  it('has the better answer to each question with its model, and sums of usage and cost', () => {
    const decision = decisionOf([answer(0.1, 0.9), REFUSAL, answer(0.3, 0.2), REFUSAL, answer(0.5, 0.3)], 10, 5n);
    const open = weakPositions(decision, 0.5);
    expect(open).toEqual([1, 2, 3, 4]);
    const repeated = decisionOf([answer(0.6), answer(0.7, 0.8), REFUSAL, answer(0.8, 0.25)], 7, 2n);
    const earlier = { decision, questions: questionsOf(5, 'masked'), qualifiedModel: 'a/one', open };
    const merged = mergeEarlierAnswers(earlier, questionsOf(5), { decision: repeated, model: 'b/two' });
    expect(merged.qualifiedModel).toBe('a/one');
    // Each answer keeps its question: a guardrail may have masked the options of the first call.
    expect(merged.questions.map(({ name }) => name)).toEqual(['masked0', 'q1', 'q2', 'masked3', 'masked4']);
    expect(merged.decision).toEqual({
      model: 'm10',
      answers: [
        { ...answer(0.1, 0.9), model: 'a/one' },
        { ...answer(0.6), model: 'b/two' },
        { ...answer(0.7, 0.8), model: 'b/two' },
        REFUSAL,
        { ...answer(0.5, 0.3), model: 'a/one' },
      ],
      usage: { inputTokens: 17, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      charged: 7n,
      more: {},
      usageMore: { cost: 17 },
    });
  });

  it('has no reported cost where one of the calls reports none', () => {
    const decision = decisionOf([REFUSAL], 1, 5n);
    const questions = questionsOf(1);
    const earlier = { decision, questions, qualifiedModel: 'a', open: [0] };
    const merged = mergeEarlierAnswers(earlier, questions, { decision: decisionOf([REFUSAL], 1), model: 'b' });
    expect(merged.decision.charged).toBeUndefined();
  });

  it('keeps the order, sends a question to a model once, and sums costs, for random answers', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const randomBelow = randomFrom(seed);
      const random = (): number => randomBelow(1_000_000) / 1_000_000;
      const count = 1 + Math.floor(random() * 40);
      const limit = random();
      const models = Array.from({ length: 1 + Math.floor(random() * 5) }, (_unused, index) => `p/m${index}`);
      const someAnswer = (): Answer => {
        const kind = random();
        if (kind < 0.3) return REFUSAL;
        return kind < 0.4 ? answer(random()) : answer(random(), random());
      };
      /** Original answers by model and position. */
      const answersByModel = models.map(() => new Map<number, Answer>());
      const ask = (model: number, positions: readonly number[]): Decision => {
        const answers = positions.map((position) => {
          expect(answersByModel[model]?.has(position)).toBe(false);
          const original = someAnswer();
          answersByModel[model]?.set(position, original);
          return original;
        });
        return decisionOf(answers, model + 1, BigInt(model + 1));
      };
      let decision = ask(
        0,
        Array.from({ length: count }, (_unused, position) => position),
      );
      let calls = 1;
      for (let model = 1; model < models.length; model += 1) {
        const open = weakPositions(decision, limit);
        if (open.length === 0) break;
        const questions = questionsOf(count);
        decision = mergeEarlierAnswers({ decision, questions, qualifiedModel: 'p/m0', open }, questions, {
          decision: ask(model, open),
          model: models[model] ?? '',
        }).decision;
        calls += 1;
      }
      expect(decision.answers).toHaveLength(count);
      // The first model uses 1 token, the second 2, and so on.
      const tokens = (calls * (calls + 1)) / 2;
      expect([decision.usage.inputTokens, decision.usage.outputTokens, decision.charged]).toEqual([
        tokens,
        calls,
        BigInt(tokens),
      ]);
      for (const [position, finalAnswer] of decision.answers.entries()) {
        const answersToQuestion = answersByModel.flatMap((answers, model) => {
          const original = answers.get(position);
          return original === undefined ? [] : [{ original, model: models[model] }];
        });
        const isRefused = finalAnswer.kind === 'refusal';
        // A refusal remains only if every model refused.
        expect(!isRefused || answersToQuestion.every(({ original }) => original.kind === 'refusal')).toBe(true);
        if (finalAnswer.kind === 'refusal') continue;
        const { model, ...answerOfModel } = finalAnswer;
        expect(calls > 1 || model === undefined).toBe(true);
        expect(answersToQuestion).toContainEqual({ original: answerOfModel, model: model ?? 'p/m0' });
        // Only weak answers are repeated: all answers to a question but the last are weak.
        expect(answersToQuestion.slice(0, -1).every(({ original }) => isWeak(original, limit))).toBe(true);
      }
    }
  });
});
