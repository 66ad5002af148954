import { expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { createPriceCache } from '../../../src/gateway/accounting/deployment-prices.ts';
import { aDeployment } from '../../support/chat.ts';

const ROWS: Readonly<Record<string, CatalogEntry['row']>> = {
  regional: { input_cost_per_token: 1e-6, regional_endpoint_uplift_multiplier: 1.1 },
  cheap: { input_cost_per_token: 1e-6 },
  expensive: { input_cost_per_token: 3e-6 },
  'bedrock/eu-west-2/cheap': { input_cost_per_token: 2e-6 },
};
const entries: readonly CatalogEntry[] = Object.entries(ROWS).map(([id, row]) => ({
  id,
  provider: null,
  mode: 'chat',
  row,
}));
const CATALOG: CatalogSnapshot = {
  id: 'test',
  takenAt: new Date(0),
  source: 'embedded',
  entries,
  find: (id) => entries.find((entry) => entry.id === id) ?? null,
};

/** Prices of two states of one deployment, from the same cache. Both have the same configured prices. */
function pricesBeforeAndAfter(before: Partial<Deployment>, after: Partial<Deployment>) {
  const pricesOf = createPriceCache(() => CATALOG);
  const deployment = aDeployment(before);
  return [pricesOf(deployment), pricesOf({ ...deployment, ...after })] as const;
}

it('a deployment with a changed location has the uplift of the new location immediately', () => {
  const [global, regional] = pricesBeforeAndAfter(
    { provider: 'vertex_ai', upstreamModel: 'regional', options: { vertex_location: 'global' } },
    { options: { vertex_location: 'europe-west1' } },
  );
  // An uplift is in millionths.
  expect([global.uplift, regional.uplift]).toEqual([null, 1_100_000n]);
});

it('a deployment with a changed region of Bedrock has the prices of the new region immediately', () => {
  const [before, after] = pricesBeforeAndAfter(
    { provider: 'bedrock', upstreamModel: 'cheap', options: {} },
    { options: { aws_region_name: 'eu-west-2' } },
  );
  expect(after.tariff?.base.input).toBe((before.tariff?.base.input ?? 0n) * 2n);
});

it('a deployment with a changed public name has the prices of the new name immediately', () => {
  const [cheap, expensive] = pricesBeforeAndAfter({ modelGroup: 'cheap' }, { modelGroup: 'expensive' });
  expect(expensive.tariff?.base.input).toBe((cheap.tariff?.base.input ?? 0n) * 3n);
});

it('a deployment with equal settings in new objects has the cached prices', () => {
  const options = { vertex_location: 'europe-west1' };
  const [before, after] = pricesBeforeAndAfter(
    { provider: 'vertex_ai', upstreamModel: 'regional', options },
    { options: { ...options } },
  );
  expect(after).toBe(before);
});
