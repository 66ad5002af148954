import { DEFAULT_ROUTING, type RoutingPolicy } from '../../src/domain/routing/routing-policy.ts';

/** Routing without retries and cooldowns. */
export const PLAIN_ROUTING: RoutingPolicy = {
  ...DEFAULT_ROUTING,
  retries: 0,
  cooldowns: { ...DEFAULT_ROUTING.cooldowns, isOff: true },
};
