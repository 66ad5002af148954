import type { FreeTierUsage } from '../src/domain/free-tier/free-tier.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';

/** What the caller's address has used of today's free calls; asking costs none. Throws Unavailable. */
export const getFreeTierUsage = operation({
  name: 'getFreeTierUsage',
  access: anyone,
  run: ({ platform, client }, _input: undefined): Promise<FreeTierUsage> => platform.freeTier.usageOf(client),
});
