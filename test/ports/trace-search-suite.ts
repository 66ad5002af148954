import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Span, TraceLabels } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import {
  NO_TRACE_FILTERS,
  tracePassesFilters,
  traceRankOf,
  TRACE_ORDERS,
  type TraceFilters,
  type TraceSearch,
} from '../../src/domain/traces/trace-search.ts';
import type { SessionActivity, SessionSearch } from '../../src/domain/traces/sessions.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';
import { randomFrom } from '../support/random.ts';
import { sessionsIn, startMsOf } from '../support/sessions.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, aSpan, LONE_KEY, nsAt, OTHER_TEAM_KEY, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const EVER = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER };
/** Search that finds every trace. */
const EVERY_TRACE: TraceSearch = { ...EVER, filters: NO_TRACE_FILTERS, order: 'start', after: null };
const OWNERS = [TEAM_KEY, OTHER_TEAM_KEY, LONE_KEY];
const TRACE_COUNT = 60;

const LABELS: readonly TraceLabels[] = [
  { sessionId: 'Chat-1', userId: 'ann', tags: ['prod', 'says "hi"'] },
  { sessionId: 'Chat-1', userId: 'bob', tags: [] },
  { sessionId: 'chat-\u{1F600}', userId: null, tags: ['test'] },
  { sessionId: 'no\0text', userId: 'ann', tags: ['no\0text'] },
  { sessionId: null, userId: 'ann', tags: ['prod'] },
  { sessionId: null, userId: null, tags: ['litellm-lens', 'prod'] },
];

/** Traces with different values of all searched fields. Several traces share each value. */
function someTraces(): readonly Span[] {
  const draw = randomFrom(9);
  const pick = <Item>(items: readonly Item[]): Item => items[draw(items.length)] as Item;
  return Array.from({ length: TRACE_COUNT }, (_, index) => {
    const startNs = nsAt(START_MS + draw(40) * 1_000);
    return aSpan({
      traceId: traceId(index + 1),
      spanId: spanId(1),
      name: pick(['Refund order', 'list "orders"', 'plan']),
      service: pick(['support', 'billing']),
      agent: pick(['triage', 'refund-agent', '', 'says "hi" \\o', 'no\0text \ud800']),
      model: pick(['gpt-4o', 'claude', 'no\0text', null]),
      status: pick(['ok', 'error', 'unset'] as const),
      inputPreview: pick(['where is my ORDER?', '100%_done', '']),
      startNs,
      endNs: startNs + BigInt(draw(5)) * 1_500_000n,
      cost: pick([null, picos(0n), picos(5n), picos(2n ** 53n + 1n), picos(2n ** 63n - 1n)]),
      ...pick([{}, ...LABELS.map((labels) => ({ labels }))]),
    });
  });
}

const FILTERS: readonly Partial<Omit<TraceFilters, 'annotation'>>[] = [
  {},
  { status: 'error' },
  { service: 'billing' },
  { agent: 'triage' },
  { agent: 'tri' },
  { model: 'claude' },
  { keyHash: LONE_KEY.keyHash },
  { teamId: TEAM_KEY.teamId },
  { minSpend: picos(0n) },
  { minSpend: picos(2n ** 53n) },
  { minDurationNs: 3_000_000n },
  { minErrors: 1 },
  { text: 'order' },
  { text: 'ORDER' },
  { text: 'REFUND-' },
  { text: '"orders"' },
  { text: '%_' },
  // Characters of JSON, in which lists of names are stored. No name has them.
  { text: '[' },
  { text: '[]' },
  { text: String.raw`\u0000` },
  { text: 'SAYS "hi" \\o' },
  { agent: 'says "hi" \\o' },
  { agent: 'no\u{FFFD}text \u{FFFD}' },
  { model: 'no\u{FFFD}text' },
  { sessionId: 'Chat-1' },
  { sessionId: 'chat-1' },
  { sessionId: 'no\u{FFFD}text' },
  { userId: 'ann', tag: 'prod' },
  { tag: 'says "hi"' },
  { internal: true },
  { internal: false },
  { internal: false, tag: 'prod' },
  { tag: 'no\u{FFFD}text' },
  { text: 'chat-1' },
  { text: 'BOB' },
  { text: 'test' },
  { text: 'nowhere' },
  { service: 'support', status: 'ok', minDurationNs: 1n, text: 'o' },
];

