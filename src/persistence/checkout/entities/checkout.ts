import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CheckoutState } from '../../../domain/checkout/payment-event.ts';
import type { CheckoutMode } from '../../../domain/checkout/payments.ts';
import { UnixMsType } from '../../column-types/unix-ms.ts';

/** A purchase: a managed entity. */
export const CheckoutEntity = defineEntity({
  name: 'CheckoutEntity',
  tableName: 'checkout',
  properties: {
    id: p.text().primary(),
    mode: p.text().$type<CheckoutMode>(),
    secretHash: p.text(),
    sessionId: p.text().nullable().unique(),
    /** State by its events, stored so that the validity of a key needs one row. */
    state: p.text().$type<CheckoutState>(),
    createdAt: p.type(UnixMsType),
    paidAt: p.type(UnixMsType).nullable(),
    // Null together, until a key is issued.
    keyHash: p.text().nullable().unique(),
    keyName: p.text().nullable(),
    keyIssuedAt: p.type(UnixMsType).nullable(),
    revokedAt: p.type(UnixMsType).nullable(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

export type CheckoutEntity = InferEntity<typeof CheckoutEntity>;
