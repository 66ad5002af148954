import { defineEntity, p } from '@mikro-orm/core';

/** An object of the provider that an event names. Shared objects connect a refund with its purchase. */
export const PaymentObjectEntity = defineEntity({
  name: 'PaymentObjectEntity',
  tableName: 'payment_object',
  properties: {
    object: p.text().primary(),
    eventId: p.text().primary(),
  },
  indexes: [{ properties: ['eventId'] }],
});
