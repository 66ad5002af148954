import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CheckoutState, PaymentFact } from '../../domain/checkout/payment-event.ts';
import type { CheckoutMode } from '../../domain/checkout/payments.ts';
import { UnixMsType } from '../column-types/unix-ms.ts';

/** A purchase: a managed entity. */
export const CheckoutEntity = defineEntity({
  name: 'CheckoutEntity',
  tableName: 'checkout',
  properties: {
    id: p.text().primary(),
    mode: p.text().$type<CheckoutMode>(),
    secretHash: p.text(),
    sessionId: p.text().nullable().unique(),
    /** State computed from the payment events. Stored, so that a check of the checkout's key reads one row. */
    state: p.text().$type<CheckoutState>(),
    createdAt: p.type(UnixMsType),
    paidAt: p.type(UnixMsType).nullable(),
    // The three columns of the key are null until a key is issued.
    keyHash: p.text().nullable().unique(),
    keyName: p.text().nullable(),
    keyIssuedAt: p.type(UnixMsType).nullable(),
    revokedAt: p.type(UnixMsType).nullable(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

export type CheckoutEntity = InferEntity<typeof CheckoutEntity>;

/** An event of the payment provider. */
export const PaymentEventEntity = defineEntity({
  name: 'PaymentEventEntity',
  tableName: 'payment_event',
  properties: {
    id: p.text().primary(),
    fact: p.text().$type<PaymentFact>(),
    at: p.type(UnixMsType),
    subject: p.text(),
    /** Null while its checkout is unknown. */
    checkoutId: p.text().nullable().index(),
  },
  indexes: [{ properties: ['at'] }],
});

export type PaymentEventEntity = InferEntity<typeof PaymentEventEntity>;

/**
 * An id of a session, payment or other object of the provider, as an event names it. Shared ids connect a refund with
 * its purchase.
 */
export const PaymentObjectEntity = defineEntity({
  name: 'PaymentObjectEntity',
  tableName: 'payment_object',
  properties: {
    object: p.text().primary(),
    eventId: p.text().primary(),
  },
  indexes: [{ properties: ['eventId'] }],
});
