import type { Charge } from './admission.ts';

/** State of a charge's counter before the charge. */
interface CounterState {
  readonly used: bigint;
  readonly reserved: bigint;
}

/** Whether a charge is refused, by the rule of `Admission`. For a charge of zero, reservations do not matter. */
export function isRefused({ limit, amount, refused }: Charge, { used, reserved }: CounterState): boolean {
  const isUsedUp = refused === 'at' ? used >= limit : used > limit;
  if (isUsedUp) return true;
  return amount > 0n && reserved > 0n && used + reserved >= limit;
}
