import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TooLarge, Unavailable } from '../../src/domain/errors.ts';
import type { BodyReader } from '../../src/domain/traces/packed.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import type { TraceSummary, TraceWindow } from '../../src/domain/traces/trace.ts';
import { NO_TRACE_FILTERS } from '../../src/domain/traces/trace-search.ts';
import type { ClickHouseLocation } from '../../src/persistence/clickhouse/client.ts';
import { createMutex } from '../../src/persistence/database/mutex.ts';
import { createClickHouseRemoval } from '../../src/persistence/clickhouse/trace-removal.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { type ProxyAnswer, startHoldingProxy } from '../support/holding-proxy.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { anExport } from './an-export.ts';
import { CLICKHOUSE, type ClickHouseScratch } from './clickhouse-engine.ts';
import { ALL, aSpan, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const EVER: TraceWindow = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
const TRACE = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };
const DAY_MS = 86_400_000;
const EVERY_REQUEST = '';
const mutexes = () => ({ bodyMutex: createMutex(), traceMutex: createMutex() });

const refusal = (code: number, name: string): ProxyAnswer => ({
  status: 500,
  headers: { 'x-clickhouse-exception-code': String(code) },
  body: `Code: ${code}. DB::Exception: what was sent: "sk-a-secret". (${name}) (version 26.9.2.1)\n`,
});
const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? error.cause.message : '';

