import { expect, it } from 'vitest';
import type { DeclaredConfig } from '../../../src/domain/settings/ownership.ts';
import type { StoredSection } from '../../../src/domain/settings/stored-section.ts';
import { createConfiguration } from '../../../src/runtime/stored-settings/configuration.ts';

const NO_FILE: DeclaredConfig = {
  file: null,
  files: [],
  declared: {},
  resolved: {},
  placeOf: () => ({ source: '', line: null }),
};

const section = (value: string): StoredSection => sectionOf('litellm_settings', { value });

const sectionOf = (id: string, content: StoredSection['content']): StoredSection => ({
  id,
  content,
  createdAt: new Date(0),
  createdBy: 'admin',
  updatedAt: new Date(0),
  updatedBy: 'admin',
});

it('an older read of the stored settings never replaces a newer one', async () => {
  const reads: ((sections: readonly StoredSection[]) => void)[] = [];
  const configuration = createConfiguration({
    declared: NO_FILE,
    store: {
      all: () => new Promise((resolve) => reads.push(resolve)),
      find: async () => null,
      change: () => Promise.reject(new Error('Nothing is stored here.')),
    },
    storesModels: true,
  });
  const changes: unknown[] = [];
  configuration.onChange((changed) => changes.push(changed));
  const [older, newer] = [configuration.refresh(), configuration.refresh()];
  reads[1]?.([section('new')]);
  await newer;
  reads[0]?.([section('old')]);
  await older;
  expect(configuration.stored()).toEqual(new Map([['litellm_settings', { value: 'new' }]]));
  expect(changes).toHaveLength(1);
});

it('the routing is one object until a setting of it changes, in the store or in the file', async () => {
  let rows: readonly StoredSection[] = [];
  const configuration = createConfiguration({
    declared: NO_FILE,
    store: {
      all: () => Promise.resolve(rows),
      find: async () => null,
      change: () => Promise.reject(new Error('Nothing is stored here.')),
    },
    storesModels: true,
  });
  const storing = async (...next: readonly StoredSection[]) => {
    rows = next;
    await configuration.refresh();
    return configuration.routing();
  };
  // By default, a call has two retries.
  const before = configuration.routing();
  expect(await storing(section('other'))).toBe(before);
  const changed = await storing(section('other'), sectionOf('router_settings', { num_retries: 1 }));
  expect([changed.policy.retries, before.policy.retries]).toEqual([1, 2]);
  expect(await storing(sectionOf('router_settings', { num_retries: 1, redis_host: 'cache' }))).toBe(changed);
  // A null in the file hides the stored value, and the default applies.
  const declared = { router_settings: { num_retries: null } };
  configuration.declare({ ...NO_FILE, declared, resolved: declared });
  expect(configuration.routing().policy.retries).toBe(2);
  configuration.declare(NO_FILE);
  expect(configuration.routing().policy.retries).toBe(1);
  expect((await storing()).policy.retries).toBe(2);
});
