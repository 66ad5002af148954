import { expect, it } from 'vitest';
import { putMemory } from '../../../resolvers/memory.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import { type Memory, memoryExists } from '../../../src/domain/memory/memory.ts';
import { aCaller } from '../../support/chat.ts';

/** A store in which another request adds the entry before each of the first `races` writes, and removes it after. */
function aSetup(races: number) {
  const added: Memory[] = [];
  let attempts = 0;
  const memory = {
    all: () => Promise.resolve([]),
    count: () => Promise.resolve(0),
    async add(entry: Memory) {
      attempts += 1;
      if (attempts <= races) throw memoryExists(entry.name);
      added.push(entry);
    },
  };
  const platform = { stores: { memory }, ids: { uuid: () => 'id' }, clock: { now: () => new Date(0) } };
  const scope = { platform, caller: { ...aCaller(), userId: 'u' } } as unknown as Scope;
  return { added, put: () => putMemory(scope, { name: 'n', patch: { value: 'v' } }) };
}

it('an entry that others add and remove meanwhile is stored after two races', async () => {
  const { added, put } = aSetup(2);
  expect(await put()).toMatchObject({ name: 'n', value: 'v' });
  expect(added).toHaveLength(1);
});

it('a race at every attempt is Unavailable, no Conflict', async () => {
  await expect(aSetup(Number.POSITIVE_INFINITY).put()).rejects.toThrow(Unavailable);
});
