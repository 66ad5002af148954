import { describe, expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/loaders.ts';
import type { Stores } from '../../../resolvers/stores.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import type { SpendRow } from '../../../src/domain/spend/spend-row.ts';

const row = (keyHash: string, teamId: string | null, spanId: string): SpendRow =>
  ({ keyHash, teamId, traceId: 't', spanId }) as SpendRow;
const rows = [row('mine', null, '1'), row('theirs', null, '2'), row('mate', 'team', '3')];
const caller = (role: Caller['role'], keyHash: string, teamId: string | null): Caller => ({
  role,
  keyHash,
  key: null,
  teamId,
  userId: null,
});

async function seenBy(who: Caller | null): Promise<(string | undefined)[]> {
  const asked: (readonly string[])[] = [];
  const stores = {
    spend: {
      async findBySpans(keys: readonly string[]) {
        asked.push(keys);
        return rows;
      },
    },
  } as unknown as Stores;
  const loaders = createLoaders(stores, who);
  const seen = await Promise.all(['t:1', 't:2', 't:3', 't:4'].map((key) => loaders.spendRowBySpan.load(key)));
  expect(asked).toEqual([['t:1', 't:2', 't:3', 't:4']]);
  return seen.map((found) => found?.spanId);
}

describe('the spend row of a span', () => {
  it('is shown to whoever may read what its owner wrote, and to nobody else, in one query', async () => {
    expect(await seenBy(caller('proxy_admin', 'admin', null))).toEqual(['1', '2', '3', undefined]);
    expect(await seenBy(caller('internal_user', 'mine', null))).toEqual(['1', undefined, undefined, undefined]);
    expect(await seenBy(caller('internal_user', 'x', 'team'))).toEqual([undefined, undefined, '3', undefined]);
    expect(await seenBy(null)).toEqual([undefined, undefined, undefined, undefined]);
  });
});
