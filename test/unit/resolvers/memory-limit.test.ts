import { expect, it } from 'vitest';
import { createMemory, putMemory } from '../../../resolvers/memory.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { MAX_ENTRIES, type Memory, type MemoryFilter } from '../../../src/domain/memory/memory.ts';
import { aCaller } from '../../support/chat.ts';

/** A scope whose store has a number of entries of the user, without the name `n`. Added entries are recorded. */
function scopeWithEntries(entries: number) {
  const added: Memory[] = [];
  const memory = {
    all: () => Promise.resolve([]),
    count: ({ name }: MemoryFilter) => Promise.resolve(name === null ? entries : 0),
    add: (entry: Memory) => Promise.resolve(void added.push(entry)),
    exclusively: (work: () => Promise<unknown>) => work(),
  };
  const platform = { stores: { memory }, ids: { uuid: () => 'id' }, clock: { now: () => new Date(0) } };
  const scope = { platform, caller: { ...aCaller(), userId: 'u' } } as unknown as Scope;
  return { scope, added };
}

const REFUSAL = new InvalidInput(`A user or team has at most ${MAX_ENTRIES} memories. Delete some.`);

it('an owner can store entries up to the limit, and no further one', async () => {
  const below = scopeWithEntries(MAX_ENTRIES - 1);
  await createMemory(below.scope, { name: 'n', value: 'v', metadata: null });
  expect(below.added).toMatchObject([{ name: 'n', owner: 'user:u' }]);
  const full = scopeWithEntries(MAX_ENTRIES);
  await expect(createMemory(full.scope, { name: 'n', value: 'v', metadata: null })).rejects.toThrow(REFUSAL);
  await expect(putMemory(full.scope, { name: 'n', patch: { value: 'v' } })).rejects.toThrow(REFUSAL);
  expect(full.added).toEqual([]);
});
