import { defineEntity, p } from '@mikro-orm/core';
import type { PaymentFact } from '../../../domain/checkout/payment-event.ts';

/** What the payment provider told, each thing once. Only ever appended; times are Unix ms. */
export const PaymentEventSchema = defineEntity({
  name: 'PaymentEventEntity',
  tableName: 'payment_event',
  properties: {
    id: p.text().primary(),
    fact: p.text().$type<PaymentFact>(),
    at: p.bigint('number'),
    subject: p.text(),
    /** Null while no checkout is known that shares an object with it. */
    checkoutId: p.text().nullable().index(),
  },
  indexes: [{ properties: ['at'] }],
});

export class PaymentEventEntity extends PaymentEventSchema.class {}
PaymentEventSchema.setClass(PaymentEventEntity);
