import { expect, it } from 'vitest';
import { type ConfiguredRouting, type ModelFallback, newFallback } from '../../../src/domain/fallbacks/fallback.ts';
import { DEFAULT_ROUTING } from '../../../src/domain/routing/routing-policy.ts';
import { createFallbackRegistry } from '../../../src/gateway/routing/fallback-registry.ts';

const CREATED = { now: new Date(0), by: 'u' };
const row = (model: string, ...targets: string[]): ModelFallback =>
  newFallback({ model, targets, type: 'general' }, CREATED);

function storeOf(rows: ModelFallback[]) {
  let reads = 0;
  return {
    all: () => {
      reads += 1;
      return Promise.resolve([...rows]);
    },
    fingerprint: () => Promise.resolve(JSON.stringify(rows)),
    reads: () => reads,
  };
}

const DEFAULTS: ConfiguredRouting = { policy: DEFAULT_ROUTING, storedLists: new Set() };

const withGeneral = (general: Readonly<Record<string, readonly string[]>>): ConfiguredRouting => ({
  ...DEFAULTS,
  policy: {
    ...DEFAULT_ROUTING,
    fallbacks: { ...DEFAULT_ROUTING.fallbacks, general: new Map(Object.entries(general)) },
  },
});

it('a registry applies fallbacks that another process stored, and reads rows only when they have changed', async () => {
  const rows: ModelFallback[] = [];
  const store = storeOf(rows);
  const registry = createFallbackRegistry({ store, configured: () => DEFAULTS });
  const before = registry.policy();
  expect(await registry.refresh()).toBe(true);
  rows.push(row('m', 'a'));
  expect([await registry.refresh(), await registry.refresh()]).toEqual([true, false]);
  expect(store.reads()).toBe(2);
  expect([...registry.policy().fallbacks.general]).toEqual([['m', ['a']]]);
  expect(registry.policy()).not.toBe(before);
  expect(registry.policy()).toBe(registry.policy());
  rows.pop();
  await registry.refresh();
  expect([...registry.policy().fallbacks.general]).toEqual([]);
});

it('a registry applies a new configuration, whose lists take precedence over stored lists', async () => {
  let configured = withGeneral({ m: ['file'] });
  const registry = createFallbackRegistry({
    store: storeOf([row('m', 'stored'), row('n', 'stored')]),
    configured: () => configured,
  });
  await registry.refresh();
  expect(registry.policy().fallbacks.general).toEqual(
    new Map([
      ['m', ['file']],
      ['n', ['stored']],
    ]),
  );
  expect([registry.isConfigured('m', 'general'), registry.isConfigured('m', 'context_window')]).toEqual([true, false]);
  configured = withGeneral({});
  expect(registry.policy().fallbacks.general.get('m')).toEqual(['stored']);
  expect(registry.isConfigured('m', 'general')).toBe(false);
});

it('a stored fallback of a model takes precedence over the list of a stored setting', async () => {
  const registry = createFallbackRegistry({
    store: storeOf([row('m', 'stored')]),
    configured: () => ({ ...withGeneral({ m: ['setting'], n: ['setting'] }), storedLists: new Set(['general']) }),
  });
  await registry.refresh();
  expect(registry.policy().fallbacks.general).toEqual(
    new Map([
      ['m', ['stored']],
      ['n', ['setting']],
    ]),
  );
  expect([registry.isConfigured('m', 'general'), registry.isConfigured('n', 'general')]).toEqual([false, false]);
});

it('a registry without a store has the configured policy', async () => {
  const registry = createFallbackRegistry({ store: null, configured: () => DEFAULTS });
  expect(await registry.refresh()).toBe(false);
  expect(registry.policy()).toBe(DEFAULT_ROUTING);
});
