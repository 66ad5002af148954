import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HealthCheck, HealthCheckFilter, HealthCheckStore } from '../../src/domain/deployments/health-check.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const ALL: HealthCheckFilter = { deploymentIds: null, modelGroup: null, isHealthy: null, before: null };

const aCheck = (id: string, secondsAgo: number, overrides: Partial<HealthCheck> = {}): HealthCheck => {
  const at = new Date(NOW.getTime() - secondsAgo * 1_000);
  return {
    id,
    deploymentId: 'd1',
    modelGroup: 'smart',
    latencyMs: 1.5,
    failure: null,
    createdAt: at,
    createdBy: 'admin',
    updatedAt: at,
    updatedBy: 'admin',
    ...overrides,
  };
};
const FAILURE = { code: 'UNAVAILABLE', message: 'nul \u0000, lone \ud800' };

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`HealthCheckStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: HealthCheckStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).healthChecks;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const ids = async (filter: Partial<HealthCheckFilter>): Promise<readonly string[]> =>
      (
        await store.list({ filter: { ...ALL, ...filter }, sort: 'created_at', descending: true, limit: 9, from: 0 })
      ).map(({ id }) => id);

    it('returns a check as it was added, and refuses its id a second time', async () => {
      const failed = aCheck('c1', 0, { failure: FAILURE });
      await store.add(failed, aCheck('c2', 1));
      expect(await store.find('c1')).toEqual(failed);
      expect(await store.find('c2')).toEqual(aCheck('c2', 1));
      await expect(store.add(failed)).rejects.toThrow(Conflict);
    });

    it('lists checks by deployment, model, result and age, the newest first', async () => {
      await store.add(
        aCheck('c1', 3),
        aCheck('c2', 2, { deploymentId: 'd2', failure: FAILURE }),
        aCheck('c3', 1, { deploymentId: 'd3', modelGroup: 'other' }),
      );
      expect(await ids({})).toEqual(['c3', 'c2', 'c1']);
      expect(await ids({ deploymentIds: ['d1', 'd3'] })).toEqual(['c3', 'c1']);
      expect(await ids({ deploymentIds: [] })).toEqual([]);
      expect(await ids({ modelGroup: 'smart' })).toEqual(['c2', 'c1']);
      expect(await ids({ isHealthy: true })).toEqual(['c3', 'c1']);
      expect(await ids({ isHealthy: false })).toEqual(['c2']);
      expect(await ids({ before: new Date(NOW.getTime() - 2_000) })).toEqual(['c1']);
      expect(await store.count({ ...ALL, isHealthy: true })).toBe(2);
    });

    it('finds the latest check of each deployment that has one', async () => {
      await store.add(aCheck('c1', 2), aCheck('c2', 1), aCheck('c3', 5, { deploymentId: 'd2' }));
      const latest = await store.latest(['d2', 'd1', 'none']);
      expect(latest.map(({ id }) => id)).toEqual(['c3', 'c2']);
    });
  });
