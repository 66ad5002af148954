import type { FreeTierUsage } from '../src/domain/free-tier/free-tier.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { FreeTierPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Free calls of the client's address today, UTC. This request is not counted. Throws Unavailable. */
export const getFreeTierUsage = operation({
  name: 'getFreeTierUsage',
  access: anyone,
  run: ({ platform, client }: Scope<FreeTierPlatform>, _input: undefined): Promise<FreeTierUsage> =>
    platform.freeTier.usageOf(client),
});
