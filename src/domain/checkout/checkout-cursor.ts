import { InvalidInput } from '../errors.ts';
import type { CheckoutPosition } from './checkout.ts';

/** Form of the ids of checkouts. Other texts are not looked up. */
export const CHECKOUT_ID = /^[\w-]{1,64}$/;

/** Opaque cursor of a checkout. */
export const checkoutCursor = ({ createdAt, id }: CheckoutPosition): string => `${createdAt.getTime()}.${id}`;

/** The position of a cursor. Throws InvalidInput. */
export function readCheckoutCursor(cursor: string): CheckoutPosition {
  const [ms = '', id = ''] = cursor.split('.');
  if (!/^\d{1,15}$/.test(ms) || !CHECKOUT_ID.test(id)) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), id };
}
