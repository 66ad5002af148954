import { getFreeTierUsage } from '../resolvers/free-tier.ts';
import type { FreeTierUsage } from '../src/domain/free-tier/free-tier.ts';
import { builder } from './builder.ts';

const FreeTierUsageType = builder.objectRef<FreeTierUsage>('FreeTierUsage').implement({
  description: 'What an address has used of the free calls of today, UTC.',
  fields: (t) => ({
    ipHash: t.exposeString('ipHash', { description: 'Names the address without telling it.' }),
    requestsToday: t.exposeInt('requestsToday', { description: 'Calls counted today.' }),
    dailyLimit: t.exposeInt('dailyLimit', { description: 'Calls an address has a day.' }),
    remaining: t.exposeInt('remaining', { description: 'Calls left today.' }),
  }),
});

builder.queryField('freeTierUsage', (t) =>
  t.field({
    type: FreeTierUsageType,
    nullable: true,
    description:
      'What your address has used of the free tier; asking costs nothing. A request that reads the catalog without a ' +
      'key counts once, however much it reads; one with a key that holds is not counted.',
    resolve: (_root, _args, { scope }) => getFreeTierUsage(scope, undefined),
  }),
);
