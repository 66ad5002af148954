import { defineEntity, p } from '@mikro-orm/core';
import type { PaymentFact } from '../../../domain/checkout/payment-event.ts';

/** An event of the payment provider. Times are Unix ms. */
export const PaymentEventSchema = defineEntity({
  name: 'PaymentEventEntity',
  tableName: 'payment_event',
  properties: {
    id: p.text().primary(),
    fact: p.text().$type<PaymentFact>(),
    at: p.bigint('number'),
    subject: p.text(),
    /** Null while its checkout is unknown. */
    checkoutId: p.text().nullable().index(),
  },
  indexes: [{ properties: ['at'] }],
});

export class PaymentEventEntity extends PaymentEventSchema.class {}
PaymentEventSchema.setClass(PaymentEventEntity);
