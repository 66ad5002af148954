import { InvalidInput } from '../errors.ts';
import { windowEnd, windowStart } from '../keys/durations.ts';
import { type Usd, usdNumber } from '../money.ts';

/** Budget and rate limits of a row, such as a user, a team or a budget row. Null is unlimited. */
export interface Limits {
  readonly maxBudget: Usd | null;
  /** Crossing it sends an alert. It refuses no call. */
  readonly softBudget: Usd | null;
  /** Reset interval of the spend, such as `1d`; null for never. */
  readonly budgetDuration: string | null;
  /** End of the current budget window; null without a budget duration. */
  readonly budgetResetAt: Date | null;
  /** Requests a minute. */
  readonly rpmLimit: number | null;
  /** Tokens a minute. */
  readonly tpmLimit: number | null;
  /** Tokens a day in batches. */
  readonly tpdLimit: number | null;
  readonly maxParallelRequests: number | null;
}

/** Limits of a budget, as they apply to one of the rows that refer to the budget. */
export interface CountedLimits extends Limits {
  /**
   * Total spend of the row's counter at the start of the budget window; null in the first window, where all spend
   * counts.
   */
  readonly spentBefore: Usd | null;
}

/** Limits per minute and of parallel calls. */
export type OwnerLimits = Pick<Limits, 'rpmLimit' | 'tpmLimit' | 'maxParallelRequests'>;

/** Changes to limits. An absent limit is unchanged, null removes the limit. */
export type LimitsPatch = Partial<Omit<Limits, 'budgetResetAt'>>;

export const NO_LIMITS: Limits = {
  maxBudget: null,
  softBudget: null,
  budgetDuration: null,
  budgetResetAt: null,
  rpmLimit: null,
  tpmLimit: null,
  tpdLimit: null,
  maxParallelRequests: null,
};

/** The limits of a row, without its other members. */
export function limitsOf(row: Limits): Limits {
  const { maxBudget, softBudget, budgetDuration, budgetResetAt, rpmLimit, tpmLimit, tpdLimit } = row;
  const { maxParallelRequests } = row;
  return { maxBudget, softBudget, budgetDuration, budgetResetAt, rpmLimit, tpmLimit, tpdLimit, maxParallelRequests };
}

/** Throws InvalidInput for an amount below zero. */
export function assertAmount(name: string, amount: Usd | null | undefined): void {
  if (amount === null || amount === undefined || amount >= 0n) return;
  throw new InvalidInput(`${name} must be a non-negative finite number. Received: ${usdNumber(amount)}`);
}

/** Limits with a patch applied. Throws InvalidInput for an amount below zero and for a malformed duration. */
export function withLimits(before: Limits, patch: LimitsPatch, now: Date): Limits {
  assertAmount('max_budget', patch.maxBudget);
  assertAmount('soft_budget', patch.softBudget);
  const { budgetDuration } = patch;
  const resetAt = typeof budgetDuration === 'string' ? windowEnd(budgetDuration, now) : null;
  return {
    maxBudget: patch.maxBudget === undefined ? before.maxBudget : patch.maxBudget,
    softBudget: patch.softBudget === undefined ? before.softBudget : patch.softBudget,
    budgetDuration: budgetDuration === undefined ? before.budgetDuration : budgetDuration,
    budgetResetAt: budgetDuration === undefined ? before.budgetResetAt : resetAt,
    rpmLimit: patch.rpmLimit === undefined ? before.rpmLimit : patch.rpmLimit,
    tpmLimit: patch.tpmLimit === undefined ? before.tpmLimit : patch.tpmLimit,
    tpdLimit: patch.tpdLimit === undefined ? before.tpdLimit : patch.tpdLimit,
    maxParallelRequests:
      patch.maxParallelRequests === undefined ? before.maxParallelRequests : patch.maxParallelRequests,
  };
}

/**
 * Start of the window that `now` is in, when the stored window has ended at `budgetResetAt`. Null while the stored
 * window lasts, and without a duration.
 */
export function currentWindowStart(
  { budgetDuration, budgetResetAt }: Pick<Limits, 'budgetDuration' | 'budgetResetAt'>,
  now: Date,
): Date | null {
  if (budgetDuration === null || budgetResetAt === null || budgetResetAt > now) return null;
  return windowStart(budgetDuration, budgetResetAt, now);
}

/** Whether a patch sets any limit. */
export const setsLimits = (patch: object): boolean =>
  Object.values(patch).some((value) => value !== null && value !== undefined);

/** Throws InvalidInput for a text with a NUL character, which PostgreSQL cannot store. The texts are by field name. */
export function assertStorable(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [field, text] of Object.entries(texts)) {
    if (!text?.includes('\0')) continue;
    const message = 'Value error, a name must not contain a NUL character';
    throw new InvalidInput('The name cannot be stored.', [{ path: ['body', field], rule: 'value_error', message }]);
  }
}
