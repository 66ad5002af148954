import type { Visibility } from '../caller.ts';
import type { Answer, Question } from './decision.ts';
import { answerOf, type LabelledQuestion, normalised, probabilitiesOf } from './distribution.ts';

/** Where a probability comes from; `native` for a decision model. */
export type ProbabilitySource = 'native' | 'logprobs' | 'votes' | 'self_reported';

/** Answers that share a calibration temperature. This is not the sampling temperature of a model. */
export interface CalibrationGroup {
  /** Provider and model, e.g. `typesafe/jev-latest`. */
  readonly model: string;
  readonly kind: LabelledQuestion['kind'];
  readonly source: ProbabilitySource;
}

/** Scope of the outcomes that administrators report. Its temperatures are the fallback for all other scopes. */
export const PLATFORM_SCOPE = 'platform';

/** Scope whose outcomes are fitted together: `platform`, `team:` and an id, or `key:` and a hash. */
export function outcomeScopeOf(visibility: Visibility): string {
  switch (visibility.kind) {
    case 'all':
      return PLATFORM_SCOPE;
    case 'team':
      return `team:${visibility.teamId}`;
    case 'key':
      return `key:${visibility.keyHash}`;
  }
}

/** Probabilities of an answer, and the index of the right label. */
export interface JudgedAnswer {
  /** Probabilities of the labels before calibration, in the order of the labels; for a predicate, yes and then no. */
  readonly probabilities: readonly number[];
  /** Index of the right label. */
  readonly outcome: number;
}

/**
 * Part of a reliability curve: answers with a similar probability of one label. The label is yes for predicates, else
 * the likeliest one.
 */
export interface ReliabilityBin {
  /** Lower and upper end of the probabilities. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Mean probability of the label; null without answers. */
  readonly reported: number | null;
  /** Share of the answers for which the label is the right one; null without answers. */
  readonly observed: number | null;
}

/** How well probabilities match outcomes. */
export interface Quality {
  /** Mean negative logarithm of the probability of the right label. */
  readonly logLoss: number;
  /** Mean squared difference to the outcome: of P(yes) for predicates, else summed over the labels. */
  readonly brier: number;
  /** Expected calibration error: mean distance from `reported` to `observed` in the bins, weighted by their answers. */
  readonly calibrationError: number;
  readonly reliability: readonly ReliabilityBin[];
}

/** Fitted temperatures of groups of answers. */
export interface Temperatures {
  /** Temperature fitted to the outcomes of the scope, else of the platform; null when neither has a fit. */
  temperatureOf(group: CalibrationGroup, scope: string): number | null;
}

/** No group has a temperature. */
export const UNCALIBRATED: Temperatures = { temperatureOf: () => null };

/** Minimum number of outcomes for a fit. */
export const MIN_OUTCOMES = 30;
/** Smaller probabilities are raised to this one, because the logarithm of 0 is infinite. */
const MIN_PROBABILITY = 1e-9;
/** Range of fitted temperatures. */
const MIN_TEMPERATURE = 1 / 20;
const MAX_TEMPERATURE = 20;
const BISECTION_STEPS = 60;
/** Number of bins of a reliability curve. */
const BINS = 10;

const binIndexOf = (probability: number): number => Math.min(BINS - 1, Math.floor(probability * BINS));

const logsOf = (probabilities: readonly number[]): readonly number[] =>
  probabilities.map((probability) => Math.log(Math.max(probability, MIN_PROBABILITY)));

/**
 * The probabilities raised to the power of the inverse temperature, and then divided by their sum. `logs` are the
 * logarithms of the probabilities.
 */
