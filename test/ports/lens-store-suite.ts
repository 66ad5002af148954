import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/lens/finding.ts';
import type { LensState } from '../../src/domain/lens/lens.ts';
import type { Review } from '../../src/domain/lens/review.ts';
import { withClaimedRun, withEndedRun, newLens, PLAIN_RUN, withQueuedRun } from '../../src/domain/lens/schedule.ts';
import type { LensSettings } from '../../src/domain/lens/settings.ts';
import type { LensStore } from '../../src/domain/lens/store.ts';
import type { Usd } from '../../src/domain/money.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-11-21T00:00:00.000Z');
const after = (ms: number): Date => new Date(NOW.getTime() + ms);
const picos = (amount: bigint): Usd => amount as Usd;

const SETTINGS: LensSettings = {
  source: 'traces',
  service: '',
  agentName: "it's \u{1F600}",
  filters: [{ key: 'k', value: 'v' }],
  sampleSize: null,
  samplePercent: 12.5,
  teamId: '',
  executionIds: [],
  name: 'a name',
  context: 'be kind',
  lookbackHours: 24,
  checks: [{ id: 'c', instruction: 'rule', enabled: true }],
  model: 'm',
  enabled: true,
  intervalMinutes: 15,
  concurrency: 4,
  monthlyBudget: 0.5,
};

const aLens = (id: string, settings: Partial<LensSettings> = {}): LensState =>
  newLens({ ...SETTINGS, ...settings }, { id, runId: `run-${id}`, now: NOW });

const aFinding = (id: string, overrides: Partial<Finding> = {}): Finding => ({
  id,
  title: `title ${id}`,
  description: 'd',
  checkId: 'c',
  checkIds: ['c'],
  kind: 'issue',
  priority: 'high',
  suggestion: '',
  limitation: '',
  brief: null,
  evidence: [{ executionId: 'e', spanId: '01', quote: 'q', role: 'support' }],
  existingFindingId: null,
  mergedFindingIds: [],
  status: 'open',
  reason: '',
  firstSeen: NOW.toISOString(),
  lastSeen: NOW.toISOString(),
  occurrences: ['e'],
  revision: 1,
  investigationRuns: ['run-a'],
  ...overrides,
});

const SAMPLE = {
  executions: [
    {
      id: 'e',
      source: 'traces',
      traceId: 't',
      traceRef: 'r',
      teamId: '',
      name: 'n',
      startTime: NOW.toISOString(),
      spanCount: 2,
      rootSeen: true,
      service: 's',
      agent: 'a',
      contentVersion: '2-1',
      metadata: [{ key: 'feedback', value: '3/10' }],
    },
  ],
  eligible: 9,
  selected: 1,
  nextOffset: null,
  nextCursor: null,
} as const;

const aReview = (executionId: string, contentVersion: string): Review => ({
  executionId,
  traceId: 't',
  agent: 'a',
  name: 'n',
  spans: [{ spanId: '01', name: 'n', kind: 'llm', preview: 'p', cited: true }],
  reasoning: 'r',
  verdicts: [],
  cannotAssess: false,
  model: 'm',
  durationMs: 5,
  at: NOW.toISOString(),
  toolCalls: [{ name: 'f', calls: 2 }],
  extraction: { observations: [], cannotAssess: false, reasoning: 'r' },
  contentVersion,
  reused: false,
  consolidated: false,
  partial: false,
});

const running = (state: LensState): LensState =>
  withClaimedRun(state, { attempts: 1, workerId: 'w', leaseUntil: after(9) }, after(1));
const completed = (state: LensState): LensState => withEndedRun(running(state), { status: 'completed' }, after(2));

