import { addUsd } from '../money.ts';
import type { Answer, Decision } from './decision.ts';
import { sumOfMembers, sumOfUsages } from './groups.ts';

/** A decision by other models, of which some questions are asked again. */
export interface EarlierAnswers {
  readonly decision: Decision;
  /** Provider and model that answered. */
  readonly upstream: string;
  /** Positions of the questions to ask again, ascending; at least one. */
  readonly open: readonly number[];
}

/** Whether the question of an answer is asked again: the answer is a refusal, or its label mass is below the limit. */
export function isWeak(answer: Answer, limit: number): boolean {
  if (answer.kind === 'refusal') return true;
  const mass = answer.evidence?.labelMass ?? null;
  return mass !== null && mass < limit;
}

/** Positions of the answers that `isWeak` is true for. */
export const weakPositions = ({ answers }: Decision, limit: number): readonly number[] =>
  answers.flatMap((answer, position) => (isWeak(answer, limit) ? [position] : []));

const massOf = (answer: Answer): number => {
  if (answer.kind === 'refusal') return -1;
  return answer.evidence?.labelMass ?? 1;
};

const withModel = (answer: Answer, model: string): Answer =>
  answer.kind === 'refusal' || answer.model !== undefined ? answer : { ...answer, model };

/**
 * The whole decision after its open questions were asked again: `latest` has one answer for each of them, in their
 * order. Of two answers to a question, the one with more label mass counts, else the earlier one. A refusal counts as
 * -1, an unknown label mass as 1. Each answer names its model. Token counts are added, and costs if both are known.
 */
export function mergeEarlierAnswers(earlier: EarlierAnswers, latest: Decision, upstream: string): Decision {
  const { decision, open } = earlier;
  const answers = decision.answers.map((answer) => withModel(answer, earlier.upstream));
  for (const [index, position] of open.entries()) {
    const [before, now] = [answers[position], latest.answers[index]];
    if (now === undefined) continue;
    if (before === undefined || massOf(now) > massOf(before)) answers[position] = withModel(now, upstream);
  }
  const isCharged = decision.charged !== undefined && latest.charged !== undefined;
  return {
    model: decision.model,
    answers,
    usage: sumOfUsages([decision.usage, latest.usage]),
    // A cost that only some of the calls report is not the cost of the decision.
    ...(isCharged ? { charged: addUsd(decision.charged, latest.charged) } : {}),
    more: { ...latest.more, ...decision.more },
    usageMore: sumOfMembers(decision.usageMore, latest.usageMore),
  };
}
