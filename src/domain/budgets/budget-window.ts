import { spendCounter } from '../admission/counters.ts';
import { fixedWindowEnd } from '../keys/durations.ts';

/**
 * Scopes of budgets with a separate counter for each window. A budget of a scope `model_per_…` is for the calls of one
 * key, user, team or end user to one model.
 */
export type WindowScope =
  | 'global'
  | 'provider'
  | 'deployment'
  | 'model_per_key'
  | 'model_per_user'
  | 'model_per_team'
  | 'model_per_end_user';

/** One window of a budget, as a call counts in it. */
export interface BudgetWindow {
  /** Name of the window in the store. */
  readonly name: string;
  /** End of the window, in Unix ms; 0 for a budget that is never reset. */
  readonly endMs: number;
  /** Amount that a call adds; its cost when absent. */
  readonly amount?: bigint;
}

/** The window of a budget or of a batch token limit that `now` is in. Throws InvalidInput for a malformed duration. */
export function budgetWindowOf(
  {
    scope,
    ids,
    duration,
  }: {
    readonly scope: WindowScope | 'batch_tokens';
    /**
     * Ids of the budget in its scope, e.g. the hash of a key and a model; empty for `global`. The ids of a user or a
     * team have its time of creation, in Unix ms.
     */
    readonly ids: readonly string[];
    readonly duration: string | null;
  },
  now: Date,
): BudgetWindow {
  const endMs = duration === null ? 0 : fixedWindowEnd(duration, now).getTime();
  // JSON: ids may contain any separator, and lone surrogates and NUL are escaped.
  return { name: JSON.stringify([endMs, scope, ...ids]), endMs };
}

/** The counter of a window. */
export const windowCounter = ({ name }: BudgetWindow): string => spendCounter('window', name);
