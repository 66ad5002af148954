import { zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { growSummary } from '../../src/domain/traces/trace.ts';
import { NO_TRACE_FILTERS } from '../../src/domain/traces/trace-search.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, aSpendRow, LONE_KEY, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const USAGE = { inputTokens: 3, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** A call with its own trace, by number. Span and spend row have the same facts. */
function aCall(number: number, fields: Partial<SpendRow> = {}, span: Partial<Span> = {}): CallRecord {
  const ids = { traceId: traceId(number), spanId: spanId(number) };
  const own = { id: `call-${number}`, callId: `call-${number}`, cost: picos(7n), usage: USAGE, endedAt: ENDED_AT };
  const spend = aSpendRow({ ...own, ...TEAM_KEY, ...ids, ...fields });
  const { cost, responseId: requestId, usage } = spend;
  const { inputTokens, outputTokens } = usage ?? { inputTokens: 0, outputTokens: 0 };
  return { spend, span: aSpan({ gateway: true, cost, requestId, inputTokens, outputTokens, ...ids, ...span }) };
}

const ENDED_AT = new Date(START_MS + 5);
const ODD = 'a "quoted" \\ text, \u{1F600}, \u0001 and\nlines';
const TRACE_1 = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };
const LINK = { traceId: traceId(5), spanId: spanId(5), attributes: { [ODD]: ODD } };
const WINDOW = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
const SEARCH = { startMs: 0, endMs: WINDOW.endMs, filters: NO_TRACE_FILTERS, order: 'spend', after: null } as const;
const SERIES = { startMs: START_MS, endMs: START_MS + 60_000, bucketMs: 60_000, filters: NO_TRACE_FILTERS };

