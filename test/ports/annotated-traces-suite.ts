import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Annotation } from '../../src/domain/annotations/annotation.ts';
import {
  type AnnotationConditions,
  NO_ANNOTATION_CONDITIONS,
} from '../../src/domain/annotations/annotation-conditions.ts';
import type { Visibility } from '../../src/domain/caller.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import {
  NO_TRACE_FILTERS,
  traceRankOf,
  TRACE_ORDERS,
  type TraceFilters,
  type TraceSearch,
} from '../../src/domain/traces/trace-search.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, aSpan, LONE_KEY, nsAt, OTHER_TEAM_KEY, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const OWNERS = [TEAM_KEY, OTHER_TEAM_KEY, LONE_KEY];
const EVER = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER };
/** Number of traces. Most are annotated, so that a search has several pages of five. */
const TRACE_COUNT = 24;
/** Number of annotations. More than the 2,000 matches up to which a search reads traces by their annotations. */
const MANY_ANNOTATIONS = 2_100;
/** Number of annotations. More than a filter may match when annotations and traces are in different databases. */
const TOO_MANY_ANNOTATIONS = 10_050;

let annotationCount = 0;
function annotationOf({ traceId: id, traceRef, owner, startNs }: TraceSummary, more: Partial<Annotation>): Annotation {
  annotationCount += 1;
  return {
    id: `a${annotationCount}`,
    traceId: id,
    traceRef,
    spanId: '',
    teamId: owner.teamId ?? '',
    keyHash: owner.keyHash,
    traceStartMs: Number(startNs / 1_000_000n),
    name: 'quality',
    annotator: 'human',
    label: null,
    score: null,
    note: null,
    createdAt: new Date(START_MS),
    createdBy: 'ann',
    updatedAt: new Date(START_MS),
    updatedBy: 'ann',
    ...more,
  };
}

function matches(annotation: Annotation, conditions: AnnotationConditions): boolean {
  const { traceId: id, spanId: span, name, annotator, label, author, minScore, maxScore, from, to } = conditions;
  const { score } = annotation;
  return (
    (id === null || annotation.traceId === id) &&
    (span === null || annotation.spanId === span) &&
    (name === null || annotation.name === name) &&
    (annotator === null || annotation.annotator === annotator) &&
    (label === null || annotation.label === label) &&
    (author === null || annotation.createdBy === author) &&
    (minScore === null || (score !== null && score >= minScore)) &&
    (maxScore === null || (score !== null && score <= maxScore)) &&
    (from === null || annotation.createdAt >= from) &&
    (to === null || annotation.createdAt < to)
  );
}

const CONDITIONS: readonly Partial<AnnotationConditions>[] = [
  {},
  { name: 'quality' },
  { name: 'Quality' },
  { name: 'quality', label: 'bad' },
  { label: 'bad', author: 'ben' },
  { annotator: 'llm' },
  { minScore: 0.5 },
  { maxScore: 0.5 },
  { minScore: 0.5, maxScore: 0.5 },
  { minScore: -1e308, maxScore: 1e308 },
  { minScore: 2, maxScore: 1 },
  { spanId: spanId(1) },
  { traceId: traceId(3) },
  { traceId: traceId(3), spanId: spanId(1), name: 'span' },
  { from: new Date(START_MS + 5) },
  { to: new Date(START_MS + 5) },
  { from: new Date(START_MS + 5), to: new Date(START_MS + 6) },
  { from: new Date(8.64e15) },
  { to: new Date(-8.64e15) },
  { name: "'; drop table annotation; --" },
  { name: '%' },
  { name: 'no\0text \ud800' },
  { name: 'none' },
];

