import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCallRecords } from '../../src/recording/call-records.ts';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createLog, type Log } from '../../src/runtime/telemetry/log.ts';
import { CLICKHOUSE, type ClickHouseScratch } from './clickhouse-engine.ts';
import { aSpan, aSpendRow, picos, spanId, TEAM_KEY, traceId } from './samples.ts';

/** A call with its own trace, by number. */
function aCall(number: number): CallRecord {
  const ids = { traceId: traceId(number), spanId: spanId(number) };
  return {
    spend: aSpendRow({ id: `call-${number}`, callId: `c-${number}`, cost: picos(7n), ...TEAM_KEY, ...ids }),
    span: aSpan({ gateway: true, cost: picos(7n), input: `asked ${number}`, ...ids }),
  };
}

describe.skipIf(CLICKHOUSE.skipReason !== null)('call recording with spans in ClickHouse', () => {
  let scratch: ClickHouseScratch;
  let stores: Stores;
  beforeEach(async () => {
    scratch = await CLICKHOUSE.create();
    stores = await scratch.open();
  });
  afterEach(() => scratch.remove());

  function recorder(log: Log = createLog('silent')) {
    const reported: TraceSummary[] = [];
    const records = createCallRecords({
      stores: [stores.calls, ...(stores.callSpans === null ? [] : [stores.callSpans])],
      hasSubscribers: () => true,
      changed: async (summaries) => void reported.push(...(await summaries())),
      log,
    });
    return { records, reported };
  }
  async function storedCall({ spend, span }: CallRecord) {
    const [summary] = await stores.traces.findSummaries({ kind: 'all' }, span.traceId, null);
    return {
      spend: await stores.spend.findBySpans([`${spend.traceId}:${spend.spanId}`]),
      span: summary === undefined ? null : await stores.traces.findSpan([summary], span.spanId),
      summary,
    };
  }

  it('stores spend row and span unchanged, charges a key once, and reports the changed traces', async () => {
    const { records, reported } = recorder();
    const [root, child] = [aCall(1), { ...aCall(2), span: aSpan({ ...aCall(2).span, parentSpanId: spanId(9) }) }];
    records.record(root);
    records.record(child);
    // Each call waits for two stores: that of spend and that of spans.
    expect(records.waiting()).toBe(4);
    await records.flush();
    expect(records.waiting()).toBe(0);
    for (const call of [root, child]) {
      const { spend, span, summary } = await storedCall(call);
      expect([spend, span, summary?.spend]).toEqual([[call.spend], call.span, 7n]);
    }
    expect(reported.map((summary) => summary.traceId)).toEqual([traceId(1), traceId(2)]);
    records.record(root);
    await records.flush();
    expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(14n);
    expect(reported.length).toBe(2);
  });

  it('drops and logs a span above the insert limit, and keeps the cost of its call', async () => {
    const traces = { url: scratch.proxy.url, database: scratch.options.traces?.database ?? '' };
    stores = await scratch.open({ traces: { ...traces, inserts: { bytes: 5_000, timeoutMs: 30_000 } } });
    const lines: unknown[] = [];
    const nothing = (): void => {};
    const { records } = recorder({
      debug: nothing,
      info: nothing,
      warn: nothing,
      error: (facts, event) => lines.push([event, 'callId' in facts && facts.callId]),
    });
    const { spend, span } = aCall(1);
    records.record({ spend, span: { ...span, input: 'x'.repeat(5_000) } });
    await records.flush();
    expect(records.waiting()).toBe(0);
    expect(lines).toEqual([['the record of a call was lost: the store refused it', 'c-1']]);
    expect(await storedCall(aCall(1))).toEqual({ spend: [spend], span: null, summary: undefined });
    records.record(aCall(2));
    await records.flush();
    expect((await storedCall(aCall(2))).span).toEqual(aCall(2).span);
  });

  it('has the cost of calls while the trace store is unavailable, and their spans when it returns', async () => {
    const { records } = recorder();
    const restore = scratch.proxy.answer('', { status: 503, headers: {}, body: 'away' });
    for (const number of [1, 2, 3]) records.record(aCall(number));
    await expect(records.flush()).rejects.toThrow('The trace store cannot be used at the moment.');
    expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(21n);
    // Only the spans wait.
    expect(records.waiting()).toBe(3);
    restore();
    await records.flush();
    for (const number of [1, 2, 3]) {
      const { span } = await storedCall(aCall(number));
      expect(span).toEqual(aCall(number).span);
    }
  });
});
