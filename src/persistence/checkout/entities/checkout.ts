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
    /** What its events come to, kept beside them so that a key costs one row to judge. */
    state: p.text().$type<CheckoutState>(),
    createdAt: p.bigint('number'),
    paidAt: p.bigint('number').nullable(),
    // The three are null together, until a key was made.
    keyHash: p.text().nullable().unique(),
    keyName: p.text().nullable(),
    keyIssuedAt: p.bigint('number').nullable(),
    revokedAt: p.bigint('number').nullable(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

export class CheckoutEntity extends CheckoutSchema.class {}
CheckoutSchema.setClass(CheckoutEntity);
