import type { Reasoning } from './neutral-chat.ts';

/** Tokens of thought that an effort stands for where a dialect counts tokens, smallest first. */
const BUDGETS: readonly (readonly [effort: string, tokens: number])[] = [
  ['minimal', 512],
  ['low', 1024],
  ['medium', 4096],
  ['high', 16_384],
  ['xhigh', 32_768],
];

/** Most tokens of thought, for a dialect that counts them; null where the caller asked for no thought or said nothing. */
export function thoughtBudgetOf({ effort, budgetTokens }: Reasoning): number | null {
  if (budgetTokens !== null) return budgetTokens;
  return BUDGETS.find(([name]) => name === effort)?.[1] ?? null;
}

/** The effort, for a dialect that names it; of a budget the largest that fits in it. Null where nothing was said. */
export function effortOf({ effort, budgetTokens }: Reasoning): string | null {
  if (effort !== null || budgetTokens === null) return effort;
  if (budgetTokens <= 0) return 'none';
  return BUDGETS.findLast(([, tokens]) => tokens <= budgetTokens)?.[0] ?? 'minimal';
}
