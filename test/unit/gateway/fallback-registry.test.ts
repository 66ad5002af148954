import { expect, it } from 'vitest';
import { type ModelFallback, newFallback } from '../../../src/domain/fallbacks/fallback.ts';
import { DEFAULT_ROUTING, type RoutingPolicy } from '../../../src/domain/routing/routing-policy.ts';
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

const withGeneral = (general: Readonly<Record<string, readonly string[]>>): RoutingPolicy => ({
  ...DEFAULT_ROUTING,
  fallbacks: { ...DEFAULT_ROUTING.fallbacks, general: new Map(Object.entries(general)) },
});

it('a registry applies fallbacks that another process stored, and reads rows only when they have changed', async () => {
  const rows: ModelFallback[] = [];
  const store = storeOf(rows);
  const registry = createFallbackRegistry({ store, configured: () => DEFAULT_ROUTING });
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

it('a registry without a store has the configured policy', async () => {
  const registry = createFallbackRegistry({ store: null, configured: () => DEFAULT_ROUTING });
  expect(await registry.refresh()).toBe(false);
  expect(registry.policy()).toBe(DEFAULT_ROUTING);
});
