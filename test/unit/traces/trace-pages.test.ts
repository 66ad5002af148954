import { expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Platform, Scope } from '../../../resolvers/operation/scope.ts';
import { getTrace } from '../../../resolvers/traces.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import type { SpendRow } from '../../../src/domain/spend/spend-row.ts';
import { createTraceOutlines } from '../../../src/runtime/traces/outlines.ts';
import { aSpan, aSpendRow, LONE_KEY, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from '../../ports/samples.ts';
import { aClient } from '../../support/free-tier.ts';
import { createMemoryTraceStore } from '../../support/memory-trace-store.ts';

const ADMIN: Caller = { role: 'proxy_admin', keyHash: 'admin', key: null, teamId: null, userId: null };
const TEAM: Caller = { ...ADMIN, role: 'internal_user', keyHash: TEAM_KEY.keyHash, teamId: TEAM_KEY.teamId };

/** A trace of calls under one agent, and the reads of its spans. */
async function aTraceOf(calls: number) {
  const traces = createMemoryTraceStore();
  const spend: SpendRow[] = [];
  const reads: string[] = [];
  const stores = {
    traces: {
      ...traces,
      listSpans(wanted: Parameters<typeof traces.listSpans>[0]) {
        reads.push('whole');
        return traces.listSpans(wanted);
      },
      listSpanPage(...wanted: Parameters<typeof traces.listSpanPage>) {
        reads.push(`page of ${wanted[2]}`);
        return traces.listSpanPage(...wanted);
      },
    },
    spend: { findBySpans: async () => spend },
  };
  const records = { readable: true };
  const platform = {
    stores,
    outlines: createTraceOutlines(),
    records: { readable: async () => records.readable, newestStartMs: async () => Infinity },
  } as unknown as Platform;
  const spans = Array.from({ length: calls }, (_, index) =>
    aSpan({
      spanId: spanId(index + 1),
      parentSpanId: spanId(99),
      type: 'llm',
      agent: 'triage',
      startNs: nsAt(START_MS + index),
    }),
  );
  const root = aSpan({ spanId: spanId(99), type: 'agent', name: 'triage', startNs: nsAt(START_MS) - 1n });
  await traces.ingest([{ owner: TEAM_KEY, spans: [root, ...spans] }]);
  const read = (cursor: string | null, caller = ADMIN, trace = 1) => {
    const scope: Scope = {
      platform,
      caller,
      client: aClient(),
      signal: new AbortController().signal,
      loaders: createLoaders(platform.stores, caller),
    };
    return getTrace(scope, { traceId: traceId(trace), traceRef: null, cursor, pageSize: 2 });
  };
  return { read, reads, records, spend, traces };
}

const idsOf = ({ spans }: Awaited<ReturnType<typeof getTrace>>): readonly string[] => spans.map((span) => span.spanId);

it('the first page of a trace reads all its spans, and a later page only the spans of the page', async () => {
  const { read, reads } = await aTraceOf(4);
  const firstPage = await read(null);
  const secondPage = await read(firstPage.nextCursor);
  const thirdPage = await read(secondPage.nextCursor);
  expect([firstPage, secondPage, thirdPage].map(idsOf)).toEqual([
    [spanId(99), spanId(1)],
    [spanId(2), spanId(3)],
    [spanId(4)],
  ]);
  // A read of one span more than the page finds out whether another page follows.
  expect(reads).toEqual(['whole', 'page of 3', 'page of 3']);
  const { spans: _spans, nextCursor: _next, ...outline } = firstPage;
  for (const page of [secondPage, thirdPage]) expect(page).toMatchObject(outline);
  expect(thirdPage.nextCursor).toBeNull();
});

it('a trace without a root has the name of its current first span on every page', async () => {
  const { read, reads, traces } = await aTraceOf(0);
  const orphans = [1, 2, 3].map((number) =>
    aSpan({
      traceId: traceId(2),
      spanId: spanId(number),
      parentSpanId: spanId(77),
      name: `step ${number}`,
      startNs: nsAt(START_MS + number),
      inputPreview: 'what was said',
    }),
  );
  await traces.ingest([{ owner: TEAM_KEY, spans: orphans }]);
  const firstPage = await read(null, ADMIN, 2);
  const [{ traceRef } = { traceRef: '' }] = await traces.findSummaries({ kind: 'all' }, traceId(2), null);
  await traces.redact([{ traceId: traceId(2), traceRef }], new Date(START_MS));
  const secondPage = await read(firstPage.nextCursor, ADMIN, 2);
  expect([firstPage, secondPage].map(({ summary: { name, inputPreview } }) => [name, inputPreview])).toEqual([
    ['step 1', 'what was said'],
    ['step 1', ''],
  ]);
  // The page of one span is the read of the current first span.
  expect(reads).toEqual(['whole', 'page of 1', 'page of 3']);
});

it('a trace has a separate outline for callers with other access, because visible costs differ', async () => {
  const { read, reads, spend } = await aTraceOf(4);
  spend.push(
    aSpendRow({ traceId: traceId(1), spanId: spanId(2), teamId: null, keyHash: LONE_KEY.keyHash, cost: picos(7n) }),
  );
  const { nextCursor } = await read(null);
  const matchOf = async (caller: Caller) => (await read(nextCursor, caller)).calls.get(spanId(2))?.match;
  expect([await matchOf(ADMIN), await matchOf(TEAM), await matchOf(TEAM)]).toEqual([
    'matched',
    'no_call_id',
    'no_call_id',
  ]);
  expect(reads).toEqual(['whole', 'page of 3', 'whole', 'page of 3']);
});

it('each page of a trace of several owners reads all its spans', async () => {
  const { read, reads, traces } = await aTraceOf(2);
  await traces.ingest([{ owner: LONE_KEY, spans: [aSpan({ spanId: spanId(50), startNs: nsAt(START_MS + 90) })] }]);
  const firstPage = await read(null);
  const secondPage = await read(firstPage.nextCursor);
  expect([firstPage, secondPage].map(idsOf)).toEqual([
    [spanId(99), spanId(1)],
    [spanId(2), spanId(50)],
  ]);
  expect(reads).toEqual(['whole', 'whole']);
});

it('every page reports whether records of ended calls may be missing', async () => {
  const { read, records } = await aTraceOf(3);
  const { nextCursor, spendPending } = await read(null);
  records.readable = false;
  expect([spendPending, (await read(nextCursor)).spendPending, (await read(null)).spendPending]).toEqual([
    false,
    true,
    true,
  ]);
});