/** Contract of every TraceStore about filters by annotation. */
export function annotatedTracesSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`a search of traces by annotation on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    let all: readonly TraceSummary[];
    const stored: Annotation[] = [];

    async function annotate(...more: readonly Annotation[]): Promise<void> {
      await stores.annotations.add(...more);
      stored.push(...more);
    }

    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      for (let nth = 0; nth < TRACE_COUNT; nth += 1) {
        const span = aSpan({
          traceId: traceId(Math.floor(nth / 2)),
          startNs: nsAt(START_MS + (nth % 7) * 1_000),
          agent: nth % 2 === 0 ? 'triage' : '',
          type: 'agent',
          labels: { sessionId: `chat-${nth % 3}`, userId: null, tags: [] },
        });
        await stores.traces.ingest([{ owner: OWNERS[nth % OWNERS.length] ?? TEAM_KEY, spans: [span] }]);
      }
      all = await stores.traces.listSummaries(ALL, { ...EVER, after: null }, TRACE_COUNT);
      expect(all).toHaveLength(TRACE_COUNT);
      for (const [nth, summary] of all.entries()) {
        if (nth % 2 === 0) await annotate(annotationOf(summary, { label: nth % 4 === 0 ? 'bad' : 'good' }));
        if (nth % 3 === 0)
          await annotate(
            annotationOf(summary, {
              score: nth / 12,
              createdBy: 'ben',
              annotator: 'llm',
              label: 'bad',
              createdAt: new Date(START_MS + 5),
            }),
          );
        if (nth % 5 === 0) await annotate(annotationOf(summary, { spanId: spanId(1), name: 'span', score: -1 }));
      }
      await annotate(annotationOf(all[7] ?? all[0]!, { name: "'; drop table annotation; --", label: 'x' }));
    });
    afterAll(() => scratch.remove());

    const filtersOf = (conditions: Partial<AnnotationConditions>): TraceFilters => ({
      ...NO_TRACE_FILTERS,
      annotation: { ...NO_ANNOTATION_CONDITIONS, ...conditions },
    });
    const searchOf = (conditions: Partial<AnnotationConditions>): TraceSearch => ({
      ...EVER,
      filters: filtersOf(conditions),
      order: 'start',
      after: null,
    });
    const expectedOf = (conditions: Partial<AnnotationConditions>): readonly TraceSummary[] =>
      all.filter(({ traceRef }) =>
        stored.some(
          (annotation) =>
            annotation.traceRef === traceRef && matches(annotation, { ...NO_ANNOTATION_CONDITIONS, ...conditions }),
        ),
      );
    const refs = (summaries: readonly TraceSummary[]): readonly string[] => summaries.map(({ traceRef }) => traceRef);

    /** Results of reads of the store with a filter by annotation. */
    async function readsOf(conditions: Partial<AnnotationConditions>) {
      const filters = filtersOf(conditions);
      const { traces } = stores;
      const sessions = await traces.sessions(ALL, { ...EVER, filters, after: null }, 100);
      const [bucket] = await traces.series(ALL, { startMs: 0, endMs: START_MS * 2, bucketMs: START_MS * 2, filters });
      const [agent] = await traces.agents(ALL, { ...EVER, filters }, 10);
      return {
        traces: await traces.searchSummaries(ALL, searchOf(conditions), TRACE_COUNT),
        count: bucket?.traces ?? 0,
        sessions: sessions.map(({ sessionId }) => sessionId).toSorted(),
        sessionCount: await traces.countSessions(ALL, { ...EVER, filters, after: null }),
        agentTraces: agent?.traces ?? 0,
      };
    }
    /** The same results, computed from all traces and annotations. */
    function expectedReads(conditions: Partial<AnnotationConditions>): Awaited<ReturnType<typeof readsOf>> {
      const expected = expectedOf(conditions);
      const sessions = [...new Set(expected.map(({ sessionId }) => sessionId ?? ''))].toSorted();
      return {
        traces: expected,
        count: expected.length,
        sessions,
        sessionCount: sessions.length,
        agentTraces: expected.filter(({ agentNames }) => agentNames.includes('triage')).length,
      };
    }

    const named = CONDITIONS.map((conditions) => [JSON.stringify(conditions), conditions] as const);
    it.each(named)('finds and counts the traces that match %s, and no others', async (_name, conditions) => {
      expect(await readsOf(conditions)).toEqual(expectedReads(conditions));
    });

    it('combines a filter by annotation with other filters', async () => {
      const filters = { ...filtersOf({ name: 'quality' }), sessionId: 'chat-1' };
      const found = await stores.traces.searchSummaries(ALL, { ...searchOf({}), filters }, TRACE_COUNT);
      const expected = expectedOf({ name: 'quality' }).filter(({ sessionId }) => sessionId === 'chat-1');
      expect(expected.length).toBeGreaterThan(0);
      expect(found).toEqual(expected);
    });

    const READERS: readonly Visibility[] = [
      { kind: 'team', teamId: TEAM_KEY.teamId },
      { kind: 'key', keyHash: LONE_KEY.keyHash },
      // These see nothing: the hash of a key with a team, and an empty team id.
      { kind: 'key', keyHash: TEAM_KEY.keyHash },
      { kind: 'team', teamId: '' },
    ];
    async function expectVisible(): Promise<void> {
      for (const visibility of READERS) {
        const visible = refs(await stores.traces.listSummaries(visibility, { ...EVER, after: null }, TRACE_COUNT));
        const found = await stores.traces.searchSummaries(visibility, searchOf({ name: 'quality' }), TRACE_COUNT);
        expect(refs(found)).toEqual(refs(expectedOf({ name: 'quality' })).filter((ref) => visible.includes(ref)));
      }
      // An annotation of another owner's trace with the same id gives no access to that trace.
      const shared = expectedOf({ traceId: traceId(3) });
      const found = await stores.traces.searchSummaries(READERS[0]!, searchOf({ traceId: traceId(3) }), TRACE_COUNT);
      expect(refs(found)).toEqual(refs(shared.filter(({ owner }) => owner.teamId === TEAM_KEY.teamId)));
      expect(shared.length).toBeGreaterThan(found.length);
    }
    async function expectPages(): Promise<void> {
      for (const order of TRACE_ORDERS) {
        const search = { ...searchOf({ name: 'quality' }), order };
        const unpaged = await stores.traces.searchSummaries(ALL, search, TRACE_COUNT);
        const pages: TraceSummary[] = [];
        for (let after: TraceSearch['after'] = null; ;) {
          const page = await stores.traces.searchSummaries(ALL, { ...search, after }, 5);
          pages.push(...page);
          const last = page.at(-1);
          if (last === undefined || page.length < 5) break;
          after = { rank: traceRankOf(last, order), traceRef: last.traceRef };
        }
        expect(refs(pages)).toEqual(refs(unpaged));
        expect(new Set(refs(pages))).toEqual(new Set(refs(expectedOf({ name: 'quality' }))));
      }
    }
    const window = { startMs: START_MS + 2_000, endMs: START_MS + 4_000 };
    async function expectWindow(): Promise<void> {
      const found = await stores.traces.searchSummaries(
        ALL,
        { ...searchOf({ name: 'quality' }), ...window },
        TRACE_COUNT,
      );
      const expected = expectedOf({ name: 'quality' }).filter(
        (summary) => traceRankOf(summary, 'start') >= window.startMs && traceRankOf(summary, 'start') < window.endMs,
      );
      expect(expected.length).toBeGreaterThan(0);
      expect(refs(found)).toEqual(refs(expected));
    }

    it('finds only traces that the reader may see', expectVisible);
    it('pages in every order without repeated or missing traces', expectPages);
    it('finds only traces of the window', expectWindow);

    it('finds a trace whose start moved earlier after it was annotated', async () => {
      const late = aSpan({ traceId: traceId(500), spanId: spanId(2), startNs: nsAt(START_MS + 900_000) });
      const [before] = await stores.traces.ingest([{ owner: TEAM_KEY, spans: [late] }]);
      if (before === undefined) throw new Error('No trace was stored.');
      await stores.annotations.add(annotationOf(before, { name: 'moved' }));
      const early = aSpan({ traceId: traceId(500), startNs: nsAt(START_MS + 3_000) });
      await stores.traces.ingest([{ owner: TEAM_KEY, spans: [early] }]);
      const search = { ...searchOf({ name: 'moved' }), ...window };
      expect(refs(await stores.traces.searchSummaries(ALL, search, TRACE_COUNT))).toEqual([before.traceRef]);
      await stores.traces.remove([before]);
    });

    it('gives the same results when more than 2,000 annotations match', async () => {
      const [summary] = all;
      if (summary === undefined) throw new Error('No trace was stored.');
      const crowd = Array.from({ length: MANY_ANNOTATIONS }, (_, nth) =>
        annotationOf(summary, { createdBy: `robot-${nth}` }),
      );
      await annotate(...crowd);
      expect(await readsOf({ name: 'quality' })).toEqual(expectedReads({ name: 'quality' }));
      expect(await readsOf({})).toEqual(expectedReads({}));
      await expectVisible();
      await expectPages();
      await expectWindow();
    });

    it.runIf(engine.name === 'clickhouse')(
      'refuses a filter that matches more annotations than fit into a query',
      async () => {
        const [summary] = all;
        if (summary === undefined) throw new Error('No trace was stored.');
        const crowd = Array.from({ length: TOO_MANY_ANNOTATIONS }, (_, nth) =>
          annotationOf(summary, { createdBy: `more-${nth}` }),
        );
        for (let from = 0; from < crowd.length; from += 1_000)
          await stores.annotations.add(...crowd.slice(from, from + 1_000));
        const refused = stores.traces.searchSummaries(ALL, searchOf({ name: 'quality' }), TRACE_COUNT);
        await expect(refused).rejects.toThrow(
          new InvalidInput('More than 10000 annotations match: narrow the filter, or begin the window later.'),
        );
      },
    );
  });
}
