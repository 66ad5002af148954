import { addUsd } from '../money.ts';
import type { Answer, Decision } from './decision.ts';
import { addedMembers, sumOfUsages } from './groups.ts';

/** A decision by other models, of which some questions are asked again. */
export interface EarlierAnswers {
  readonly decision: Decision;
  /** Provider and model that answered. */
  readonly upstream: string;
  /** Positions of the questions to ask again, ascending; at least one. */
  readonly open: readonly number[];
}

/** Whether an answer is to be asked for again: a refusal, or a label mass below the limit. */
export function isWeak(answer: Answer, limit: number): boolean {
  if (answer.kind === 'refusal') return true;
  const mass = answer.evidence?.labelMass ?? null;
  return mass !== null && mass < limit;
}

/** Positions of weak answers. */
export const weakPositions = ({ answers }: Decision, limit: number): readonly number[] =>
  answers.flatMap((answer, position) => (isWeak(answer, limit) ? [position] : []));

const massOf = (answer: Answer): number => {
  if (answer.kind === 'refusal') return -1;
  return answer.evidence?.labelMass ?? 1;
};

const named = (answer: Answer, model: string): Answer =>
  answer.kind === 'refusal' || answer.model !== undefined ? answer : { ...answer, model };

/**
 * The whole decision after its open questions were asked again: `made` has one answer for each of them, in their order. Of two
 * answers to a question, that with more label mass counts; a decision model has all of it. Each answer names its model; token
 * counts and costs are added.
 */
export function withEarlier(earlier: EarlierAnswers, made: Decision, upstream: string): Decision {
  const { decision, open } = earlier;
  const answers = decision.answers.map((answer) => named(answer, earlier.upstream));
  for (const [index, position] of open.entries()) {
    const [before, now] = [answers[position], made.answers[index]];
    if (now === undefined) continue;
    if (before === undefined || massOf(now) > massOf(before)) answers[position] = named(now, upstream);
  }
  const isCharged = decision.charged !== undefined && made.charged !== undefined;
  return {
    model: decision.model,
    answers,
    usage: sumOfUsages([decision.usage, made.usage]),
    // A cost that only some of the calls report is not the cost of the decision.
    ...(isCharged ? { charged: addUsd(decision.charged, made.charged) } : {}),
    more: { ...made.more, ...decision.more },
    usageMore: addedMembers(decision.usageMore, made.usageMore),
  };
}
