import type { Charge } from './admission.ts';

/** What is counted for a charge before it is made. */
interface Counted {
  readonly used: bigint;
  readonly reserved: bigint;
}

/** Whether a charge is refused: the use has reached its limit, or together with what others have reserved. */
export function isRefused({ limit, amount, refused }: Charge, { used, reserved }: Counted): boolean {
  if (refused === 'at' ? used >= limit : used > limit) return true;
  return amount > 0n && reserved > 0n && used + reserved >= limit;
}
