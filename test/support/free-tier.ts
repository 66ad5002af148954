import { Client } from '../../src/domain/free-tier/client.ts';
import { Secret } from '../../src/domain/secret.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createFreeTier, type FreeTierOptions, type RunningFreeTier } from '../../src/runtime/free-tier/free-tier.ts';
import { createIpHash } from '../../src/runtime/free-tier/ip-hash.ts';
import { createMemoryFreeTierStore } from './memory-free-tier-store.ts';
import { aScheduler } from './scheduler.ts';

/** Client of a request. */
export const aClient = (network = '192.0.2.1', key: string | null = null): Client =>
  new Client(network, key === null ? null : new Secret(key));

/** The real free tier over a store in memory. No key is exempt from the limit. */
export function aFreeTier(overrides: Partial<FreeTierOptions> = {}): RunningFreeTier {
  return createFreeTier({
    store: createMemoryFreeTierStore(),
    paidKeys: { holds: () => false },
    ipHash: createIpHash(new Secret('sk-of-the-tests')),
    limit: 1_000_000,
    onSale: true,
    clock: systemClock,
    scheduler: aScheduler(),
    failed(error) {
      throw error;
    },
    ...overrides,
  });
}
