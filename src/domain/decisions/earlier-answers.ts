import { addUsd } from '../money.ts';
import type { Answer, Decision, MadeDecision, Question } from './decision.ts';
import { sumOfMembers, sumOfUsages } from './groups.ts';

/** A decision by other models, with the questions that are asked again. `qualifiedModel` answered first. */
export interface EarlierAnswers extends MadeDecision {
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
 * A decision whose open questions were asked again. `latest` has one answer for each open question, in the order of the
 * questions, by the model `latestModel`. A latest answer replaces the earlier one if it has more label mass. Each
 * answer names its model. Token counts are added. Costs are added if both are known. `asked` are all questions of the
 * latest request. An answer keeps the question that it was given for, because a guardrail may have masked an earlier
 * one.
 */
export function mergeEarlierAnswers(
  earlier: EarlierAnswers,
  asked: readonly Question[],
  { decision: latest, model: latestModel }: { readonly decision: Decision; readonly model: string },
): MadeDecision {
  const { decision, open, qualifiedModel } = earlier;
  const answers = decision.answers.map((answer) => withModel(answer, qualifiedModel));
  const questions = asked.map((question, position) => earlier.questions[position] ?? question);
  for (const [index, position] of open.entries()) {
    const [before, now] = [answers[position], latest.answers[index]];
    if (now === undefined) continue;
    if (before !== undefined && comparableMass(now) <= comparableMass(before)) continue;
    answers[position] = withModel(now, latestModel);
    const question = asked[position];
    if (question !== undefined) questions[position] = question;
  }
  const isCharged = decision.charged !== undefined && latest.charged !== undefined;
  const merged: Decision = {
    model: decision.model,
    answers,
    usage: sumOfUsages([decision.usage, latest.usage]),
    // A cost that only some of the calls report is not the cost of the decision.
    ...(isCharged ? { charged: addUsd(decision.charged, latest.charged) } : {}),
    more: { ...latest.more, ...decision.more },
    usageMore: sumOfMembers(decision.usageMore, latest.usageMore),
  };
  return { qualifiedModel, questions, decision: merged };
}
