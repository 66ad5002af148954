import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type {
  GuardrailDay,
  GuardrailRun,
  GuardrailUseBatch,
  GuardrailUseStore,
} from '../../src/domain/guardrails/guardrail-use.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-11-23T10:00:00Z');
/** Time before which runs are deleted, unless a test names another. */
const LONG_AGO = new Date('2026-08-01T00:00:00Z');
const ALL = { from: '2026-01-01', to: '2027-01-01', guardrailId: null };
const PAGE = { ...ALL, result: null, limit: 10, offset: 0 };

const aDay = (more: Partial<GuardrailDay> = {}): GuardrailDay => ({
  day: '2026-11-23',
  guardrailId: 'g1',
  name: 'words',
  kind: 'litellm_content_filter',
  passed: 2,
  flagged: 1,
  intervened: 3,
  failed: 4,
  latencyMs: 1.5,
  ...more,
});
const aRun = (more: Partial<GuardrailRun> = {}): GuardrailRun => ({
  id: 'r1',
  guardrailId: 'g1',
  name: 'words',
  kind: 'litellm_content_filter',
  result: 'intervened',
  mode: 'pre_call',
  at: NOW,
  latencyMs: 0.25,
  model: 'smart',
  callId: 'c1',
  traceId: 't1',
  keyHash: 'k1',
  teamId: null,
  ...more,
});
const batch = (number: number, more: Partial<GuardrailUseBatch> = {}): GuardrailUseBatch => ({
  process: 'p1',
  number,
  days: [],
  runs: [],
  ...more,
});

/** Contract of every GuardrailUseStore. */
export function guardrailUseStoreSuite({ name, skipReason, create }: Engine): void {
  describe.skipIf(skipReason !== null)(`GuardrailUseStore on ${name}`, () => {
    let scratch: ScratchDatabase;
    let store: GuardrailUseStore;
    let secondStore: GuardrailUseStore;
    beforeAll(async () => {
      scratch = await create();
      store = (await scratch.open()).guardrailUse;
      secondStore = (await scratch.open()).guardrailUse;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('adds the counts of every batch and process, with the latest name', async () => {
      await store.add(batch(1, { days: [aDay(), aDay({ guardrailId: 'g2' })] }), NOW, LONG_AGO);
      await secondStore.add(batch(1, { process: 'p2', days: [aDay({ name: 'tone' })] }), NOW, LONG_AGO);
      await store.add(batch(2, { days: [aDay({ day: '2026-11-22' })] }), NOW, LONG_AGO);
      expect(await store.days(ALL)).toEqual([
        aDay({ day: '2026-11-22' }),
        aDay({ name: 'tone', passed: 4, flagged: 2, intervened: 6, failed: 8, latencyMs: 3 }),
        aDay({ guardrailId: 'g2' }),
      ]);
      expect(await store.days({ ...ALL, from: '2026-11-23', guardrailId: 'g2' })).toEqual([
        aDay({ guardrailId: 'g2' }),
      ]);
      expect(await store.days({ ...ALL, to: '2026-11-22' })).toEqual([aDay({ day: '2026-11-22' })]);
    });

    it('counts a repeated batch once', async () => {
      const repeated = batch(1, { days: [aDay()], runs: [aRun()] });
      for (let again = 0; again < 3; again += 1) await store.add(repeated, NOW, LONG_AGO);
      expect(await store.days(ALL)).toEqual([aDay()]);
      expect(await store.runs(PAGE)).toEqual({ runs: [aRun()], totalCount: 1 });
    });

    it('lists runs by page, the latest first', async () => {
      const later = aRun({ id: 'r2', at: new Date(NOW.getTime() + 1), result: 'failed', teamId: 't' });
      const foreign = aRun({ id: 'r3', guardrailId: 'g2', at: new Date('2026-11-24T00:00:00Z') });
      await store.add(batch(1, { days: [aDay()], runs: [aRun(), later, foreign] }), NOW, LONG_AGO);
      expect(await store.runs(PAGE)).toEqual({ runs: [foreign, later, aRun()], totalCount: 3 });
      expect(await store.runs({ ...PAGE, limit: 1, offset: 1 })).toEqual({ runs: [later], totalCount: 3 });
      expect(await store.runs({ ...PAGE, result: 'failed' })).toEqual({ runs: [later], totalCount: 1 });
      expect(await store.runs({ ...PAGE, guardrailId: 'g2' })).toEqual({ runs: [foreign], totalCount: 1 });
      const day = { from: '2026-11-23', to: '2026-11-23' };
      expect(await store.runs({ ...PAGE, ...day })).toEqual({ runs: [later, aRun()], totalCount: 2 });
      // A text that is not a date does not limit the period.
      expect(await store.runs({ ...PAGE, from: 'x', to: 'y' })).toMatchObject({ totalCount: 3 });
    });

    it('deletes old runs with every batch, and keeps the counts by day', async () => {
      const old = aRun({ id: 'old', at: new Date(LONG_AGO.getTime() - 1) });
      await store.add(batch(1, { days: [aDay()], runs: [aRun(), old] }), NOW, new Date(old.at));
      expect(await store.runs(PAGE)).toEqual({ runs: [aRun(), old], totalCount: 2 });
      await store.add(batch(2, { days: [aDay()] }), NOW, LONG_AGO);
      expect(await store.runs(PAGE)).toEqual({ runs: [aRun()], totalCount: 1 });
      await secondStore.add(batch(1, { process: 'p2', days: [aDay()] }), NOW, new Date(NOW.getTime() + 1));
      expect(await store.runs(PAGE)).toEqual({ runs: [], totalCount: 0 });
      expect(await store.days(ALL)).toMatchObject([{ passed: 6 }]);
    });
  });
}
