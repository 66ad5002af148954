import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { PaymentFact } from '../../../domain/checkout/payment-event.ts';
import { UnixMsType } from '../../column-types/unix-ms.ts';

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