function scaled(logs: readonly number[], inverseTemperature: number): readonly number[] {
  const largest = Math.max(...logs);
  // Subtracting the largest logarithm keeps `exp` at most 1 and cancels out in the quotient.
  const weights = logs.map((log) => Math.exp((log - largest) * inverseTemperature));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Mean negative logarithm of the probability of the right label at a temperature. 0 without answers. */
export function logLoss(answers: readonly JudgedAnswer[], temperature: number): number {
  if (answers.length === 0) return 0;
  const sum = answers.reduce((total, { probabilities, outcome }) => {
    const probability = scaled(logsOf(probabilities), 1 / temperature)[outcome] ?? 0;
    return total - Math.log(Math.max(probability, Number.MIN_VALUE));
  }, 0);
  return sum / answers.length;
}

/** Derivative of the summed log loss by the inverse temperature. It never decreases, because the log loss is convex. */
function slope(logs: readonly (readonly number[])[], outcomes: readonly number[], inverseTemperature: number): number {
  return logs.reduce((total, logsOfAnswer, index) => {
    const mean = scaled(logsOfAnswer, inverseTemperature).reduce(
      (sum, probability, label) => sum + probability * (logsOfAnswer[label] ?? 0),
      0,
    );
    return total + mean - (logsOfAnswer[outcomes[index] ?? 0] ?? 0);
  }, 0);
}

/**
 * The temperature with the least log loss, 0.05 to 20; null with fewer than `MIN_OUTCOMES` answers. 1 where no other
 * temperature is better.
 */
export function fittedTemperature(answers: readonly JudgedAnswer[]): number | null {
  if (answers.length < MIN_OUTCOMES) return null;
  const logs = answers.map(({ probabilities }) => logsOf(probabilities));
  const outcomes = answers.map(({ outcome }) => outcome);
  // Bisection: finds the inverse temperature at which the slope is 0.
  let [low, high] = [1 / MAX_TEMPERATURE, 1 / MIN_TEMPERATURE];
  for (let step = 0; step < BISECTION_STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (slope(logs, outcomes, middle) < 0) low = middle;
    else high = middle;
  }
  const temperature = 2 / (low + high);
  return logLoss(answers, temperature) < logLoss(answers, 1) ? temperature : 1;
}

/**
 * Point of an answer on the reliability curve: the probability of one label, and whether that label is right.
 * `ReliabilityBin` says which label it is.
 */
function curvePoint(
  kind: LabelledQuestion['kind'],
  probabilities: readonly number[],
  outcome: number,
): { readonly probability: number; readonly isRight: boolean } {
  const label = kind === 'predicate' ? 0 : probabilities.indexOf(Math.max(...probabilities));
  return { probability: probabilities[label] ?? 0, isRight: outcome === label };
}

/** Quality of answers of one kind at a temperature. Without answers, all measures are 0 and all bins are empty. */
export function qualityOf(
  kind: LabelledQuestion['kind'],
  answers: readonly JudgedAnswer[],
  temperature: number,
): Quality {
  const scaledAnswers = answers.map(({ probabilities, outcome }) => ({
    probabilities: scaled(logsOf(probabilities), 1 / temperature),
    outcome,
  }));
  const brier = scaledAnswers.reduce((sum, { probabilities, outcome }) => {
    const counted = kind === 'predicate' ? probabilities.slice(0, 1) : probabilities;
    return sum + counted.reduce((total, one, label) => total + (one - (label === outcome ? 1 : 0)) ** 2, 0);
  }, 0);
  const points = scaledAnswers.map(({ probabilities, outcome }) => curvePoint(kind, probabilities, outcome));
  const reliability = Array.from({ length: BINS }, (_unused, index) =>
    binOf(
      index,
      points.filter(({ probability }) => binIndexOf(probability) === index),
    ),
  );
  const distance = reliability.reduce(
    (sum, { count, reported, observed }) => sum + count * Math.abs((reported ?? 0) - (observed ?? 0)),
    0,
  );
  const count = Math.max(1, answers.length);
  return {
    logLoss: logLoss(answers, temperature),
    brier: brier / count,
    calibrationError: distance / count,
    reliability,
  };
}

function binOf(index: number, points: readonly ReturnType<typeof curvePoint>[]): ReliabilityBin {
  const count = points.length;
  const mean = (of: (point: ReturnType<typeof curvePoint>) => number): number | null =>
    count === 0 ? null : points.reduce((sum, point) => sum + of(point), 0) / count;
  return {
    from: index / BINS,
    to: (index + 1) / BINS,
    count,
    reported: mean(({ probability }) => probability),
    observed: mean(({ isRight }) => (isRight ? 1 : 0)),
  };
}

/** Source of the probabilities of an answer; null for a refusal. */
export const probabilitySourceOf = (answer: Answer): ProbabilitySource | null =>
  answer.kind === 'refusal' ? null : (answer.evidence?.source ?? 'native');

/** The answer at the temperature of its group; unchanged where the group has no temperature. */
export function calibrateAnswer(
  question: Question,
  answer: Answer,
  {
    model,
    scope,
    temperatures,
  }: { readonly model: string; readonly scope: string; readonly temperatures: Temperatures },
): Answer {
  const raw = probabilitiesOf(question, answer);
  const source = probabilitySourceOf(answer);
  if (raw === null || source === null || question.kind === 'box' || answer.kind === 'refusal') return answer;
  const temperature = temperatures.temperatureOf({ model, kind: question.kind, source }, scope);
  const probabilities = temperature === null ? null : normalised(scaled(logsOf(raw), 1 / temperature));
  if (temperature === null || probabilities === null) return answer;
  const { more, evidence } = answer;
  const calibrated = answerOf(question, probabilities, evidence);
  if (calibrated.kind === 'refusal') return answer;
  const legend = answer.kind === 'score' ? { legend: answer.legend } : {};
  return { ...calibrated, ...legend, more, calibration: { temperature, raw } };
}
