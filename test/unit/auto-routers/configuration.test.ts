import { expect, it } from 'vitest';
import { AUTO_ROUTER_MODEL } from '../../../src/domain/auto-routers/auto-router.ts';
import { readAutoRouter } from '../../../src/domain/auto-routers/read-auto-router.ts';

const faultsOf = (config: object) =>
  readAutoRouter({ model: AUTO_ROUTER_MODEL, complexity_router_config: config }, 'smart')?.faults;

it('each keyword rule without keywords is a fault', () => {
  const rules = [{ tier: 'SIMPLE' }, { keywords: [], tier: 'SIMPLE' }, { keywords: ['x'], tier: 'SIMPLE' }];
  expect(faultsOf({ tiers: { SIMPLE: 'small' }, keyword_tier_rules: rules })).toEqual([
    { path: ['complexity_router_config', 'keyword_tier_rules.0.keywords'], message: 'must have at least one keyword' },
    { path: ['complexity_router_config', 'keyword_tier_rules.1.keywords'], message: 'must have at least one keyword' },
  ]);
});
