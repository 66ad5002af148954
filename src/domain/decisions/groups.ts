import type { Usage } from '../chat/usage.ts';
import { addUsd } from '../money.ts';
import type { Decision, DecisionRequest, Members } from './decision.ts';

/**
 * Splits a decision into requests of at most `most` questions each, in order; null does not split. Other members are
 * shared.
 */
export function splitDecision(decision: DecisionRequest, most: number | null): readonly DecisionRequest[] {
  const { questions } = decision;
  if (most === null || questions.length <= most) return [decision];
  return Array.from({ length: Math.ceil(questions.length / most) }, (_unused, group) => ({
    ...decision,
    questions: questions.slice(group * most, (group + 1) * most),
  }));
}

/** Sum of the token counts that every usage has. Optional members, such as audio tokens, are left out. */
export function sumOfUsages(usages: readonly Usage[]): Usage {
  const sum = (of: (usage: Usage) => number): number => usages.reduce((total, usage) => total + of(usage), 0);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
    cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
  };
}

/** Adds members that are numbers in both answers. Of other members with the same name, the value of `total` counts. */
export const sumOfMembers = (total: Members, more: Members): Members => ({
  ...more,
  ...Object.fromEntries(
    Object.entries(total).map(([name, value]) => {
      const other = more[name];
      return [name, typeof value === 'number' && typeof other === 'number' ? value + other : value];
    }),
  ),
});

/** Joins the decisions about the parts of `splitDecision`, in order. Throws RangeError without any. */
export function joinDecisions(decisions: readonly Decision[]): Decision {
  const [first, ...others] = decisions;
  if (first === undefined) throw new RangeError('No decision to join.');
  if (others.length === 0) return first;
  const charges = decisions.flatMap(({ charged }) => (charged === undefined ? [] : [charged]));
  return {
    model: first.model,
    answers: decisions.flatMap(({ answers }) => answers),
    usage: sumOfUsages(decisions.map(({ usage }) => usage)),
    // A cost that only some of the calls report is not the cost of the decision.
    ...(charges.length < decisions.length ? {} : { charged: charges.reduce((sum, charge) => addUsd(sum, charge)) }),
    // Of members with the same name, the one of the first decision counts.
    more: Object.assign({}, ...decisions.map(({ more }) => more).toReversed()) as Members,
    usageMore: others.reduce((total, { usageMore }) => sumOfMembers(total, usageMore), first.usageMore),
  };
}
