import type {
  Answer,
  ChoiceQuestion,
  ProbabilityEvidence,
  PredicateQuestion,
  Question,
  ScoreQuestion,
} from './decision.ts';
import { optionText } from './decision.ts';

/** Questions with a distribution over labels. */
export type LabelledQuestion = PredicateQuestion | ChoiceQuestion | ScoreQuestion;

/** Probabilities are multiples of this, so that their sums are exact in double precision. */
const GRID = 2 ** -40;

/**
 * Weights of labels as probabilities with the exact sum 1. The first of the largest probabilities absorbs the rounding
 * error. Weights are finite and at least 0. Null when their sum is 0.
 */
export function normalised(weights: readonly number[]): readonly number[] | null {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const hasWeight = sum > 0;
  if (!hasWeight) return null;
  // The sum of large weights may be infinite. Dividing each weight by their number keeps the proportions.
  if (sum === Number.POSITIVE_INFINITY) return normalised(weights.map((weight) => weight / weights.length));
  const rounded = weights.map((weight) => Math.round(weight / sum / GRID) * GRID);
  const largest = indexOfLargest(rounded);
  const rest = rounded.reduce((total, probability, index) => (index === largest ? total : total + probability), 0);
  return rounded.with(largest, 1 - rest);
}

/** Index of the first of the largest values. */
const indexOfLargest = (values: readonly number[]): number => values.indexOf(Math.max(...values));

/** Confidence of a choice: 0 for a uniform distribution, 1 for a certain one. */
function choiceConfidence(probabilities: readonly number[]): number {
  const count = probabilities.length;
  if (count === 1) return 1;
  const largest = Math.max(...probabilities);
  return Math.min(1, Math.max(0, (count * largest - 1) / (count - 1)));
}

/**
 * Confidence of a score: 1 minus the mean distance from the most probable level. The distance is divided by the mean
 * distance of a uniform distribution from its middle.
 */
function scoreConfidence(probabilities: readonly number[]): number {
  const count = probabilities.length;
  if (count === 1) return 1;
  const top = indexOfLargest(probabilities);
  const distance = probabilities.reduce((sum, probability, level) => sum + probability * Math.abs(level - top), 0);
  const middle = (count - 1) / 2;
  const uniform = probabilities.reduce((sum, _probability, level) => sum + Math.abs(level - middle), 0) / count;
  return Math.max(0, 1 - distance / uniform);
}

/**
 * The answer to a question with these probabilities of its labels, whose sum is 1. The labels are yes and no, the
 * options, or the levels, in their order.
 */
export function answerOf(
  question: LabelledQuestion,
  probabilities: readonly number[],
  evidence: ProbabilityEvidence | undefined,
): Answer {
  const shared = { more: {}, ...(evidence === undefined ? {} : { evidence }) };
  switch (question.kind) {
    case 'predicate':
      return { kind: 'predicate', probability: probabilities[0] ?? 0, ...shared };
    case 'choice': {
      const texts = question.options.map(optionText);
      return {
        kind: 'choice',
        choice: texts[indexOfLargest(probabilities)] ?? '',
        confidence: choiceConfidence(probabilities),
        probabilities: new Map(texts.map((text, index) => [text, probabilities[index] ?? 0])),
        ...shared,
      };
    }
    case 'score':
      return {
        kind: 'score',
        score: probabilities.reduce((sum, probability, level) => sum + level * probability, 0),
        confidence: scoreConfidence(probabilities),
        probabilities: new Map(probabilities.map((probability, level) => [String(level), probability])),
        legend: null,
        ...shared,
      };
  }
}

/** Number of labels of a question. */
export function labelCount(question: LabelledQuestion): number {
  switch (question.kind) {
    case 'predicate':
      return 2;
    case 'choice':
      return question.options.length;
    case 'score':
      return question.levels.length;
  }
}

/** Probabilities of the labels of a question in their order; null where the answer has none for the question. */
export function probabilitiesOf(question: Question, answer: Answer): readonly number[] | null {
  if (answer.kind === 'predicate' && question.kind === 'predicate') return [answer.probability, 1 - answer.probability];
  if (answer.kind === 'choice' && question.kind === 'choice')
    return question.options.map((option) => answer.probabilities.get(optionText(option)) ?? 0);
  if (answer.kind === 'score' && question.kind === 'score')
    return question.levels.map((_level, index) => answer.probabilities.get(String(index)) ?? 0);
  return null;
}
