import { expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import { createCatalogResultCache } from '../../../src/domain/catalog/result-cache.ts';

const ENTRY: CatalogEntry = { id: 'gpt', provider: 'openai', mode: 'chat', row: {} };
const aSnapshot = (id: string): CatalogSnapshot => ({
  id,
  takenAt: new Date(0),
  source: 'embedded',
  entries: [ENTRY],
  find: () => null,
});

it('a result cache returns the same object for equal requests, until the catalog replaces its snapshot', () => {
  const first = aSnapshot('first');
  const second = aSnapshot('second');
  let current = first;
  const cache = createCatalogResultCache({ current: () => current });
  const filters = { provider: null, mode: null, model: null, capabilities: {} };
  const computed: string[] = [];
  const find = (snapshot: CatalogSnapshot) =>
    cache.found(snapshot, { filters }, () => {
      computed.push(snapshot.id);
      return { snapshot, entries: [ENTRY] };
    });
  expect(find(first)).toBe(find(first));
  expect(find(second)).not.toBe(find(second));
  current = second;
  expect(find(second)).toBe(find(second));
  expect(find(first)).not.toBe(find(first));
  expect(computed).toEqual(['first', 'second', 'second', 'second', 'first', 'first']);
});

it('a result cache joins the models of a snapshot once, also when the snapshot is no longer current', () => {
  const first = aSnapshot('first');
  const cache = createCatalogResultCache({ current: () => aSnapshot('second') });
  expect(cache.models(first)).toBe(cache.models(first));
  expect(cache.models(first).all).toHaveLength(1);
});

it('two catalogs have separate caches', () => {
  const snapshot = aSnapshot('one');
  const [cacheA, cacheB] = [1, 2].map(() => createCatalogResultCache({ current: () => snapshot }));
  expect(cacheA?.models(snapshot)).not.toBe(cacheB?.models(snapshot));
});
