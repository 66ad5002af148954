import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Owner } from '../../src/domain/caller.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import { assembleTrace, sortedParts } from '../../src/domain/traces/assemble-trace.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import type { TraceSummary, TraceWindow } from '../../src/domain/traces/trace.ts';
import { NO_LABELS } from '../../src/domain/traces/trace-labels.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import {
  ALL,
  LONE_KEY,
  OTHER_TEAM_KEY,
  START_MS,
  TEAM_KEY,
  aSpan,
  headOf,
  nsAt,
  picos,
  spanId,
  spansOf,
  traceId,
} from './samples.ts';

const EVER: TraceWindow = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
const TRACE = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };

/** Contract of every TraceStore. */
export function traceStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    const ingest = (owner: Owner, ...spans: readonly Span[]): Promise<readonly TraceSummary[]> =>
      traces.ingest([{ owner, spans }]);
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open()).traces;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns a span as it was sent, with any content', async () => {
      const unusualText = 'it\'s "quoted" ? $1 :x \\ \n\t\u{1F600} \u007F';
      const span = aSpan({
        parentSpanId: spanId(9),
        name: unusualText,
        kind: 'PRODUCER',
        type: 'guardrail',
        agent: unusualText,
        service: unusualText,
        startNs: 1_700_000_000_123_456_789n,
        endNs: 2n ** 63n - 1n,
        status: 'error',
        error: unusualText,
        model: unusualText,
        inputTokens: 0,
        outputTokens: Number.MAX_SAFE_INTEGER,
        inputPreview: unusualText,
        requestId: 'resp_1',
        provider: unusualText,
        framework: unusualText,
        callId: unusualText,
        gateway: true,
        cost: picos(2n ** 63n - 1n),
        estimate: picos(2n ** 63n - 1n),
        source: { type: 'custom', url: 'https://example.com', title: unusualText, user: null },
        input: unusualText.repeat(5_000),
        output: unusualText,
        attributes: { zeta: unusualText, alpha: '\0 and \uD800', [unusualText]: '' },
        resourceAttributes: { [unusualText]: unusualText },
        events: [{ name: unusualText, timeNs: 2n ** 64n - 1n, attributes: { 'exception.message': unusualText } }],
        links: [{ traceId: traceId(2), spanId: spanId(2), attributes: { odd: unusualText } }],
      });
      await ingest(TEAM_KEY, span);
      const found = await traces.findSpan([TRACE], span.spanId);
      expect(found).toEqual(span);
      expect(Object.keys(found?.attributes ?? {})).toEqual(['zeta', 'alpha', unusualText]);
      expect(await traces.listSpans([TRACE])).toEqual(new Map([[TRACE.traceRef, [headOf(span)]]]));
    });

    it('distinguishes unknown values and empty ones', async () => {
      const span = aSpan({
        startNs: 0n,
        endNs: 0n,
        model: null,
        inputTokens: 0,
        outputTokens: 0,
        inputPreview: '',
        input: '',
        output: '',
        attributes: {},
        resourceAttributes: {},
      });
      await ingest(TEAM_KEY, span);
      expect(await traces.findSpan([TRACE], span.spanId)).toEqual(span);
    });

    it.each([2n ** 53n + 1n, 1_700_000_000_000_000_001n, 2n ** 63n - 2n])('keeps a time of %s ns exact', async (ns) => {
      const span = aSpan({ startNs: ns, endNs: ns + 1n });
      await ingest(TEAM_KEY, span);
      const [summary] = await traces.listSummaries(ALL, EVER, 10);
      expect([summary?.startNs, summary?.endNs]).toEqual([ns, ns + 1n]);
      expect(await traces.findSpan([TRACE], span.spanId)).toEqual(span);
    });

    it('refuses times and amounts out of range, and stores nothing of the export', async () => {
      for (const wrong of [{ startNs: -1n }, { endNs: 2n ** 63n }, { cost: picos(2n ** 63n) }])
        await expect(ingest(TEAM_KEY, aSpan(), aSpan({ spanId: spanId(2), ...wrong }))).rejects.toThrow(InvalidInput);
      expect(await traces.listSummaries(ALL, EVER, 10)).toEqual([]);
    });

    it('stores the replacement character for text that a column cannot hold, and payloads unchanged', async () => {
      await ingest(TEAM_KEY, aSpan({ name: 'a\0b', input: 'half \uD800 pair', agent: '\uD800' }));
      const found = await traces.findSpan([TRACE], spanId(1));
      expect([found?.name, found?.input, found?.agent]).toEqual(['a\u{FFFD}b', 'half \uD800 pair', '\u{FFFD}']);
    });

    it('returns the summary of a trace with exact sums', async () => {
      const root = aSpan({ name: 'run', type: 'agent', agent: 'planner', model: null, endNs: nsAt(START_MS + 9) });
      const call = aSpan({
        spanId: spanId(2),
        parentSpanId: spanId(1),
        startNs: nsAt(START_MS) + 1n,
        cost: picos(2n ** 53n),
      });
      const tool = aSpan({
        spanId: spanId(3),
        parentSpanId: spanId(1),
        type: 'tool',
        agent: 'searcher',
        model: null,
        status: 'error',
        cost: picos(1n),
      });
      const summary: TraceSummary = {
        traceId: traceId(1),
        traceRef: TRACE.traceRef,
        owner: TEAM_KEY,
        name: 'run',
        service: 'tests',
        inputPreview: 'hello',
        rootNs: nsAt(START_MS),
        previewNs: null,
        startNs: nsAt(START_MS),
        endNs: nsAt(START_MS + 9),
        status: 'ok',
        spanCount: 3,
        agentNames: ['planner', 'searcher'],
        agentInvocations: 1,
        llmCalls: 1,
        toolCalls: 1,
        errorCount: 1,
        // Tokens of the only model call. The tokens of the other spans are not added.
        inputTokens: 3,
        outputTokens: 5,
        models: ['demo'],
        spend: picos(2n ** 53n + 1n),
        pricedCalls: 2,
        frameworks: [],
        estimate: null,
        estimatedCalls: 0,
        gatewayCalls: 0,
        source: null,
        redactedAt: null,
        ...NO_LABELS,
      };
      expect(await ingest(TEAM_KEY, root, call, tool)).toEqual([summary]);
      expect(await traces.listSummaries(ALL, EVER, 10)).toEqual([summary]);
      expect(await traces.findSummaries(ALL, traceId(1), null)).toEqual([summary]);
    });

    it('returns the same summary when the spans arrive one at a time, the root last', async () => {
      const spans = [
        aSpan({
          spanId: spanId(3),
          parentSpanId: spanId(2),
          name: 'leaf',
          service: 'leaf',
          startNs: nsAt(START_MS + 2),
        }),
        aSpan({ spanId: spanId(2), parentSpanId: spanId(1), name: 'branch', startNs: nsAt(START_MS + 1) }),
        aSpan({ name: 'root', inputPreview: 'question', endNs: nsAt(START_MS + 50) }),
      ];
      const steps: (readonly TraceSummary[])[] = [];
      for (const span of spans) steps.push(await ingest(TEAM_KEY, span));
      expect(steps.map(([summary]) => [summary?.name, summary?.service, summary?.spanCount])).toEqual([
        ['', 'leaf', 1],
        ['', 'tests', 2],
        ['root', 'tests', 3],
      ]);
      const inOrder = await ingest(OTHER_TEAM_KEY, ...spans.toReversed());
      const identity = { owner: TEAM_KEY, traceRef: TRACE.traceRef };
      expect(steps[2]).toEqual(inOrder.map((summary) => ({ ...summary, ...identity })));
    });

    it('ignores a resend: nothing changes, and no change is reported', async () => {
      const [before] = await ingest(TEAM_KEY, ...spansOf(3));
      expect(await ingest(TEAM_KEY, ...spansOf(3, { name: 'changed', input: 'changed', cost: picos(5n) }))).toEqual([]);
      expect(await traces.listSummaries(ALL, EVER, 10)).toEqual([before]);
      expect(await traces.findSpan([TRACE], spanId(2))).toEqual(aSpan({ spanId: spanId(2) }));
    });

    it('counts only the new spans of a partial resend, and a repeated span once', async () => {
      await ingest(TEAM_KEY, ...spansOf(2));
      const [grown] = await ingest(TEAM_KEY, ...spansOf(5), ...spansOf(5, { name: 'second copy' }));
      expect([grown?.spanCount, grown?.llmCalls, grown?.inputTokens]).toEqual([5, 5, 15]);
      expect((await traces.findSpan([TRACE], spanId(5)))?.name).toBe('chat demo');
    });

    it('keeps one trace id of several owners as separate traces', async () => {
      const shared = [TEAM_KEY, OTHER_TEAM_KEY, LONE_KEY];
      for (const owner of shared) await ingest(owner, aSpan({ name: owner.keyHash.slice(0, 1) }));
      const found = await traces.findSummaries(ALL, traceId(1), null);
      expect(found.map(({ owner, name, spanCount }) => [owner, name, spanCount])).toEqual(
        found.map(({ owner }) => [owner, owner.keyHash.slice(0, 1), 1]),
      );
      expect(new Set(found.map(({ traceRef }) => traceRef))).toEqual(
        new Set(shared.map((owner) => traceRefOf(owner, traceId(1)))),
      );
      const other = traceRefOf(OTHER_TEAM_KEY, traceId(1));
      expect((await traces.findSpan([{ traceId: traceId(1), traceRef: other }], spanId(1)))?.name).toBe('b');
      const merged = assembleTrace(found, await traces.listSpans(found));
      // By team. A key without a team is first.
      expect(sortedParts(merged?.parts ?? []).map(({ owner }) => owner)).toEqual([LONE_KEY, TEAM_KEY, OTHER_TEAM_KEY]);
      const ofTeam = await traces.findSummaries({ kind: 'team', teamId: TEAM_KEY.teamId }, traceId(1), null);
      expect(ofTeam.map(({ owner }) => owner)).toEqual([TEAM_KEY]);
    });

    it('shows a reader only the traces of its team or key, and an administrator all', async () => {
      const teammate: Owner = { teamId: 'team-a', keyHash: 'd'.repeat(64) };
      const owners = { a: TEAM_KEY, d: teammate, b: OTHER_TEAM_KEY, c: LONE_KEY };
      for (const [name, owner] of Object.entries(owners)) await ingest(owner, aSpan({ name }));
      const readers = {
        all: ALL,
        teamA: { kind: 'team', teamId: 'team-a' },
        teamB: { kind: 'team', teamId: 'team-b' },
        teamC: { kind: 'team', teamId: 'team-c' },
        loneKey: { kind: 'key', keyHash: LONE_KEY.keyHash },
        // The team owns the traces of its keys.
        teamKey: { kind: 'key', keyHash: TEAM_KEY.keyHash },
      } as const;
      /** By reader: the names of the visible traces, as one text. */
      const visibleTo = async (
        list: (reader: (typeof readers)[keyof typeof readers]) => Promise<readonly TraceSummary[]>,
      ) =>
        Object.fromEntries(
          await Promise.all(
            Object.entries(readers).map(async ([name, reader]) => [
              name,
              (await list(reader))
                .map((summary) => summary.name)
                .toSorted()
                .join(''),
            ]),
          ),
        ) as unknown;
      const expected = { all: 'abcd', teamA: 'ad', teamB: 'b', teamC: '', loneKey: 'c', teamKey: '' };
      expect(await visibleTo((reader) => traces.listSummaries(reader, EVER, 10))).toEqual(expected);
      expect(await visibleTo((reader) => traces.findSummaries(reader, traceId(1), null))).toEqual(expected);
      const refOfA = traceRefOf(TEAM_KEY, traceId(1));
      expect(await visibleTo((reader) => traces.findSummaries(reader, traceId(1), refOfA))).toEqual({
        all: 'a',
        teamA: 'a',
        teamB: '',
        teamC: '',
        loneKey: '',
        teamKey: '',
      });
    });

    it('finds a trace by its id and ref together, and nothing when they do not match', async () => {
      await ingest(TEAM_KEY, aSpan(), aSpan({ traceId: traceId(2) }));
      expect((await traces.findSummaries(ALL, traceId(1), TRACE.traceRef)).map(({ traceRef }) => traceRef)).toEqual([
        TRACE.traceRef,
      ]);
      expect(await traces.findSummaries(ALL, traceId(2), TRACE.traceRef)).toEqual([]);
      expect(await traces.findSummaries(ALL, traceId(3), null)).toEqual([]);
    });

    it('lists traces newest first inside a window that includes its start and excludes its end', async () => {
      const spanAt = (ms: number): Span =>
        aSpan({ traceId: traceId(ms), startNs: nsAt(START_MS + ms), name: String(ms) });
      await ingest(TEAM_KEY, spanAt(1), spanAt(5), spanAt(3), spanAt(2), spanAt(4));
      const window = { startMs: START_MS + 2, endMs: START_MS + 5, after: null };
      const names = (await traces.listSummaries(ALL, window, 10)).map(({ name }) => name);
      expect(names).toEqual(['4', '3', '2']);
      expect((await traces.listSummaries(ALL, window, 2)).map(({ name }) => name)).toEqual(['4', '3']);
    });

    it.each([ALL, { kind: 'team', teamId: 'team-a' }, { kind: 'key', keyHash: LONE_KEY.keyHash }] as const)(
      'pages through traces of the same ms without repeated or missing ones (%j)',
      async (visibility) => {
        const owner = visibility.kind === 'key' ? LONE_KEY : TEAM_KEY;
        const starts = [0, 0, 0, 0, 0, 1, 1, 1, 2];
        await ingest(
          owner,
          // The order ignores differences below a millisecond.
          ...starts.map((ms, trace) =>
            aSpan({ traceId: traceId(trace), startNs: nsAt(START_MS + ms) + BigInt(trace) }),
          ),
        );
        const pages: (readonly TraceSummary[])[] = [];
        let after: TraceWindow['after'] = null;
        do {
          const page: readonly TraceSummary[] = await traces.listSummaries(visibility, { ...EVER, after }, 2);
          pages.push(page);
          const last = page.at(-1);
          after = last ? { startMs: Number(last.startNs / 1_000_000n), traceRef: last.traceRef } : null;
        } while (after !== null);
        const position = ({ startNs, traceRef }: TraceSummary): string => `${startNs / 1_000_000n} ${traceRef}`;
        const expected = starts
          .map((ms, trace) => `${START_MS + ms} ${traceRefOf(owner, traceId(trace))}`)
          .toSorted()
          .toReversed();
        expect(pages.flat().map(position)).toEqual(expected);
        expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 2, 1, 0]);
      },
    );

    it('lists the spans of several traces with one read, by start and then span id', async () => {
      const second = { traceId: traceId(2), traceRef: traceRefOf(TEAM_KEY, traceId(2)) };
      const unknown = { traceId: traceId(1), traceRef: 'UNKNOWN' };
      const spans = [
        aSpan({ spanId: spanId(3), startNs: nsAt(START_MS) + 1n }),
        aSpan({ spanId: spanId(2), startNs: nsAt(START_MS) + 1n }),
        aSpan({ spanId: spanId(9), startNs: 999n }),
        aSpan({ traceId: traceId(2) }),
      ];
      await ingest(TEAM_KEY, ...spans);
      const found = await traces.listSpans([second, TRACE, unknown]);
      expect([...found].map(([ref, heads]) => [ref, heads.map((head) => head.spanId)])).toEqual([
        [second.traceRef, [spanId(1)]],
        [TRACE.traceRef, [spanId(9), spanId(2), spanId(3)]],
        ['UNKNOWN', []],
      ]);
      expect(await traces.listSpans([])).toEqual(new Map());
    });

    it('finds a span in any of the given traces', async () => {
      const second = { traceId: traceId(1), traceRef: traceRefOf(LONE_KEY, traceId(1)) };
      await ingest(TEAM_KEY, aSpan());
      await ingest(LONE_KEY, aSpan({ spanId: spanId(2), input: 'merged' }));
      expect(await traces.findSpan([TRACE, second], spanId(2))).toEqual(aSpan({ spanId: spanId(2), input: 'merged' }));
      expect(await traces.findSpan([TRACE], spanId(2))).toBeNull();
      expect(await traces.findSpan([TRACE, second], spanId(3))).toBeNull();
      expect(await traces.findSpan([], spanId(1))).toBeNull();
    });
  });
}
