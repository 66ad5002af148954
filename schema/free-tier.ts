import { getFreeTierUsage } from '../resolvers/free-tier.ts';
import type { FreeTierUsage } from '../src/domain/free-tier/free-tier.ts';
import { builder } from './base/builder.ts';

const FreeTierUsageType = builder.objectRef<FreeTierUsage>('FreeTierUsage').implement({
  description: 'Use of the free tier by one address today, UTC.',
  fields: (t) => ({
    ipHash: t.exposeString('ipHash', { description: 'Hash of the address.' }),
    requestsToday: t.exposeInt('requestsToday', {
      description: 'Number of counted requests today, including those that other processes have reserved.',
    }),
    dailyLimit: t.exposeInt('dailyLimit', { description: 'Requests per address and day.' }),
    remaining: t.exposeInt('remaining', { description: 'Requests left today.' }),
  }),
});

builder.queryField('freeTierUsage', (t) =>
  t.field({
    type: FreeTierUsageType,
    nullable: true,
    description:
      'Use of the free tier by the address of the client. This field is not counted. A request that reads the catalog ' +
      'without a key counts once, for any number of fields; a request with a valid key does not count.',
    resolve: (_root, _args, { scope }) => getFreeTierUsage(scope, undefined),
  }),
);
