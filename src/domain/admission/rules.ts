import type { Charge } from './admission.ts';

/** State of a charge's counter before the charge. */
interface CounterState {
  readonly used: bigint;
  readonly reserved: bigint;
}

/**
 * Whether a charge is refused. It is refused when the use has reached the limit (`at`) or exceeds it (`above`). It is
 * also refused when the use and the reservations of other calls together have reached the limit. Reservations do not
 * matter for a charge of zero.
 */
export function isRefused({ limit, amount, refused }: Charge, { used, reserved }: CounterState): boolean {
  if (refused === 'at' ? used >= limit : used > limit) return true;
  return amount > 0n && reserved > 0n && used + reserved >= limit;
}
