import { type Budget, countStart } from '../../src/domain/budgets/budget.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import type { CountedKind, SpendStart } from '../../src/domain/spend/spend-row.ts';
import { budgetsOf } from './owned-budgets.ts';
import type { BudgetPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import type { Stores } from './stores.ts';

/** Spend of an object that may have a budget row. */
export interface CountedSpend {
  /** Spend in the current window of the budget; of all time in the first window, and without a budget. */
  readonly spend: Usd;
  /** Spend of all time. */
  readonly total: Usd;
}

/** A key, an owner of keys or a label of calls, with its budget row. */
interface BudgetOwner {
  readonly id: string;
  readonly budget: Budget | null | undefined;
}

/** Starts of the current budget windows. Objects whose whole spend counts are left out. */
export const startsOf = (all: readonly BudgetOwner[], now: Date): readonly SpendStart[] =>
  all.flatMap(({ id, budget }) => {
    const from = budget === null || budget === undefined ? null : countStart(budget, now);
    return from === null ? [] : [{ id, from }];
  });

/** Reads the spends of objects of one kind with two statements. Returns a function from the id to the spend. */
export async function countedSpends(
  { spend }: Pick<Stores, 'spend'>,
  kind: Exclude<CountedKind, 'key'>,
  { all, now }: { readonly all: readonly BudgetOwner[]; readonly now: Date },
): Promise<(id: string) => CountedSpend> {
  const starts = startsOf(all, now);
  const [totals, since] = await Promise.all([
    all.length === 0
      ? new Map<string, Usd>()
      : spend.totalsOfOwners(
          kind,
          all.map(({ id }) => id),
        ),
    starts.length === 0 ? new Map<string, Usd>() : spend.totalsSince(kind, starts),
  ]);
  const windowed = new Set(starts.map(({ id }) => id));
  return (id) => {
    const total = totals.get(id) ?? ZERO_USD;
    return { total, spend: windowed.has(id) ? (since.get(id) ?? ZERO_USD) : total };
  };
}

/** A row with the budget that it names, and its spend in the window of that budget. */
export interface BudgetedRow<Row> {
  readonly row: Row;
  readonly budget: Budget | null;
  readonly spend: Usd;
}

/** Rows with their budgets and spend: three statements for any number. */
export async function budgetedRows<Row extends { readonly id: string; readonly budgetId: string | null }>(
  scope: Scope<BudgetPlatform & { readonly stores: Pick<Stores, 'budgets' | 'spend'> }>,
  kind: Exclude<CountedKind, 'key'>,
  rows: readonly Row[],
): Promise<readonly BudgetedRow<Row>[]> {
  const { stores, clock } = scope.platform;
  const budgets = await budgetsOf(scope, rows);
  const all = rows.map((row) => ({ row, id: row.id, budget: budgets.get(row.budgetId ?? '') ?? null }));
  const spentBy = await countedSpends(stores, kind, { all, now: clock.now() });
  return all.map(({ row, id, budget }) => ({ row, budget, spend: spentBy(id).spend }));
}

/**
 * Id of the budget row whose window applies to the spend of a key. Null when the key has its own window or no budget
 * row.
 */
export const windowBudgetId = ({ budgetDuration, settings }: Pick<VirtualKey, 'budgetDuration' | 'settings'>) =>
  budgetDuration === null ? (settings.budgetId ?? null) : null;

/**
 * The spend that counts: since the spend was last set, or since the window of the budget row began, whichever is later.
 * That is the smaller one. `inWindow` is null in the first window, and without a budget row.
 */
export const smallerSpend = (sinceSet: Usd, inWindow: Usd | null): Usd =>
  inWindow !== null && inWindow < sinceSet ? inWindow : sinceSet;

/** Refuses an amount that a spend cannot be reset to. Throws InvalidInput. */
export function assertReset(resetTo: Usd, spend: Usd): void {
  if (resetTo < 0n) throw invalidReset('reset_to must be >= 0');
  if (resetTo > spend) throw invalidReset('reset_to must be <= current spend');
}

const invalidReset = (message: string): InvalidInput => new InvalidInput(message, [], { field: 'reset_to' });
