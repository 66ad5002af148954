import { addUsd } from '../money.ts';
import type { Answer, Decision } from './decision.ts';
import { sumOfMembers, sumOfUsages } from './groups.ts';

/** A decision by other models, with the questions that are asked again. */
export interface EarlierAnswers {
  readonly decision: Decision;
  /** Provider and model that answered first, e.g. `typesafe/jev-latest`. */
  readonly qualifiedModel: string;
  /** Positions of the questions to ask again, ascending; at least one. */
  readonly open: readonly number[];
}

/** Whether the question of an answer is asked again: the answer is a refusal, or its label mass is below the limit. */
export function isWeak(answer: Answer, limit: number): boolean {
  if (answer.kind === 'refusal') return true;
  const mass = answer.evidence?.labelMass ?? null;
  return mass !== null && mass < limit;
}

/** Positions of the weak answers. */
export const weakPositions = ({ answers }: Decision, limit: number): readonly number[] =>
  answers.flatMap((answer, position) => (isWeak(answer, limit) ? [position] : []));

/** Label mass for comparisons. An unknown one counts as 1, and a refusal as less than every label mass. */
const comparableMass = (answer: Answer): number => {
  if (answer.kind === 'refusal') return -1;
  return answer.evidence?.labelMass ?? 1;
};

const withModel = (answer: Answer, model: string): Answer =>
  answer.kind === 'refusal' || answer.model !== undefined ? answer : { ...answer, model };

/**
 * A decision whose open questions were asked again. `latest` has one answer for each open question, in their order, by
 * the model `latestModel`. A latest answer replaces the earlier one if it has more label mass. Each answer names its
 * model. Token counts are added. Costs are added if both are known.
 */
export function mergeEarlierAnswers(earlier: EarlierAnswers, latest: Decision, latestModel: string): Decision {
  const { decision, open } = earlier;
  const answers = decision.answers.map((answer) => withModel(answer, earlier.qualifiedModel));
  for (const [index, position] of open.entries()) {
    const [before, now] = [answers[position], latest.answers[index]];
    if (now === undefined) continue;
    if (before === undefined || comparableMass(now) > comparableMass(before))
      answers[position] = withModel(now, latestModel);
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
