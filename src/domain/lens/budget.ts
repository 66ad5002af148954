import { LimitExceeded } from '../errors.ts';
import { addUsd, type Usd, usdFrom, usdNumber, ZERO_USD } from '../money.ts';
import type { Lens, BudgetReservation } from './lens.ts';
import { monthOf } from './schedule.ts';

/** Lifetime of a reservation without a renewal, in ms. */
export const RESERVED_MS = 300_000;

const sumOf = (amounts: readonly Usd[]): Usd => amounts.reduce(addUsd, ZERO_USD);

/** The lens in the month of `now`: a new month begins without spend. */
export function inMonth(lens: Lens, now: Date): Lens {
  const month = monthOf(now);
  return lens.budgetMonth === month ? lens : { ...lens, budgetMonth: month, spent: ZERO_USD };
}

/** As `inMonth`, without expired reservations. */
function currentBudget(lens: Lens, now: Date): Lens {
  const reservations = lens.reservations.filter(({ expiresAt }) => new Date(expiresAt) > now);
  return { ...inMonth(lens, now), reservations };
}

const dollars = (amount: Usd): string => `$${usdNumber(amount).toFixed(3)}`;

/**
 * The lens with an amount reserved from its monthly budget; `wait` when the amount fits only after other reservations
 * end. Throws LimitExceeded when the rest of the budget is too small.
 */
export function withReservation(
  lens: Lens,
  wanted: Pick<BudgetReservation, 'id' | 'jobId' | 'amount'>,
  now: Date,
): Lens | 'wait' {
  const current = currentBudget(lens, now);
  const budget = usdFrom(lens.settings.monthlyBudget) ?? ZERO_USD;
  const remaining = (budget - current.spent) as Usd;
  if (remaining <= 0n)
    throw new LimitExceeded('Monthly lens budget reached; increase it or wait for next month', 'budget');
  if (wanted.amount > remaining)
    throw new LimitExceeded(
      `This model request needs up to ${dollars(wanted.amount)}, but ${dollars(remaining)} remains in the investigation budget. Increase the monthly budget or choose a cheaper model.`,
      'budget',
    );
  const reservedTotal = sumOf(current.reservations.map(({ amount }) => amount));
  if (wanted.amount > remaining - reservedTotal) return 'wait';
  const expiresAt = new Date(now.getTime() + RESERVED_MS).toISOString();
  return { ...current, reservations: [...current.reservations, { ...wanted, month: current.budgetMonth, expiresAt }] };
}

/** The lens with a reservation renewed; unchanged when the reservation was removed. */
export function withRenewedReservation(lens: Lens, id: string, now: Date): Lens {
  const expiresAt = new Date(now.getTime() + RESERVED_MS).toISOString();
  return { ...lens, reservations: lens.reservations.map((one) => (one.id === id ? { ...one, expiresAt } : one)) };
}

/** The lens without a reservation, and with the actual cost added to its spend. */
export function withCharge(lens: Lens, id: string, cost: Usd, now: Date): Lens {
  const current = currentBudget(lens, now);
  const reservations = current.reservations.filter((one) => one.id !== id);
  return { ...current, reservations, spent: addUsd(current.spent, cost) };
}