/** Contract of every TraceStore about searches. */
export function traceSearchSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}: searches`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    let all: readonly TraceSummary[];
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open()).traces;
      for (const [index, span] of someTraces().entries())
        await traces.ingest([{ owner: OWNERS[index % OWNERS.length] ?? TEAM_KEY, spans: [span] }]);
      all = await traces.listSummaries(ALL, { ...EVER, after: null }, TRACE_COUNT);
      expect(all).toHaveLength(TRACE_COUNT);
    });
    afterAll(() => scratch.remove());

    const refs = (summaries: readonly TraceSummary[]): readonly string[] => summaries.map(({ traceRef }) => traceRef);

    const cases = FILTERS.map((wanted) => {
      const named = Object.entries(wanted).map(([name, value]) => `${name} ${value}`);
      return [named.join(', ') || 'anything', wanted] as const;
    });
    it.each(cases)('finds the traces that match %s, and no others', async (_name, wanted) => {
      const filters = { ...NO_TRACE_FILTERS, ...wanted };
      const found = await traces.searchSummaries(ALL, { ...EVERY_TRACE, filters }, TRACE_COUNT);
      expect(found).toEqual(all.filter((summary) => tracePassesFilters(summary, filters)));
    });

    it.each(TRACE_ORDERS)(
      'lists traces by %s, the greatest first, in pages without repeated or missing traces',
      async (order) => {
        const pages: (readonly TraceSummary[])[] = [];
        let after: TraceSearch['after'] = null;
        do {
          const page: readonly TraceSummary[] = await traces.searchSummaries(ALL, { ...EVERY_TRACE, order, after }, 7);
          pages.push(page);
          const last = page.at(-1);
          after = last && page.length === 7 ? { rank: traceRankOf(last, order), traceRef: last.traceRef } : null;
        } while (after !== null);
        const found = pages.flat();
        const inOrder = all.toSorted((left, right) => {
          const [a, b] = [traceRankOf(left, order), traceRankOf(right, order)];
          if (a !== b) return a < b ? 1 : -1;
          return left.traceRef < right.traceRef ? 1 : -1;
        });
        expect(refs(found)).toEqual(refs(inOrder));
      },
    );

    it('finds only visible traces inside the window', async () => {
      const window = { startMs: START_MS + 10_000, endMs: START_MS + 20_000 };
      for (const visibility of [
        { kind: 'team', teamId: TEAM_KEY.teamId },
        { kind: 'key', keyHash: LONE_KEY.keyHash },
      ] as const) {
        const found = await traces.searchSummaries(visibility, { ...EVERY_TRACE, ...window }, TRACE_COUNT);
        const visible = await traces.listSummaries(visibility, { ...window, after: null }, TRACE_COUNT);
        expect(visible.length).toBeGreaterThan(0);
        expect(found).toEqual(visible);
      }
    });

    it('lists sessions, the latest first, in pages, with their sums', async () => {
      const everySession: SessionSearch = { ...EVER, filters: NO_TRACE_FILTERS, after: null };
      const expected = sessionsIn(all);
      // One for each session id in LABELS.
      expect(expected.length).toBe(3);
      expect(await traces.sessions(ALL, everySession, 100)).toEqual(expected);
      expect(await traces.countSessions(ALL, everySession)).toBe(expected.length);
      const pages: SessionActivity[] = [];
      for (let last: SessionActivity | null = null; ;) {
        const [session]: readonly SessionActivity[] = await traces.sessions(ALL, { ...everySession, after: last }, 1);
        if (session === undefined) break;
        pages.push(session);
        last = session;
      }
      expect(pages).toEqual(expected);
    });

    it('lists sessions of visible traces that match the filters inside the window', async () => {
      const window = { startMs: START_MS + 5_000, endMs: START_MS + 30_000 };
      const filters = { ...NO_TRACE_FILTERS, userId: 'ann' };
      for (const visibility of [ALL, { kind: 'team', teamId: TEAM_KEY.teamId }] as const) {
        const visible = await traces.listSummaries(visibility, { ...window, after: null }, TRACE_COUNT);
        const expected = sessionsIn(visible.filter((summary) => tracePassesFilters(summary, filters)));
        expect(await traces.sessions(visibility, { ...window, filters, after: null }, 100)).toEqual(expected);
        expect(await traces.countSessions(visibility, { ...window, filters, after: null })).toBe(expected.length);
      }
    });

    it('sums traces by start time; each quantile is the duration of a trace', async () => {
      const filters = { ...NO_TRACE_FILTERS, service: 'support' };
      const bucketMs = 7_000;
      const window = { startMs: START_MS, endMs: START_MS + 30_500 };
      const buckets = await traces.series(ALL, { ...window, bucketMs, filters });
      const inside = all.filter((summary) => tracePassesFilters(summary, filters) && startMsOf(summary) < window.endMs);
      expect(buckets.map(({ startMs }) => (startMs - START_MS) / bucketMs)).toEqual([0, 1, 2, 3, 4]);
      for (const bucket of buckets) {
        const within = inside.filter((summary) => {
          const ms = startMsOf(summary);
          return ms >= bucket.startMs && ms < bucket.startMs + bucketMs;
        });
        const durations = within
          .map((summary) => traceRankOf(summary, 'duration'))
          .toSorted((a, b) => (a < b ? -1 : 1));
        const spends = within.flatMap(({ spend }) => spend ?? []);
        // Each trace has one span, with the type `llm` and the tokens of `aSpan`.
        expect(bucket).toEqual({
          startMs: bucket.startMs,
          traces: within.length,
          failed: within.filter(({ errorCount }) => errorCount > 0).length,
          spans: within.length,
          llmCalls: within.length,
          inputTokens: within.length * 3,
          outputTokens: within.length * 5,
          spend: spends.length === 0 ? null : spends.reduce((sum, amount) => picos(sum + amount)),
          p50Ns: durations[Math.ceil(durations.length * 0.5) - 1],
          p90Ns: durations[Math.ceil(durations.length * 0.9) - 1],
          p99Ns: durations[Math.ceil(durations.length * 0.99) - 1],
        });
      }
    });

    it('names the agents that the caller may see in a window, latest first', async () => {
      const window = { startMs: START_MS + 5_000, endMs: START_MS + 35_000 };
      for (const [visibility, filters] of [
        [ALL, NO_TRACE_FILTERS],
        [ALL, { ...NO_TRACE_FILTERS, status: 'error' }],
        [{ kind: 'team', teamId: TEAM_KEY.teamId }, NO_TRACE_FILTERS],
        [{ kind: 'key', keyHash: LONE_KEY.keyHash }, NO_TRACE_FILTERS],
      ] as const) {
        const visible = (await traces.listSummaries(visibility, { ...window, after: null }, TRACE_COUNT)).filter(
          (summary) => tracePassesFilters(summary, filters),
        );
        const expected = ['refund-agent', 'triage', 'says "hi" \\o', 'no\u{FFFD}text \u{FFFD}']
          .map((name) => ({ name, agentTraces: visible.filter(({ agentNames }) => agentNames.includes(name)) }))
          .filter(({ agentTraces }) => agentTraces.length > 0)
          .map(({ name, agentTraces }) => ({
            name,
            traces: agentTraces.length,
            failed: agentTraces.filter(({ errorCount }) => errorCount > 0).length,
            lastStartMs: Math.max(...agentTraces.map(startMsOf)),
            frameworks: [...new Set(agentTraces.flatMap(({ frameworks }) => frameworks))].toSorted(),
          }))
          .toSorted((left, right) => right.lastStartMs - left.lastStartMs || (left.name < right.name ? -1 : 1));
        expect(expected.length).toBeGreaterThan(0);
        expect(await traces.agents(visibility, { ...window, filters }, 10)).toEqual(expected);
        expect(await traces.agents(visibility, { ...window, filters }, 1)).toEqual(expected.slice(0, 1));
      }
      const unknownTeam = { kind: 'team', teamId: 'unknown' } as const;
      expect(await traces.agents(unknownTeam, { ...window, filters: NO_TRACE_FILTERS }, 10)).toEqual([]);
    });

    it('counts only visible traces in buckets, and returns no bucket without them', async () => {
      const series = { startMs: START_MS, endMs: START_MS + 40_000, bucketMs: 1_000, filters: NO_TRACE_FILTERS };
      expect(await traces.series({ kind: 'team', teamId: 'unknown' }, series)).toEqual([]);
      const bucketsOfKey = await traces.series({ kind: 'key', keyHash: LONE_KEY.keyHash }, series);
      expect(bucketsOfKey.reduce((sum, bucket) => sum + bucket.traces, 0)).toBe(TRACE_COUNT / OWNERS.length);
    });
  });
}
