import type { Reasoning } from './neutral-chat.ts';

/** Reasoning tokens of each effort, for dialects that count tokens, smallest first. */
const BUDGETS: readonly (readonly [effort: string, tokens: number])[] = [
  ['minimal', 512],
  ['low', 1024],
  ['medium', 4096],
  ['high', 16_384],
  ['xhigh', 32_768],
];

/**
 * Maximum reasoning tokens, for a dialect that counts them; null without a budget and without an effort of `BUDGETS`.
 */
export function thoughtBudgetOf({ effort, budgetTokens }: Reasoning): number | null {
  if (budgetTokens !== null) return budgetTokens;
  return BUDGETS.find(([name]) => name === effort)?.[1] ?? null;
}

/**
 * The effort, for a dialect that names it. For a budget: the largest effort within it, at least `minimal`; `none` for a
 * budget of 0. Null where the request has neither.
 */
export function effortOf({ effort, budgetTokens }: Reasoning): string | null {
  if (effort !== null || budgetTokens === null) return effort;
  if (budgetTokens <= 0) return 'none';
  return BUDGETS.findLast(([, tokens]) => tokens <= budgetTokens)?.[0] ?? 'minimal';
}
