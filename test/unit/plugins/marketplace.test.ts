import { expect, it } from 'vitest';
import { createMarketplace } from '../../../src/domain/plugins/marketplace.ts';
import { ALL_PLUGINS, type Plugin, type PluginFilter, type PluginStore } from '../../../src/domain/plugins/plugin.ts';

const aPlugin = (name: string): Plugin => ({ name }) as Plugin;

/** A marketplace over a store whose reads the test answers. */
function aSetup() {
  let nowMs = 0;
  const reads: { readonly filter: PluginFilter; readonly answer: PromiseWithResolvers<readonly Plugin[]> }[] = [];
  const store = {
    all(filter: PluginFilter) {
      const answer = Promise.withResolvers<readonly Plugin[]>();
      reads.push({ filter, answer });
      return answer.promise;
    },
    change: () => Promise.resolve(null),
    add: () => Promise.reject(new Error('refused')),
  } as unknown as PluginStore;
  const created = createMarketplace(store, { monotonicMs: () => nowMs });
  return {
    ...created,
    reads,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

it('requests share one read for five seconds', async () => {
  const { marketplace, reads, wait } = aSetup();
  const both = Promise.all([marketplace.plugins(), marketplace.plugins()]);
  expect(reads.map(({ filter }) => filter)).toEqual([{ ...ALL_PLUGINS, enabled: true }]);
  reads[0]?.answer.resolve([aPlugin('a')]);
  expect(await both).toEqual([[aPlugin('a')], [aPlugin('a')]]);
  wait(4_999);
  expect(await marketplace.plugins()).toEqual([aPlugin('a')]);
  expect(reads).toHaveLength(1);
  wait(1);
  const later = marketplace.plugins();
  expect(reads).toHaveLength(2);
  reads[1]?.answer.resolve([]);
  expect(await later).toEqual([]);
});

it('a change through the store is listed at once, also when a read began before it', async () => {
  const { marketplace, store, reads } = aSetup();
  const before = marketplace.plugins();
  await store.change('id', (row) => row);
  const after = marketplace.plugins();
  expect(reads).toHaveLength(2);
  reads[1]?.answer.resolve([]);
  expect(await after).toEqual([]);
  reads[0]?.answer.resolve([aPlugin('old')]);
  expect(await before).toEqual([aPlugin('old')]);
  expect(await marketplace.plugins()).toEqual([]);
});

it('a failed read fails the requests that share it, and the next request reads again', async () => {
  const { marketplace, reads } = aSetup();
  const failing = marketplace.plugins();
  reads[0]?.answer.reject(new Error('down'));
  await expect(failing).rejects.toThrow('down');
  const next = marketplace.plugins();
  expect(reads).toHaveLength(2);
  reads[1]?.answer.resolve([]);
  expect(await next).toEqual([]);
});

it('a failed change removes nothing from the marketplace', async () => {
  const { marketplace, store, reads } = aSetup();
  const first = marketplace.plugins();
  reads[0]?.answer.resolve([aPlugin('a')]);
  await first;
  await expect(store.add(aPlugin('b'))).rejects.toThrow('refused');
  expect(await marketplace.plugins()).toEqual([aPlugin('a')]);
});

it('requests of one read get the same frozen list, so that its JSON is written once', async () => {
  const { marketplace, reads } = aSetup();
  const rows = [aPlugin('a')];
  const listing = marketplace.plugins();
  reads[0]?.answer.resolve(rows);
  const listed = await listing;
  expect(Object.isFrozen(listed)).toBe(true);
  expect(await marketplace.plugins()).toBe(listed);
  rows.pop();
  expect(listed).toEqual([aPlugin('a')]);
});