/** Contract of every LensStore. */
export function lensStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`LensStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let lenses: LensStore;
    beforeAll(async () => {
      scratch = await engine.create();
      ({ lenses } = await scratch.open());
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns lenses as they were added, in the order of their ids', async () => {
      const [second, first] = [aLens('b'), { ...aLens('a'), findings: [aFinding('f2'), aFinding('f1')] }];
      await lenses.add(second);
      await lenses.add(first);
      expect(await lenses.find('a')).toEqual(first);
      expect(await lenses.find('none')).toBeNull();
      expect(await lenses.all()).toEqual([first, second]);
    });

    it('changes a lens, its run and its findings together, and keeps former runs', async () => {
      await lenses.add(aLens('a'));
      const first = await lenses.change('a', (state) => ({ ...completed(state), findings: [aFinding('f1')] }));
      const next = await lenses.change('a', (state) => ({
        ...withQueuedRun(state, PLAIN_RUN, { id: 'run-2', now: after(5), trigger: 'manual' }),
        findings: [aFinding('f2'), ...state.findings.map((finding): Finding => ({ ...finding, status: 'resolved' }))],
      }));
      expect(next?.findings.map(({ id, status }) => [id, status])).toEqual([
        ['f2', 'open'],
        ['f1', 'resolved'],
      ]);
      expect(await lenses.find('a')).toEqual(next);
      expect(await lenses.runs('a', 0, 9)).toEqual([next?.run, first?.run]);
      expect(await lenses.runs('a', 1, 9)).toEqual([first?.run]);
      const [latest, earlier] = await lenses.runs('a', 0, 9);
      if (latest === undefined || earlier === undefined) throw new Error('A run is missing.');
      expect(await lenses.runs('a', latest, 9)).toEqual([earlier]);
      // The id decides only between runs of the same time.
      expect(await lenses.runs('a', { ...latest, id: '' }, 9)).toEqual([earlier]);
      expect(await lenses.runs('a', earlier, 9)).toEqual([]);
      expect([await lenses.countRuns('a'), await lenses.countRuns('none')]).toEqual([2, 0]);
      expect(await lenses.findRun('a', 'run-a')).toEqual(first?.run);
      expect(await lenses.findRun('b', 'run-a')).toBeNull();
      expect(await lenses.runIdsAmong(['run-2', 'none'])).toEqual(new Set(['run-2']));
      await lenses.change('a', (state) => ({ ...state, findings: state.findings.slice(1) }));
      expect((await lenses.find('a'))?.findings.map(({ id }) => id)).toEqual(['f1']);
      expect(await lenses.change('none', (state) => state)).toBeNull();
    });

    it('stores nothing of a change that throws', async () => {
      const state = aLens('a');
      await lenses.add(state);
      const fails = (): never => {
        throw new Error('no');
      };
      await expect(lenses.change('a', fails)).rejects.toThrow('no');
      await expect(lenses.changeLens('a', fails)).rejects.toThrow('no');
      await expect(lenses.changeRun('a', 'run-a', fails)).rejects.toThrow('no');
      expect(await lenses.find('a')).toEqual(state);
    });

    it('serializes the changes of one lens, also those of another process', async () => {
      await lenses.add(aLens('a'));
      const secondStore = (await scratch.open()).lenses;
      const change = (index: number) => {
        const store = index % 2 === 0 ? lenses : secondStore;
        if (index % 3 === 0)
          return store.change('a', (state) => ({ ...state, lens: { ...state.lens, version: state.lens.version + 1 } }));
        if (index % 3 === 1) return store.changeLens('a', (lens) => ({ ...lens, version: lens.version + 1 }));
        return store.changeRun('a', 'run-a', (run) => ({ ...run, reviewed: run.reviewed + 1 }));
      };
      await Promise.all(Array.from({ length: 30 }, (_, index) => change(index)));
      const state = await lenses.find('a');
      // Two of three changes raise the version of the lens, the third raises the count of reviews.
      expect([state?.lens.version, state?.run.reviewed]).toEqual([20, 10]);
    });

    it('changes a run without its sample of executions, which is kept', async () => {
      await lenses.add(aLens('a'));
      const before = await lenses.change('a', (state) => ({
        ...state,
        run: { ...running(state).run, sample: SAMPLE },
      }));
      const withoutSample = await lenses.changeRun('a', 'run-a', (run) => {
        expect('sample' in run).toBe(false);
        return { ...run, stage: 'Reading executions', reviewed: 3 };
      });
      const changed = { ...before?.run, stage: 'Reading executions', reviewed: 3 };
      expect({ ...withoutSample, sample: SAMPLE }).toEqual(changed);
      expect(await lenses.find('a')).toEqual({ ...before, run: changed });
      expect(await lenses.changeRun('a', 'none', (run) => run)).toBeNull();
      expect(await lenses.changeRun('none', 'run-a', (run) => run)).toBeNull();
    });

    it('records a call: changes the lens, adds the cost to the run, and stores the answer once', async () => {
      await lenses.add(aLens('a'));
      await lenses.change('a', (state) => ({ ...state, run: { ...running(state).run, sample: SAMPLE } }));
      const reservation = {
        id: 'r',
        jobId: 'run-a',
        amount: picos(7n),
        month: '2026-11',
        expiresAt: after(9).toISOString(),
      };
      const reserved = await lenses.changeLens('a', (lens) => ({ ...lens, reservations: [reservation] }));
      expect((await lenses.find('a'))?.lens).toEqual(reserved);
      const answer = { id: 'x', runId: 'run-a', content: 'said \u{1F600}', finishReason: 'stop' };
      const spent = picos(2n ** 64n);
      const call = { runId: 'run-a', cost: picos(5n), answer };
      await lenses.recordCall('a', (lens) => ({ ...lens, reservations: [], spent }), call);
      await lenses.recordCall('a', (lens) => lens, { ...call, answer: { ...answer, content: 'other' } });
      const state = await lenses.find('a');
      // Two calls of 5 picodollars.
      expect([state?.lens.reservations, state?.lens.spent, state?.run.cost]).toEqual([[], spent, 10n]);
      expect(state?.run.sample).toEqual(SAMPLE);
      expect(await lenses.findAnswer('x')).toEqual(answer);
      expect(await lenses.findAnswer('y')).toBeNull();
    });

    it('lists due lenses: enabled ones without an active run, in order of their due time', async () => {
      for (const id of ['a', 'b', 'active']) await lenses.add(aLens(id));
      await lenses.add(aLens('paused', { enabled: false }));
      for (const id of ['a', 'b', 'paused']) await lenses.change(id, completed);
      await lenses.change('b', (state) => ({
        ...state,
        lens: { ...state.lens, nextRunAt: after(3).toISOString() },
      }));
      // The run of `a` ended 2 ms after NOW, and the interval is 15 minutes.
      const dueMs = 15 * 60_000 + 2;
      expect(await lenses.due(after(dueMs - 1), 9)).toEqual(['b']);
      expect(await lenses.due(after(dueMs), 9)).toEqual(['b', 'a']);
      expect(await lenses.due(after(dueMs), 1)).toEqual(['b']);
    });

    it('pages the matching findings of all lenses', async () => {
      // `f2` and `f3` have the same time, so that their ids decide.
      const lastSeenAt = (ms: number) => ({ lastSeen: after(ms).toISOString() });
      const [old, low] = [
        aFinding('f1', lastSeenAt(1)),
        aFinding('f2', { ...lastSeenAt(2), priority: 'low', kind: 'pattern' }),
      ];
      const [closed, last] = [aFinding('f3', { ...lastSeenAt(2), status: 'dismissed' }), aFinding('f4', lastSeenAt(4))];
      await lenses.add({ ...aLens('a'), findings: [old, low] });
      await lenses.add({ ...aLens('b'), findings: [closed, last] });
      const all = { lensId: null, status: null, kind: null, priority: null };
      const ids = async (filter: object, limit = 9, from: Finding | null = null, descending = true) =>
        (await lenses.findings({ filter: { ...all, ...filter }, descending, limit, after: from })).map(
          ({ finding }) => finding.id,
        );
      expect(await lenses.findings({ filter: all, descending: true, limit: 1, after: null })).toEqual([
        { lensId: 'b', finding: last },
      ]);
      expect(await ids({})).toEqual(['f4', 'f3', 'f2', 'f1']);
      expect(await ids({}, 2, closed)).toEqual(['f2', 'f1']);
      expect(await ids({}, 9, null, false)).toEqual(['f1', 'f2', 'f3', 'f4']);
      expect(await ids({}, 9, low, false)).toEqual(['f3', 'f4']);
      expect(await ids({ lensId: 'a' })).toEqual(['f2', 'f1']);
      expect(await ids({ status: 'open', kind: 'issue', priority: 'high' })).toEqual(['f4', 'f1']);
      expect(await lenses.countFindings(all)).toBe(4);
      expect(await lenses.countFindings({ ...all, lensId: 'a', kind: 'pattern' })).toBe(1);
      expect(await lenses.findFinding('f3')).toEqual({ lensId: 'b', finding: closed });
      expect(await lenses.findFinding('none')).toBeNull();
    });

    it('keeps the latest review of an execution by the same criteria', async () => {
      const keepReview = (criteriaKey: string, review: Review) =>
        lenses.keepReviews([{ lensId: 'a', criteriaKey, review }]);
      await keepReview('k', aReview('e1', '1'));
      await keepReview('k', aReview('e1', '2'));
      await keepReview('other', aReview('e2', '1'));
      await lenses.keepReviews([]);
      expect(await lenses.reviews('a', 'k', ['e1', 'e2'])).toEqual([aReview('e1', '2')]);
      expect(await lenses.reviews('b', 'k', ['e1'])).toEqual([]);
      // More executions than one statement reads.
      const ids = Array.from({ length: 1_200 }, (_, index) => `many-${index}`);
      await lenses.keepReviews(ids.map((id) => ({ lensId: 'a', criteriaKey: 'k', review: aReview(id, '1') })));
      expect(await lenses.reviews('a', 'k', ids)).toHaveLength(1_200);
    });

    it('deletes old reviews and answers, up to a number of each at a time', async () => {
      await lenses.add(aLens('a'));
      const reviews = ['e1', 'e2'].map((id) => ({ lensId: 'a', criteriaKey: 'k', review: aReview(id, '1') }));
      await lenses.keepReviews(reviews);
      const answer = { id: 'x', runId: 'run-a', content: '', finishReason: 'stop' };
      await lenses.recordCall('a', (lens) => lens, { runId: 'run-a', cost: picos(0n), answer });
      // Stored reviews and answers have the time of the real clock, not NOW.
      expect(await lenses.removeBefore(NOW, 9)).toBe(0);
      const later = new Date(Date.now() + 60_000);
      // One of the reviews, and the answer.
      expect(await lenses.removeBefore(later, 1)).toBe(2);
      expect(await lenses.removeBefore(later, 9)).toBe(1);
      expect(await lenses.findAnswer('x')).toBeNull();
      expect(await lenses.reviews('a', 'k', ['e1', 'e2'])).toEqual([]);
    });
  });
}
