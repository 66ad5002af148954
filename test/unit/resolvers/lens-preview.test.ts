import { expect, it } from 'vitest';
import { readSamplePreview } from '../../../resolvers/lens-activity.ts';
import type { LensPlatform } from '../../../resolvers/operation/platform.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { TraceSummary } from '../../../src/domain/traces/trace.ts';

const PAGE = 1_000;
const summaryOf = (number: number): TraceSummary =>
  ({
    traceId: number.toString(16).padStart(32, '0'),
    traceRef: `r${number}`,
    owner: { teamId: null, keyHash: 'k', userId: null },
    startNs: BigInt(number),
    endNs: BigInt(number),
    redactedAt: null,
    agentNames: [],
  }) as unknown as TraceSummary;

/** A scope over a store of many traces. Its caller disconnects after a number of reads. */
function disconnectingAfter(reads: number) {
  const connection = new AbortController();
  let count = 0;
  const read = <Result>(result: Result): Promise<Result> => {
    count += 1;
    if (count === reads) connection.abort(new Error('the caller disconnected'));
    return Promise.resolve(result);
  };
  const traces = {
    searchSummaries: () => read(Array.from({ length: PAGE }, (_, index) => summaryOf(count * PAGE + index))),
    listSpans: (summaries: readonly TraceSummary[]) =>
      read(new Map(summaries.map(({ traceRef }) => [traceRef, [{ spanId: 's' }]]))),
    findSpans: () => read([]),
  };
  const platform = {
    stores: { traces, lenses: { runIdsAmong: async () => new Set() } },
    clock: { now: () => new Date(), monotonicMs: () => 0 },
    records: { readable: async () => true },
    keyGenerator: { hash: (text: string) => text },
  };
  const caller = { role: 'proxy_admin', keyHash: 'k', key: null, teamId: null, userId: null };
  const scope = { platform, caller, signal: connection.signal } as unknown as Scope<LensPlatform>;
  return { scope, count: () => count };
}

const draftWith = (filters: readonly { readonly key: string; readonly value: string }[]) => ({
  selection: {
    source: 'traces',
    service: '',
    agentName: '',
    filters,
    sampleSize: null,
    samplePercent: 100,
    teamId: '',
    executionIds: [],
  } as const,
  lookbackHours: 24,
  offset: 0,
  asOf: null,
});

// The reads are three pages, or a page, a list of the spans of 50 traces, and the spans of three traces.
it.each([
  ['pages of traces', [], 3],
  ['spans of traces', [{ key: 'k', value: 'v' }], 5],
])('a preview reads no further %s when its caller has disconnected', async (_what, filters, reads) => {
  const { scope, count } = disconnectingAfter(reads);
  await expect(readSamplePreview(scope, draftWith(filters))).rejects.toThrow('the caller disconnected');
  expect(count()).toBe(reads);
});
