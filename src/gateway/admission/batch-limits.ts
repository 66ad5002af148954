import type { Admission, Charge, Reservation } from '../../domain/admission/admission.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Clock } from '../../domain/clock.ts';
import type { RateLimit } from '../../domain/admission/rate-limits.ts';
import type { RateScope } from '../../domain/admission/scopes.ts';
import { type BudgetWindow, windowCounter, windowOf } from '../../domain/budgets/budget-window.ts';
import { RateLimited } from '../../domain/errors.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { allCalls, type BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import { type LabelBudgets, NO_LABEL_BUDGETS } from './label-budgets.ts';
import { type CallNames, rateScopesOf } from './rate-scopes.ts';

/** A limit of tokens of batches in a day. */
interface DailyLimit {
  readonly scope: RateScope;
  readonly id: string;
  readonly limit: number;
}

/** Limits of tokens a day: they hold for batches in place of those of the scope per minute. */
function dailyLimitsOf(key: VirtualKey | null, labels: CallNames['labels']): readonly DailyLimit[] {
  const limits: DailyLimit[] = [];
  const add = (scope: RateScope, id: string | undefined, limit: number | null | undefined): void => {
    if (id !== undefined && limit !== null && limit !== undefined) limits.push({ scope, id, limit });
  };
  if (key !== null) {
    add('api_key', key.hash, key.settings.tpdLimit ?? key.owners?.budget?.tpdLimit);
    add('team', key.owners?.team?.id, key.owners?.team?.limits.tpdLimit);
  }
  for (const { scope, id, tpdLimit } of labels) if (scope === 'end_user') add('end_user', id, tpdLimit);
  return limits;
}

/**
 * The limits per minute of a batch: each counts all of its requests and tokens, those of single models the calls of the
 * model. A scope with a limit of tokens a day has none per minute.
 */
export function batchScopesOf(
  key: VirtualKey | null,
  calls: BatchCalls,
  names: CallNames = { tags: [], labels: [] },
): readonly RateLimit[] {
  const daily = new Set(dailyLimitsOf(key, names.labels).map(({ scope, id }) => `${scope} ${id}`));
  const all = allCalls(calls);
  const scopes = new Map<string, RateLimit>();
  for (const [model, own] of Object.entries(calls))
    for (const limit of rateScopesOf(key, model, names)) {
      const name = `${limit.scope} ${limit.id}`;
      const { requests: _requests, tokens: _tokens, ...others } = limit;
      const amounts = limit.scope.startsWith('model_per_') ? own : all;
      if (!daily.has(name)) scopes.set(name, { ...limit, amounts });
      else if (limit.parallel !== undefined) scopes.set(name, { ...others, amounts: NO_AMOUNTS });
    }
  return [...scopes.values()];
}

const NO_AMOUNTS = { requests: 0, tokens: 0 };

/** Tokens of a batch that are reserved in the day's limits. */
export interface BatchReservation {
  /** Counts the tokens: the batch was started. The windows belong to its record. */
  commit(): void;
  release(): void;
  readonly windows: readonly BudgetWindow[];
}

/** Reserves the tokens of a batch in the limits of the day. Null without any. Throws RateLimited. */
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

async function reserve(
  admission: Pick<Admission, 'reserve'>,
  limits: readonly DailyLimit[],
  { calls, now }: { readonly calls: BatchCalls; readonly now: Date },
): Promise<BatchReservation | null> {
  if (limits.length === 0) return null;
  const tokens = BigInt(allCalls(calls).tokens);
  const windows = limits.map(({ scope, id }) => ({
    ...windowOf({ scope: 'batch_tokens', ids: [scope, id], duration: '1d' }, now),
    amount: tokens,
  }));
  // A batch is admitted as a whole: it is refused only when the use has reached the limit without its tokens.
  const charges = windows.map((window, at): Charge => ({
    counter: windowCounter(window),
    limit: BigInt(Math.floor(limits[at]?.limit ?? 0)) - tokens + 1n,
    amount: tokens,
    refused: 'at',
  }));
  const decided = await admission.reserve(charges);
  if (decided.kind === 'reserved') return reservationOf(decided, windows, tokens);
  const at = charges.indexOf(decided.charge);
  const { scope, id, limit } = limits[at] ?? { scope: 'api_key', id: '', limit: 0 };
  const endMs = windows[at]?.endMs ?? 0;
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
