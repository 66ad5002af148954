import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { isPriced } from '../../../src/gateway/routing/permitted-router.ts';
import { aDeployment } from '../../support/chat.ts';

const entries: readonly CatalogEntry[] = [
  { id: 'chatty', row: { input_cost_per_token: 0 } },
  { id: 'nameless', row: { max_input_tokens: 5 } },
  { id: 'azure/hd/1024-x-1024/dall-e-3', row: { input_cost_per_pixel: 8e-8 } },
  { id: 'high/1024-x-1024/drawing', row: { input_cost_per_image: 0.2 } },
].map((entry) => ({ ...entry, provider: null, mode: null }));

const CATALOG: CatalogSnapshot = {
  id: 'test',
  takenAt: new Date(0),
  source: 'embedded',
  entries,
  find: (id) => entries.find((entry) => entry.id === id) ?? null,
};

describe('a deployment', () => {
  it.each<[string, Partial<Deployment>, boolean]>([
    ['has a price of zero', { upstreamModel: 'chatty' }, true],
    ['has an entry without a price', { upstreamModel: 'nameless' }, false],
    ['is unknown', { upstreamModel: 'unknown' }, false],
    ['has a configured price', { upstreamModel: 'unknown', priceOverrides: { output_cost_per_image_2K: 0.1 } }, true],
    ['has prices by image size', { upstreamModel: 'drawing' }, true],
    ['has prices of its provider by image size', { provider: 'azure', upstreamModel: 'dall-e-3' }, true],
    ['has a base model with prices by image size', { upstreamModel: 'own-name', baseModel: 'azure/dall-e-3' }, true],
    ['has a public name with prices by image size', { upstreamModel: 'own-name', modelGroup: 'drawing' }, true],
    ['has prices by image size at another provider', { provider: 'aiml', upstreamModel: 'dall-e-3' }, false],
  ])('is priced or not: it %s', (_what, overrides, expected) => {
    expect(isPriced(aDeployment({ modelGroup: 'public', ...overrides }), CATALOG)).toBe(expected);
  });
});