const bodies = aTracePacker();

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`CallStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    let secondProcess: Stores;
    /** The database without stores. */
    let bare: Database;
    const warnings: string[] = [];
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open({ bodies });
      secondProcess = await scratch.open({ bodies, log: { warn: (_facts, event) => warnings.push(event) } });
      bare = await scratch.openBare();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const append = async (...calls: readonly CallRecord[]) =>
      (await stores.calls.append(calls.map((call) => stores.calls.encode(call))))();
    /** Commits calls without reading their summaries. */
    const commit = async (...calls: readonly CallRecord[]): Promise<void> =>
      void (await stores.calls.append(calls.map((call) => stores.calls.encode(call))));
    /** Numbers of rows of these tables. */
    async function counts(...tables: readonly string[]): Promise<readonly number[]> {
      const numbers: number[] = [];
      for (const table of tables) {
        const rows: { readonly n: number | string }[] = await bare.orm.em
          .fork()
          .execute(`select count(*) as n from ${table}`);
        numbers.push(Number(rows[0]?.n));
      }
      return numbers;
    }

    async function storedCall({ spend, span }: CallRecord) {
      const [summary] = await stores.traces.findSummaries({ kind: 'all' }, span.traceId, null);
      return {
        spend: await stores.spend.findBySpans([`${spend.traceId}:${spend.spanId}`]),
        span: summary === undefined ? null : await stores.traces.findSpan([summary], span.spanId),
        summary,
      };
    }

    it('returns spend row and span unchanged, and publishes the stored summary', async () => {
      const call = aCall(
        1,
        { callId: ODD, modelGroup: ODD, error: { code: '500', message: ODD }, status: 'failure' },
        {
          name: ODD,
          input: ODD,
          output: ODD,
          attributes: { [ODD]: ODD },
          error: ODD,
          status: 'error',
          inputPreview: ODD,
        },
      );
      const plain = aCall(2, { usage: null, cost: null, teamId: null }, { cost: null, type: 'embedding', model: null });
      const changed = await append(call, plain);
      const [storedOdd, storedPlain] = [await storedCall(call), await storedCall(plain)];
      expect([storedOdd.spend, storedOdd.span]).toEqual([[call.spend], call.span]);
      expect([storedPlain.spend, storedPlain.span]).toEqual([[plain.spend], plain.span]);
      expect(changed).toEqual([storedOdd.summary, storedPlain.summary]);
      expect(storedOdd.summary).toMatchObject({ owner: TEAM_KEY, spanCount: 1, errorCount: 1, spend: 7n, name: ODD });
      expect(storedPlain.summary?.owner.teamId).toBeNull();
    });

    it('returns summaries for subscribers from memory, equal to the stored ones, without unfolding the log', async () => {
      const calls = [aCall(1, {}, { name: 'a \0 name' }), aCall(2, { cost: null }, { cost: null })];
      const summaries = await (await stores.calls.append(calls.map((call) => stores.calls.encode(call, true))))();
      expect(await counts('call_segment', 'trace_summary')).toEqual([1, 0]);
      const found = await stores.traces.listSummaries({ kind: 'all' }, WINDOW, 10);
      expect(Map.groupBy(summaries, ({ traceId: id }) => id)).toEqual(Map.groupBy(found, ({ traceId: id }) => id));
    });

    it('returns the whole summary of a trace with earlier spans of a client', async () => {
      const client = aSpan({ traceId: traceId(1), spanId: spanId(9), type: 'agent', agent: 'planner' });
      await stores.traces.ingest([{ owner: TEAM_KEY, spans: [client] }]);
      const changed = await stores.calls.append([aCall(1), aCall(2)].map((call) => stores.calls.encode(call, true)));
      expect((await changed()).map(({ traceId: id, spanCount }) => [id, spanCount])).toEqual([
        [traceId(2), 1],
        [traceId(1), 2],
      ]);
    });

    it.each<[string, Partial<SpendRow>, Partial<Span>]>([
      ['a call id from its client', { callId: 'from-a-client' }, {}],
      ['an odd call id', { callId: ODD }, {}],
      ['a key without a team', { ...LONE_KEY, teamId: null, userId: null }, {}],
      ['cached and hidden tokens', { usage: { ...USAGE, cacheReadTokens: 2, reasoningTokens: 1 } }, {}],
      ['written tokens', { usage: { ...USAGE, cacheWriteTokens: 2 ** 40 } }, {}],
      ['no usage', { usage: null }, {}],
      ['no price', { cost: null }, {}],
      ['no bytes of an answer', { firstByteAt: null, responseId: null, usage: null }, {}],
      ['a price beyond 53 bits', { cost: picos(2n ** 62n + 1n) }, {}],
      ['no prompt', {}, { inputPreview: '', input: '', output: '' }],
      ['an agent', {}, { type: 'agent', agent: 'planner' }],
      ['a tool', {}, { type: 'tool', model: null }],
      ['a failure', { status: 'failure', error: { code: '502', message: ODD } }, { status: 'error', error: ODD }],
      ['a failure without a message', { status: 'failure', error: { code: '502', message: '' } }, { status: 'error' }],
      ['events and links', {}, { events: [{ name: ODD, timeNs: 7n, attributes: {} }], links: [{ ...LINK }] }],
      // Calls whose span and spend row differ are encoded in another way, with the same result.
      ['another time in its span', {}, { startNs: nsAt(START_MS) + 1n }],
      ['another price in its span', {}, { cost: null }],
      ['another response in its span', {}, { requestId: null }],
      ['other tokens in its span', {}, { inputTokens: 9 }],
    ])('keeps a call with %s', async (_what, fields, span) => {
      const [usual, call] = [aCall(1), aCall(2, fields, span)];
      await append(usual, call);
      for (const { spend, span: callSpan } of [usual, call]) {
        const found = await storedCall({ spend, span: callSpan });
        expect([found.spend, found.span]).toEqual([[spend], callSpan]);
        const owner = { teamId: spend.teamId, keyHash: spend.keyHash };
        const identity = { traceId: callSpan.traceId, traceRef: traceRefOf(owner, callSpan.traceId), owner };
        expect(found.summary).toEqual(growSummary(null, identity, [callSpan]));
      }
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(
        [usual, call].reduce(
          (sum, { spend }) => sum + (spend.keyHash === TEAM_KEY.keyHash ? (spend.cost ?? 0n) : 0n),
          0n,
        ),
      );
    });

    it('keeps different calls of one commit apart', async () => {
      const calls = Array.from({ length: 300 }, (_, number) =>
        aCall(
          number + 1,
          {
            keyHash: `${number % 7}`.repeat(64),
            modelGroup: `m-${number % 5}`,
            usage: number % 3 === 0 ? null : { ...USAGE, cacheReadTokens: number % 2 },
            cost: number % 4 === 0 ? null : picos(BigInt(number)),
          },
          { output: `answer ${number}`, name: `chat m-${number % 5}` },
        ),
      );
      await append(...calls);
      for (const call of calls.filter((_call, number) => number % 100 === 50)) {
        const { spend, span } = await storedCall(call);
        expect([spend, span]).toEqual([[call.spend], call.span]);
      }
      const rows = await stores.spend.findBySpans(calls.map(({ spend }) => `${spend.traceId}:${spend.spanId}`));
      expect(rows.toSorted((left, right) => (left.traceId < right.traceId ? -1 : 1))).toEqual(
        calls.map(({ spend }) => spend),
      );
      const threes = calls.filter(({ spend }) => spend.keyHash === '3'.repeat(64));
      expect(await stores.spend.totalOf('3'.repeat(64))).toBe(
        threes.reduce((sum, { spend }) => sum + (spend.cost ?? 0n), 0n),
      );
    });

    it('commits the calls of each append as one segment, and unfolds all segments', async () => {
      await commit(aCall(1), aCall(2));
      await commit(aCall(3));
      expect(await counts('call_segment', 'spend_row', 'trace_summary', 'span')).toEqual([2, 0, 0, 0]);
      expect(stores.calls.backlog()).toBe(3);
      await stores.calls.unfold();
      expect(await counts('call_segment', 'spend_row', 'trace_summary', 'span')).toEqual([0, 3, 3, 3]);
      expect(stores.calls.backlog()).toBe(0);
      await stores.calls.unfold();
      // Each unfolded segment leaves one body.
      expect(await counts('span', 'export_body')).toEqual([3, 2]);
      await commit(aCall(4));
      await stores.calls.unfold();
      expect(await counts('span', 'export_body')).toEqual([4, 3]);
    });

    it.each<[string, () => Promise<unknown>, unknown]>([
      ['the list', async () => (await stores.traces.listSummaries({ kind: 'all' }, WINDOW, 9)).length, 1],
      ['the spend of a key', () => stores.spend.totalOf(TEAM_KEY.keyHash), 7n],
      [
        'the spend of many keys',
        async () => (await stores.spend.totalsOf(['b', TEAM_KEY.keyHash])).get(TEAM_KEY.keyHash),
        7n,
      ],
      ['spend rows', async () => (await stores.spend.findBySpans([`${traceId(1)}:${spanId(1)}`])).length, 1],
      ['a trace', async () => (await stores.traces.findSummaries({ kind: 'all' }, traceId(1), null)).length, 1],
      ['spans', async () => (await stores.traces.listSpans([TRACE_1])).get(TRACE_1.traceRef)?.length, 1],
      ['a span', async () => (await stores.traces.findSpan([TRACE_1], spanId(1)))?.input, 'hello'],
      ['a search', async () => (await stores.traces.searchSummaries({ kind: 'all' }, SEARCH, 9)).length, 1],
      ['a series', async () => (await stores.traces.series({ kind: 'all' }, SERIES)).length, 1],
    ])('%s includes the latest commit', async (_what, read, expected) => {
      await commit(aCall(1));
      expect(await read()).toBe(expected);
    });

    it('shows another process calls that are committed and not unfolded', async () => {
      await commit(aCall(1));
      expect(await secondProcess.spend.totalOf(TEAM_KEY.keyHash)).toBe(7n);
      expect((await secondProcess.traces.findSpan([TRACE_1], spanId(1)))?.output).toBe('hi');
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(7n);
    });

    it('reads whole calls while two processes unfold concurrently', async () => {
      for (let number = 1; number <= 12; number += 1) await commit(aCall(number));
      await Promise.all([
        stores.calls.unfold(),
        secondProcess.calls.unfold(),
        stores.spend.findBySpans(['x:y']),
        secondProcess.spend.findBySpans(['x:y']),
      ]);
      expect(await counts('call_segment', 'spend_row', 'trace_summary', 'span')).toEqual([0, 12, 12, 12]);
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(12n * 7n);
    });

    it('keeps stored calls unchanged, also in a batch with new ones, and charges the key once for each call', async () => {
      const [first, second] = [aCall(1), aCall(2)];
      await append(first);
      const again = { ...first, span: { ...first.span, name: 'another' } };
      const changed = await append(again, second);
      expect(changed.map((summary) => summary.traceId)).toEqual([traceId(1), traceId(2)]);
      expect((await storedCall(first)).span).toEqual(first.span);
      expect((await storedCall(second)).span).toEqual(second.span);
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(14n);
    });

    it('charges a call once when it is committed twice before the first read', async () => {
      await commit(aCall(1), aCall(2));
      await commit(aCall(1), aCall(2), aCall(3));
      expect((await stores.spend.findBySpans([`${traceId(3)}:${spanId(3)}`])).length).toBe(1);
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(21n);
      expect(await counts('call_segment', 'spend_row', 'trace_summary', 'span')).toEqual([0, 3, 3, 3]);
    });

    it('joins a call with spans that a client wrote into its trace before the call was unfolded', async () => {
      await commit(aCall(1), aCall(2));
      const inside = aSpan({ spanId: spanId(9), parentSpanId: spanId(1), type: 'tool', name: 'inside' });
      await stores.traces.ingest([{ owner: TEAM_KEY, spans: [inside] }]);
      const merged = await stores.calls.unfold();
      const { summary, span } = await storedCall(aCall(1));
      expect([merged, summary?.name, summary?.spanCount, summary?.toolCalls]).toEqual([[summary], 'chat demo', 2, 1]);
      expect(span).toEqual(aCall(1).span);
      expect((await storedCall(aCall(2))).summary?.spanCount).toBe(1);
    });

    async function bodyTexts(): Promise<string> {
      const rows: { readonly bytes: Uint8Array }[] = await bare.orm.em.fork().execute('select bytes from export_body');
      return rows.map(({ bytes }) => zstdDecompressSync(bytes).toString()).join();
    }

    it('deletes a call with its expired trace, and keeps other calls', async () => {
      const later = { startedAt: new Date(START_MS + 10), endedAt: new Date(START_MS + 10) };
      const [old, young] = [
        aCall(1, {}, { output: 'the word OBSOLETE' }),
        aCall(2, later, { output: 'still here', startNs: nsAt(START_MS + 10), endNs: nsAt(START_MS + 10) }),
      ];
      await append(old, young);
      expect((await bodyTexts()).match(/OBSOLETE|still here/g)).toEqual(['OBSOLETE', 'still here']);
      expect(await stores.traces.removeStartedBefore(START_MS + 10, 9)).toBe(1);
      expect((await bodyTexts()).match(/OBSOLETE|still here/g)).toEqual(['still here']);
      expect((await storedCall(young)).span).toEqual(young.span);
      expect(await stores.traces.removeStartedBefore(START_MS + 11, 9)).toBe(1);
      expect(await counts('export_body')).toEqual([0]);
    });

    it.each([
      ['removed', () => stores.traces.remove([TRACE_1])],
      ['redacted', () => stores.traces.redact([TRACE_1], new Date(START_MS))],
    ])('leaves no data of a call that is %s before the first read', async (_what, erase) => {
      await commit(
        aCall(1, {}, { output: 'a SECRET', inputPreview: 'a SECRET' }),
        aCall(2, {}, { output: 'still here' }),
      );
      await erase();
      const data = [await bodyTexts(), await bare.orm.em.fork().execute('select input_preview, payload from span')];
      expect(JSON.stringify(data).match(/SECRET|still here/g)).toEqual(['still here']);
      expect(await counts('call_segment')).toEqual([0]);
      expect((await storedCall(aCall(2))).span?.output).toBe('still here');
    });

    it('moves a segment aside that cannot be unfolded, and reads the others', async () => {
      await commit(aCall(1));
      await bare.orm.em.fork().execute(`update call_segment set rows = '[[' where calls = 1`);
      await commit(aCall(2));
      expect(await secondProcess.spend.findBySpans([`${traceId(2)}:${spanId(2)}`])).toEqual([aCall(2).spend]);
      // Both calls cost 7: the call of the faulty segment is counted, too.
      expect(await secondProcess.spend.totalOf(TEAM_KEY.keyHash)).toBe(14n);
      expect(warnings).toEqual(['A segment of the call log was set aside: it cannot be read.']);
      expect(await counts('call_segment', 'span')).toEqual([1, 1]);
    });

    it('adds a call to its trace', async () => {
      const owner = TEAM_KEY;
      await stores.traces.ingest([
        { owner, spans: [aSpan({ name: 'agent', type: 'agent', inputTokens: 0, outputTokens: 0 })] },
      ]);
      const child = aCall(1, { spanId: spanId(2) }, { spanId: spanId(2), parentSpanId: spanId(1) });
      const changed = await append(child, aCall(3));
      expect(changed.map(({ traceId: id, spanCount }) => [id, spanCount])).toEqual([
        [traceId(3), 1],
        [traceId(1), 2],
      ]);
      const { summary, span, spend } = await storedCall(child);
      expect([summary?.name, summary?.spanCount, span, spend]).toEqual(['agent', 2, child.span, [child.spend]]);
    });

    it.each([
      ['generated', {}, 'call-1'],
      ['from its client', { callId: 'from-a-client' }, 'from-a-client'],
      ['unusual', { callId: ODD }, ODD],
    ])('encodes the trace and the call id, which is %s', (_what, fields, callId) => {
      const { callId: name, traceId: trace } = stores.calls.encode(aCall(1, fields));
      expect([name, trace]).toEqual([callId, traceId(1)]);
    });

    it('refuses immediately a value that no store can hold', () => {
      expect(() => stores.calls.encode(aCall(1, { cost: picos(2n ** 70n) }))).toThrow(InvalidInput);
      expect(() => stores.calls.encode(aCall(1, {}, { startNs: -1n }))).toThrow(InvalidInput);
      expect(() => stores.calls.encode(aCall(1, {}, { inputTokens: Number.NaN }))).toThrow(InvalidInput);
      expect(() => stores.calls.encode(aCall(1, { endedAt: new Date(Number.NaN) }))).toThrow(InvalidInput);
    });
  });
