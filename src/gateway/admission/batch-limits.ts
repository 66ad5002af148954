import type { Admission, Charge, Reservation } from '../../domain/admission/admission.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Clock } from '../../domain/clock.ts';
import { type BudgetWindow, windowCounter, budgetWindowOf } from '../../domain/budgets/budget-window.ts';
import { RateLimited } from '../../domain/errors.ts';
import { allCalls, type BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import { type LabelBudgets, NO_LABEL_BUDGETS } from './label-budgets.ts';
import { type DailyLimit, dailyLimitsOf } from './rate-limits.ts';

/** Reservation of the tokens of a batch in the daily limits of tokens. */
export interface BatchReservation {
  /** Counts the tokens. Called when the batch has started. */
  commit(): void;
  release(): void;
  /** The budget windows that the tokens count in, for the record of the batch. */
  readonly windows: readonly BudgetWindow[];
}

/**
 * Reserves the tokens of a batch in the daily limits of tokens; null where no limit applies. Throws RateLimited when
 * the tokens do not fit.
 */
export type BatchReserver = (
  caller: Caller,
  calls: BatchCalls,
  labels: CallLabels | undefined,
) => Promise<BatchReservation | null>;

export const createBatchReserver =
  ({
    admission,
    labelBudgets = NO_LABEL_BUDGETS,
    clock,
  }: {
    readonly admission: Pick<Admission, 'reserve'>;
    readonly labelBudgets?: Pick<LabelBudgets, 'of'>;
    readonly clock: Pick<Clock, 'now'>;
  }): BatchReserver =>
  async ({ key }, calls, labels) => {
    const limits = dailyLimitsOf(key, await labelBudgets.of(labels, key));
    return reserve(admission, limits, { calls, now: clock.now() });
  };

/** A daily limit as a charge, with the window that the tokens count in. */
interface TokenCharge extends Charge {
  readonly daily: DailyLimit;
  readonly window: BudgetWindow;
}

async function reserve(
  admission: Pick<Admission, 'reserve'>,
  limits: readonly DailyLimit[],
  { calls, now }: { readonly calls: BatchCalls; readonly now: Date },
): Promise<BatchReservation | null> {
  if (limits.length === 0) return null;
  const tokens = BigInt(allCalls(calls).tokens);
  const charges = limits.map((daily): TokenCharge => {
    const { scope, id, limit } = daily;
    const window = budgetWindowOf({ scope: 'batch_tokens', ids: [scope, id], duration: '1d' }, now);
    return {
      daily,
      window: { ...window, amount: tokens },
      counter: windowCounter(window),
      // Admission compares only the earlier use with the limit. All tokens of a batch must fit, so the limit is lowered
      // by them. One is added, because `at` also refuses a use that equals the limit.
      limit: BigInt(Math.floor(limit)) - tokens + 1n,
      amount: tokens,
      refused: 'at',
    };
  });
  const decided = await admission.reserve(charges);
  if (decided.kind === 'reserved') {
    const windows = charges.map(({ window }) => window);
    return reservationOf(decided, windows, tokens);
  }
  const { daily, window } = decided.charge as TokenCharge;
  const { scope, id, limit } = daily;
  const { endMs } = window;
  const reset = `${new Date(endMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const remaining = Math.max(0, limit - Number(decided.used + decided.reserved));
  throw new RateLimited(
    `Rate limit exceeded for ${scope}: ${id}. Limit type: tokens per day. Current limit: ${limit}, Remaining: ${remaining}. Limit resets at: ${reset}`,
    'tokens',
    { retryAfterSeconds: Math.max(1, Math.ceil((endMs - now.getTime()) / 1_000)), resetAt: reset },
  );
}

const reservationOf = (
  reservation: Reservation,
  windows: readonly BudgetWindow[],
  tokens: bigint,
): BatchReservation => ({
  windows,
  commit: () => reservation.commit(windows.map(() => tokens)),
  release: () => reservation.release(),
});
