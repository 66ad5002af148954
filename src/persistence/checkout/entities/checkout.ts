import { defineEntity, p } from '@mikro-orm/core';
import type { CheckoutState } from '../../../domain/checkout/payment-event.ts';
import type { CheckoutMode } from '../../../domain/checkout/payments.ts';

/** A purchase. Times are Unix ms. */
export const CheckoutSchema = defineEntity({
  name: 'CheckoutEntity',
  tableName: 'checkout',
  properties: {
    id: p.text().primary(),
    mode: p.text().$type<CheckoutMode>(),
    secretHash: p.text(),
    sessionId: p.text().nullable().unique(),
    /** State by its events, stored so that the validity of a key needs one row. */
    state: p.text().$type<CheckoutState>(),
    createdAt: p.bigint('number'),
    paidAt: p.bigint('number').nullable(),
    // Null together, until a key is issued.
    keyHash: p.text().nullable().unique(),
    keyName: p.text().nullable(),
    keyIssuedAt: p.bigint('number').nullable(),
    revokedAt: p.bigint('number').nullable(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

export class CheckoutEntity extends CheckoutSchema.class {}
CheckoutSchema.setClass(CheckoutEntity);
