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

const section = (value: string): StoredSection => ({
  id: 'litellm_settings',
  content: { value },
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