/** Behaviour of this engine only, in addition to the contract of every TraceStore. */
describe.skipIf(CLICKHOUSE.skipReason !== null)('the trace store in ClickHouse', () => {
  let scratch: ClickHouseScratch;
  beforeEach(async () => {
    scratch = await CLICKHOUSE.create();
  });
  afterEach(() => scratch.remove());

  const openTraces = async (): Promise<TraceStore> => (await scratch.open()).traces;
  const ingest = (traces: TraceStore, ...spans: readonly Span[]): Promise<readonly TraceSummary[]> =>
    traces.ingest([{ owner: TEAM_KEY, spans }]);
  /** A span of trace 1 that starts `ms` after `START_MS`. Its parent is not stored. */
  const spanAt = (span: number, ms: number): Span =>
    aSpan({ spanId: spanId(span), parentSpanId: spanId(99), startNs: nsAt(START_MS + ms) });

  it.each([
    [241, 'MEMORY_LIMIT_EXCEEDED'],
    [252, 'TOO_MANY_PARTS'],
    [243, 'NOT_ENOUGH_SPACE'],
    [159, 'TIMEOUT_EXCEEDED'],
    [242, 'TABLE_IS_READ_ONLY'],
  ])('is Unavailable while the server answers %i, %s, without quoting the request', async (code, name) => {
    const traces = await openTraces();
    const restore = scratch.proxy.answer(EVERY_REQUEST, refusal(code, name));
    const refused = await ingest(traces, aSpan()).catch((error: unknown) => error);
    expect(refused).toEqual(new Unavailable('The trace store cannot be used at the moment.', 2));
    expect(causeOf(refused)).toBe(`ClickHouse: ${name} (${code})`);
    await expect(traces.listSummaries(ALL, EVER, 10)).rejects.toThrow(Unavailable);
    restore();
    expect((await ingest(traces, aSpan())).length).toBe(1);
  });

  it('is Unavailable while another server answers', async () => {
    const traces = await openTraces();
    scratch.proxy.answer(EVERY_REQUEST, { status: 502, headers: {}, body: '<html>Bad Gateway</html>' });
    await expect(traces.findSummaries(ALL, traceId(1), null)).rejects.toThrow(Unavailable);
  });

  it('opens while the server is unavailable, logs it, and works when the server returns', async () => {
    const warn = vi.fn<(facts: object, event: string) => void>();
    const restore = scratch.proxy.answer(EVERY_REQUEST, refusal(210, 'NETWORK_ERROR'));
    const { traces, keys } = await scratch.open({ log: { warn } });
    expect(warn.mock.calls).toEqual([
      [
        { reason: 'ClickHouse: NETWORK_ERROR (210)' },
        'The trace store cannot be used: no traces are available until it recovers.',
      ],
    ]);
    await expect(ingest(traces, aSpan())).rejects.toThrow(Unavailable);
    expect(await keys.find('none')).toBeNull();
    restore();
    expect((await ingest(traces, aSpan())).length).toBe(1);
  });

  it('is not opened when the server refuses the user', async () => {
    scratch.proxy.answer(EVERY_REQUEST, refusal(516, 'AUTHENTICATION_FAILED'));
    const refused = await scratch.open().catch((error: unknown) => error);
    expect(refused).toEqual(new Unavailable('The trace store refused the user or its rights.', null));
    expect(causeOf(refused)).toBe('ClickHouse: AUTHENTICATION_FAILED (516)');
  });

  it('shows no content of a span that the server refuses', async () => {
    const traces = await openTraces();
    const refused = ingest(traces, aSpan({ name: 'sk-a-secret', inputTokens: Number.NaN }));
    await expect(refused).rejects.toEqual(new Error('ClickHouse: VIOLATED_CONSTRAINT (469)'));
  });

  it.each(['trace_by_start', 'trace_summary'])(
    'has the summary of a trace after a resend when the first insert into %s failed',
    async (table) => {
      const traces = await openTraces();
      const restore = scratch.proxy.answer(`insert+into+${table}`, refusal(210, 'NETWORK_ERROR'));
      await expect(ingest(traces, aSpan())).rejects.toThrow(Unavailable);
      expect(await traces.findSummaries(ALL, traceId(1), null)).toEqual([]);
      restore();
      const [resent] = await ingest(traces, aSpan());
      expect([resent?.spanCount, resent?.name]).toEqual([1, 'chat demo']);
      expect(await traces.listSummaries(ALL, EVER, 10)).toEqual([resent]);
      expect(await ingest(traces, aSpan())).toEqual([]);
    },
  );

  /** Opens a trace store at the proxy with further settings. */
  const openTracesWith = async (more: Partial<ClickHouseLocation>, bodies?: BodyReader): Promise<TraceStore> => {
    const traces = { url: scratch.proxy.url, database: scratch.options.traces?.database ?? '', ...more };
    return (await scratch.open({ traces, ...(bodies && { bodies }) })).traces;
  };
  const rowsIn = async (table: string): Promise<number> => {
    const [row] = await scratch.server.rows<{ count: string }>(`select count() as count from ${table}`);
    return Number(row?.count);
  };

  it('sends no insert above the limit, and stores everything', async () => {
    const bytes = 1_500;
    const traces = await openTracesWith({ inserts: { bytes, timeoutMs: 30_000 } });
    const many = Array.from({ length: 40 }, (_, number) =>
      aSpan({ spanId: spanId(number + 1), parentSpanId: spanId(99), name: 'ü€'.repeat(50) }),
    );
    const [summary] = await ingest(traces, ...many);
    const insertSizes = scratch.proxy.passed('insert+into+span');
    expect(insertSizes.length).toBeGreaterThan(10);
    expect(Math.max(...scratch.proxy.passed('query=insert'))).toBeLessThanOrEqual(bytes);
    expect([summary?.spanCount, (await traces.listSpans([TRACE])).get(TRACE.traceRef)?.length]).toEqual([40, 40]);
  });

  it('stores nothing of a write with a row above the insert limit, and stores concurrent writes', async () => {
    const traces = await openTracesWith({ inserts: { bytes: 1_500, timeoutMs: 30_000 } });
    const large = ingest(traces, aSpan(), aSpan({ spanId: spanId(2), name: 'x'.repeat(1_500) }));
    const small = ingest(traces, aSpan({ traceId: traceId(2) }));
    await expect(large).rejects.toEqual(
      new TooLarge(
        'A span or the body of the export is larger than the 1500 bytes that the store takes at once.',
        1_500,
      ),
    );
    expect((await small).length).toBe(1);
    expect([await rowsIn('span'), await rowsIn('export_body')]).toEqual([1, 0]);
    expect((await traces.listSummaries(ALL, EVER, 10)).map((summary) => summary.traceId)).toEqual([traceId(2)]);
  });

  it('repairs partial inserts when the export is sent again', async () => {
    const traces = await openTracesWith({ inserts: { bytes: 1_500, timeoutMs: 30_000 } });
    const spans = Array.from({ length: 10 }, (_, number) => spanAt(number + 1, number));
    await ingest(traces, spanAt(20, 0));
    // Three inserts of the spans succeed, all later ones fail.
    const restore = scratch.proxy.answer('insert+into+span', refusal(210, 'NETWORK_ERROR'), 3);
    await expect(ingest(traces, ...spans)).rejects.toThrow(Unavailable);
    const partialRows = await rowsIn('span');
    restore();
    const [summary] = await ingest(traces, ...spans);
    expect([partialRows > 1 && partialRows < 11, summary?.spanCount, await rowsIn('span')]).toEqual([true, 11, 11]);
    expect(await traces.listSummaries(ALL, EVER, 10)).toEqual([summary]);
  });

  it('acknowledges only what the server has stored in time, and stores the resend once', async () => {
    const traces = await openTracesWith({ inserts: { bytes: 67_108_864, timeoutMs: 100 } });
    const release = scratch.proxy.hold('insert+into+span');
    await expect(ingest(traces, aSpan())).rejects.toEqual(
      new Unavailable('The trace store cannot be used at the moment.', 2),
    );
    release();
    const [summary] = await (await openTraces()).ingest([{ owner: TEAM_KEY, spans: [aSpan()] }]);
    expect([summary?.spanCount, await rowsIn('span')]).toEqual([1, 1]);
  });

  it('reads for callers at the configured reader address, and writes at the address of the writer', async () => {
    const bodies = aTracePacker();
    const reader = await startHoldingProxy(scratch.url);
    const traces = await openTracesWith({ readerUrl: reader.url }, bodies);
    await ingest(traces, aSpan());
    await traces.ingestExport(TEAM_KEY, anExport(2, 'in a body'));
    expect(reader.passed(EVERY_REQUEST)).toEqual([]);

    const restoreReader = reader.answer(EVERY_REQUEST, refusal(210, 'NETWORK_ERROR'));
    const reads = (): readonly Promise<unknown>[] => [
      traces.listSummaries(ALL, EVER, 10),
      traces.searchSummaries(
        ALL,
        { startMs: 0, endMs: 1e15, filters: NO_TRACE_FILTERS, order: 'start', after: null },
        10,
      ),
      traces.series(ALL, { startMs: START_MS, endMs: START_MS + 100, bucketMs: 10, filters: NO_TRACE_FILTERS }),
      traces.agents(ALL, { startMs: 0, endMs: 1e15, filters: NO_TRACE_FILTERS }, 10),
      traces.findSummaries(ALL, traceId(1), null),
      traces.listSpans([TRACE]),
      traces.listSpanPage(TRACE, null, 10),
      traces.findSpan([TRACE], spanId(1)),
    ];
    const refused = await Promise.allSettled(reads());
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 'rejected'));
    expect((await ingest(traces, aSpan({ spanId: spanId(7) }))).length).toBe(1);
    restoreReader();

    const restoreWriter = scratch.proxy.answer(EVERY_REQUEST, refusal(210, 'NETWORK_ERROR'));
    const found = await Promise.allSettled(reads());
    expect(found.map(({ status }) => status)).toEqual(found.map(() => 'fulfilled'));
    const exported = (await traces.listSummaries(ALL, EVER, 10)).find((summary) => summary.traceId === traceId(2));
    const spans = exported && (await traces.listSpans([exported])).get(exported.traceRef);
    expect(exported && (await traces.findSpan([exported], spans?.[0]?.spanId ?? ''))?.input).toBe('in a body');
    await expect(ingest(traces, aSpan({ spanId: spanId(8) }))).rejects.toThrow(Unavailable);
    restoreWriter();
    expect(reader.passed('query=insert')).toEqual([]);
    await traces.remove([TRACE]);
    expect((await traces.listSummaries(ALL, EVER, 10)).map((summary) => summary.traceId)).toEqual([traceId(2)]);
    await reader.close();
    await bodies.close();
  });

  it('lists a trace once at its start, also when earlier spans arrive later at another process', async () => {
    const [first, second] = [await openTraces(), await openTraces()];
    await ingest(first, spanAt(1, 50));
    await ingest(second, spanAt(2, 40));
    await Promise.all([ingest(first, spanAt(3, 30)), ingest(second, spanAt(4, 20)), ingest(second, spanAt(5, 60))]);
    const [grown] = await ingest(first, spanAt(6, 10));
    expect([grown?.spanCount, grown?.startNs]).toEqual([6, nsAt(START_MS + 10)]);
    expect(await second.listSummaries(ALL, EVER, 10)).toEqual([grown]);
    expect(await second.findSummaries(ALL, traceId(1), null)).toEqual([grown]);
    const series = { startMs: START_MS, endMs: START_MS + 100, bucketMs: 10, filters: NO_TRACE_FILTERS };
    expect((await first.series(ALL, series)).map(({ startMs, spans }) => [startMs - START_MS, spans])).toEqual([
      [10, 6],
    ]);
  });

  it('finds more traces than fit into one lookup', async () => {
    const traces = await openTraces();
    const many = Array.from({ length: 1_100 }, (_, number) => aSpan({ traceId: traceId(number + 1) }));
    expect((await ingest(traces, ...many)).length).toBe(1_100);
    expect(await ingest(traces, ...many)).toEqual([]);
    const found = await traces.listSummaries(ALL, EVER, 2_000);
    const spans = await traces.listSpans(found);
    expect([found.length, [...spans.values()].flat().length]).toEqual([1_100, 1_100]);
    expect(await traces.removeStartedBefore(START_MS + 1, 2_000)).toBe(1_100);
    expect(await traces.listSummaries(ALL, EVER, 10)).toEqual([]);
  });

  it('deletes a trace with any id, and no other trace', async () => {
    const traces = await openTraces();
    const odd = String.raw`' or 1 = 1 \ --`;
    await ingest(traces, aSpan({ traceId: odd }));
    await ingest(traces, aSpan({ startNs: nsAt(START_MS + 1) }));
    expect(await traces.removeStartedBefore(START_MS + 1, 10)).toBe(1);
    expect((await traces.listSummaries(ALL, EVER, 10)).map((summary) => summary.traceId)).toEqual([traceId(1)]);
    expect((await traces.listSpans([TRACE])).get(TRACE.traceRef)?.length).toBe(1);
    const oddKey = { traceId: odd, traceRef: traceRefOf(TEAM_KEY, odd) };
    expect((await traces.listSpans([oddKey])).get(oddKey.traceRef)).toEqual([]);
  });

  it.each([1, 2, 3, 4])('a repeated removal completes one that failed at step %i', async (step) => {
    const bodies = aTracePacker();
    const { traces } = await scratch.open({ bodies });
    await traces.ingestExport(TEAM_KEY, anExport(1, 'secret'));
    await ingest(traces, aSpan({ traceId: traceId(2), input: 'kept' }));
    let steps = 0;
    const failing = {
      ...scratch.server,
      run(statement: string) {
        steps += 1;
        return steps < step ? scratch.server.run(statement) : Promise.reject(new Unavailable('away'));
      },
    };
    await expect(createClickHouseRemoval(failing, bodies, mutexes()).remove([TRACE])).rejects.toThrow('away');
    const found = await traces.findSummaries(ALL, traceId(1), null);
    expect(found.map(({ traceRef }) => traceRef)).toEqual([TRACE.traceRef]);
    expect(await traces.remove(found)).toBe(1);
    expect(await scratch.storedBodies()).toEqual([]);
    const left = await scratch.allContent();
    expect([left.includes(traceId(1)), left.includes('secret'), left.includes('kept')]).toEqual([false, false, true]);
    await bodies.close();
  });

  it.each([1, 2, 3, 4])('retention completes a removal that failed at step %i', async (step) => {
    const bodies = aTracePacker();
    const { traces } = await scratch.open({ bodies });
    await traces.ingestExport(TEAM_KEY, anExport(1, 'secret'));
    await ingest(traces, aSpan({ traceId: traceId(2), startNs: nsAt(START_MS + 9) }));
    let steps = 0;
    const failing = {
      ...scratch.server,
      run(statement: string) {
        steps += 1;
        return steps < step ? scratch.server.run(statement) : Promise.reject(new Unavailable('away'));
      },
    };
    await expect(createClickHouseRemoval(failing, bodies, mutexes()).remove([TRACE])).rejects.toThrow('away');
    expect(await traces.removeStartedBefore(START_MS + 9, 10)).toBe(1);
    expect((await traces.findSummaries(ALL, traceId(1), null)).length).toBe(0);
    expect((await traces.listSummaries(ALL, EVER, 10)).map((summary) => summary.traceId)).toEqual([traceId(2)]);
    await bodies.close();
  });

  it('leaves no data on disk for days without traces', async () => {
    const bodies = aTracePacker();
    const { traces } = await scratch.open({ bodies });
    await ingest(traces, aSpan());
    await traces.ingestExport(TEAM_KEY, anExport(2, 'in a body'));
    const parts = async (): Promise<readonly string[]> =>
      (
        await scratch.server.rows<{ table: string }>(
          'select distinct table from system.parts where database = currentDatabase() and active order by table',
        )
      ).map(({ table }) => table);
    expect(await parts()).toEqual(['export_body', 'span', 'trace_by_start', 'trace_summary']);
    expect(await traces.removeStartedBefore(Date.now() + 2 * DAY_MS, 10)).toBe(2);
    expect(await parts()).toEqual([]);
    await bodies.close();
  });

  it('shows spans and traces in plain columns', async () => {
    const traces = await openTraces();
    await ingest(traces, aSpan({ cost: picos(2n ** 62n + 1n) }), spanAt(2, 7));
    const columns = 'span_id, name, toString(cost_usd) as cost, toString(start_time) as start, gateway';
    const span = { name: 'chat demo', start: '2023-11-14 22:13:20.000000000' };
    expect(await scratch.server.rows(`select ${columns} from spans order by span_id`)).toEqual([
      { ...span, span_id: spanId(1), cost: '4611686.018427387905', gateway: true },
      { ...span, span_id: spanId(2), start: '2023-11-14 22:13:20.007000000', cost: null, gateway: false },
    ]);
    expect(await scratch.server.rows('select trace_id, span_count, toString(cost_usd) as cost from traces')).toEqual([
      { trace_id: traceId(1), span_count: '2', cost: '4611686.018427387905' },
    ]);
  });

  it('adds new columns of spans and traces to existing tables', async () => {
    const before = await openTraces();
    await ingest(before, aSpan());
    await scratch.server.run('alter table span drop column request_id');
    await scratch.server.run('alter table trace_by_start drop constraint tool_calls_known');
    await scratch.server.run('alter table trace_by_start drop column tool_calls');
    const traces = await openTraces();
    await ingest(traces, aSpan({ spanId: spanId(2), requestId: 'resp_1' }));
    expect((await traces.findSpan([TRACE], spanId(1)))?.requestId).toBeNull();
    expect((await traces.findSpan([TRACE], spanId(2)))?.requestId).toBe('resp_1');
    expect((await traces.listSummaries(ALL, EVER, 10)).map(({ toolCalls }) => toolCalls)).toEqual([0]);
  });
});
