import type { CheckoutPosition } from './checkout.ts';
import { InvalidInput } from '../errors.ts';

/** Form of the ids that this process creates; no other text is looked up. */
export const CHECKOUT_ID = /^[\w-]{1,64}$/;

/** Opaque cursor of a checkout. */
export const checkoutCursor = ({ createdAt, id }: CheckoutPosition): string => `${createdAt.getTime()}.${id}`;

export function readCheckoutCursor(cursor: string): CheckoutPosition {
  const [ms = '', id = ''] = cursor.split('.');
  if (!/^\d{1,15}$/.test(ms) || !CHECKOUT_ID.test(id)) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), id };
}
