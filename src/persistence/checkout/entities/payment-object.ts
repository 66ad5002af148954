import { defineEntity, p } from '@mikro-orm/core';

/** Which of the provider's objects an event names: the thread from a refund back to its purchase. */
export const PaymentObjectSchema = defineEntity({
  name: 'PaymentObjectEntity',
  tableName: 'payment_object',
  properties: {
    object: p.text().primary(),
    eventId: p.text().primary(),
  },
  indexes: [{ properties: ['eventId'] }],
});

export class PaymentObjectEntity extends PaymentObjectSchema.class {}
PaymentObjectSchema.setClass(PaymentObjectEntity);
