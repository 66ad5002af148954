import { describe, expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Stores } from '../../../resolvers/operation/stores.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import type { SpendRow } from '../../../src/domain/spend/spend-row.ts';
import type { SpanHead } from '../../../src/domain/traces/span.ts';
import type { TraceKey } from '../../../src/domain/traces/store.ts';

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

/** Span ids of the spend rows that a caller may see, for four spans. Undefined for a span without such a row. */
async function spanIdsFor(who: Caller | null): Promise<(string | undefined)[]> {
  const reads: (readonly string[])[] = [];
  const stores = {
    spend: {
      async findBySpans(keys: readonly string[]) {
        reads.push(keys);
        return rows;
      },
    },
  } as unknown as Stores;
  const loaders = createLoaders(stores, who);
  const rowsFound = await Promise.all(['t:1', 't:2', 't:3', 't:4'].map((key) => loaders.spendRowBySpan.load(key)));
  expect(reads).toEqual([['t:1', 't:2', 't:3', 't:4']]);
  return rowsFound.map((found) => found?.spanId);
}

describe('the spend row of a span', () => {
  it('is visible only to callers that may read the data of its owner, and is read with one query', async () => {
    expect(await spanIdsFor(caller('proxy_admin', 'admin', null))).toEqual(['1', '2', '3', undefined]);
    expect(await spanIdsFor(caller('internal_user', 'mine', null))).toEqual(['1', undefined, undefined, undefined]);
    expect(await spanIdsFor(caller('internal_user', 'x', 'team'))).toEqual([undefined, undefined, '3', undefined]);
    expect(await spanIdsFor(null)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('the spans of traces', () => {
  interface StoreRead {
    readonly traces: readonly string[];
    readonly after?: string | null;
  }

  /** Loads traces with these numbers of spans. Returns the reads of the store, and the numbers of loaded spans. */
  async function load(counts: readonly number[]): Promise<{ readonly reads: StoreRead[]; readonly lengths: number[] }> {
    const reads: StoreRead[] = [];
    const spansOf = (ref: string): readonly SpanHead[] =>
      Array.from({ length: counts[Number(ref)] ?? 0 }, (_, index) => ({ spanId: String(index) }) as SpanHead);
    const stores = {
      traces: {
        async listSpans(traces: readonly TraceKey[]) {
          reads.push({ traces: traces.map(({ traceRef }) => traceRef) });
          return new Map(traces.map(({ traceRef }) => [traceRef, spansOf(traceRef)]));
        },
        async listSpanPage({ traceRef }: TraceKey, after: { readonly spanId: string } | null, limit: number) {
          reads.push({ traces: [traceRef], after: after?.spanId ?? null });
          const start = after === null ? 0 : Number(after.spanId) + 1;
          return spansOf(traceRef).slice(start, start + limit);
        },
      },
    } as unknown as Stores;
    const loaders = createLoaders(stores, null);
    const traceKeys = counts.map((spanCount, index) => ({ traceId: 't', traceRef: String(index), spanCount }));
    const spans = await Promise.all(traceKeys.map((trace) => loaders.spansByTrace.load(trace)));
    expect(spans.every((spansOfTrace) => spansOfTrace.every(({ spanId }, index) => spanId === String(index)))).toBe(
      true,
    );
    return { reads, lengths: spans.map(({ length }) => length) };
  }

  // A read has at most 2,000 spans.
  it('are loaded with one read when they are few', async () => {
    expect(await load([1, 1_000, 0, 999])).toEqual({
      reads: [{ traces: ['0', '1', '2', '3'] }],
      lengths: [1, 1_000, 0, 999],
    });
  });

  it('are loaded with several reads when they are many', async () => {
    expect(await load([1_500, 1_000, 1_000, 1])).toEqual({
      reads: [{ traces: ['0'] }, { traces: ['1', '2'] }, { traces: ['3'] }],
      lengths: [1_500, 1_000, 1_000, 1],
    });
  });

  it('are loaded in pages when one trace has many', async () => {
    expect(await load([10, 4_500])).toEqual({
      reads: [
        { traces: ['1'], after: null },
        { traces: ['1'], after: '1999' },
        { traces: ['1'], after: '3999' },
        { traces: ['0'] },
      ],
      lengths: [10, 4_500],
    });
  });
});
