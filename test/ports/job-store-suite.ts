import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { claimOf, type Job, type JobStore, type NewJob } from '../../src/domain/jobs/job.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const START = new Date('2026-11-21T00:00:00.000Z');
const LEASE_MS = 1_000;
const after = (ms: number): Date => new Date(START.getTime() + ms);

const aJob = (id: string, overrides: Partial<NewJob> = {}): NewJob => ({
  id,
  kind: 'k',
  subject: 's',
  dueAt: START,
  mostAttempts: 2,
  ...overrides,
});

/** Contract of every JobStore. */
export function jobStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`JobStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let jobs: JobStore;
    beforeAll(async () => {
      scratch = await engine.create();
      ({ jobs } = await scratch.open());
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const claim = (now = START, workerId = 'w'): Promise<Job | null> =>
      jobs.claim({ kind: 'k', workerId, now, leaseMs: LEASE_MS });
    async function claimJob(now = START): Promise<Job> {
      const job = await claim(now);
      if (job === null) throw new Error('No job was claimed.');
      return job;
    }
    const storedJob = async (id: string): Promise<Job | undefined> => (await jobs.findMany([id]))[0];

    it('returns a job as it was added; a second one with its id is ignored', async () => {
      await jobs.add(aJob('a', { subject: "it's" }), START);
      await jobs.add(aJob('a', { subject: 'other' }), after(5));
      expect(await jobs.findMany(['a', 'b'])).toEqual([
        {
          ...aJob('a', { subject: "it's" }),
          status: 'queued',
          createdAt: START,
          attempts: 0,
          workerId: null,
          finishedAt: null,
          error: '',
        },
      ]);
    });

    it('replaces characters that a store cannot hold', async () => {
      const odd = aJob('a', { kind: 'k\0', subject: 's\u{D800}' });
      await jobs.add(odd, START);
      expect(await jobs.addIfIdle({ ...odd, id: 'b' }, START)).toBe(false);
      expect(await jobs.hasDue(odd.kind, START)).toBe(true);
      const job = await jobs.claim({ kind: odd.kind, workerId: 'w', now: START, leaseMs: LEASE_MS });
      expect(job).toMatchObject({ kind: 'k\u{FFFD}', subject: 's\u{FFFD}' });
      if (job === null) throw new Error('No job was claimed.');
      expect(await jobs.end(claimOf(job), { status: 'failed', error: 'no\0' }, START)).toBe(true);
      expect(await storedJob('a')).toMatchObject({ status: 'failed', error: 'no\u{FFFD}' });
    });

    it('addIfIdle adds a job once, and only while no other job of its kind is active', async () => {
      const secondStore = (await scratch.open()).jobs;
      await jobs.add(aJob('foreign', { kind: 'other' }), START);
      const offered = await Promise.all(
        [jobs, secondStore, jobs, secondStore].map((store) => store.addIfIdle(aJob('p1'), START)),
      );
      expect(offered.filter(Boolean)).toHaveLength(1);
      expect(await jobs.findMany(['p1'])).toMatchObject([
        { ...aJob('p1'), status: 'queued', createdAt: START, attempts: 0, workerId: null, finishedAt: null, error: '' },
      ]);
      expect(await secondStore.addIfIdle(aJob('p2'), START)).toBe(false);
      const heldClaim = claimOf(await claimJob());
      expect(await secondStore.addIfIdle(aJob('p2'), START)).toBe(false);
      await jobs.end(heldClaim, { status: 'completed', error: '' }, after(1));
      expect(await secondStore.addIfIdle(aJob('p1'), after(2))).toBe(false);
      expect(await secondStore.addIfIdle(aJob('p2'), after(2))).toBe(true);
    });

    it('claims one of 1,000 due jobs in less than 20 ms', async () => {
      for (let from = 0; from < 1_000; from += 50)
        await Promise.all(Array.from({ length: 50 }, (_, index) => jobs.add(aJob(`j${from + index}`), START)));
      const times: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const began = performance.now();
        expect(await claim()).not.toBeNull();
        times.push(performance.now() - began);
      }
      // The minimum, because other processes may slow down some claims.
      expect(Math.min(...times)).toBeLessThan(20);
    });

    it('keeps the latest ended jobs of a kind, and all active ones', async () => {
      for (const [ms, id] of ['a', 'b', 'c', 'd'].entries()) {
        await jobs.add(aJob(id), START);
        if (id !== 'd') await jobs.cancel(id, after(ms));
      }
      await jobs.add(aJob('foreign', { kind: 'other' }), START);
      await jobs.cancel('foreign', START);
      await jobs.keepLatest('k', 5);
      expect(await jobs.list({ kind: null, status: null }, 9)).toHaveLength(5);
      await jobs.keepLatest('k', 2);
      const remaining = await jobs.list({ kind: null, status: null }, 9);
      expect(remaining.map(({ id }) => id).toSorted()).toEqual(['b', 'c', 'd', 'foreign']);
    });

    it('claims the job that is due first, and none of another kind or before its time', async () => {
      await jobs.add(aJob('late', { dueAt: after(10) }), START);
      await jobs.add(aJob('early'), START);
      await jobs.add(aJob('foreign', { kind: 'other', dueAt: after(-10) }), START);
      expect(await jobs.hasDue('k', after(-1))).toBe(false);
      expect(await claim(after(-1))).toBeNull();
      expect(await jobs.hasDue('k', START)).toBe(true);
      expect(await claim()).toMatchObject({
        id: 'early',
        status: 'running',
        attempts: 1,
        workerId: 'w',
        dueAt: after(LEASE_MS),
      });
      expect(await claim(after(9))).toBeNull();
      expect((await claim(after(10)))?.id).toBe('late');
    });

    it('gives each job to one of many workers', async () => {
      const secondStore = (await scratch.open()).jobs;
      const ids = Array.from({ length: 20 }, (_, index) => `j${index}`);
      for (const id of ids) await jobs.add(aJob(id), START);
      const claimed = await Promise.all(
        ids.map((id, index) =>
          (index % 2 === 0 ? jobs : secondStore).claim({ kind: 'k', workerId: id, now: START, leaseMs: LEASE_MS }),
        ),
      );
      const claimedIds = claimed.flatMap((job) => job?.id ?? []);
      expect(new Set(claimedIds).size).toBe(claimedIds.length);
      // PostgreSQL skips locked rows, so that a worker may have to claim again.
      expect(claimedIds.length).toBeGreaterThan(0);
      while (await claim()) claimedIds.push('claimed later');
      expect(claimedIds).toHaveLength(ids.length);
    });

    it('a job whose lease has ended can be claimed again, which fences the former worker', async () => {
      await jobs.add(aJob('a'), START);
      const first = claimOf(await claimJob());
      expect((await jobs.extend(first, after(500), LEASE_MS))?.dueAt).toEqual(after(1_500));
      expect(await claim(after(1_499))).toBeNull();
      expect(await jobs.extend(first, after(1_500), LEASE_MS)).toBeNull();
      const second = claimOf(await claimJob(after(1_500)));
      expect(second.attempt).toBe(2);
      expect(await jobs.end(first, { status: 'completed', error: '' }, after(1_600))).toBe(false);
      expect(await jobs.retry(first, { dueAt: START, error: '', counts: true }, after(1_600))).toBeNull();
      expect(await jobs.end(second, { status: 'completed', error: '' }, after(1_600))).toBe(true);
      expect(await storedJob('a')).toMatchObject({ status: 'completed', finishedAt: after(1_600) });
      expect(await claim(after(10_000))).toBeNull();
    });

    it('a job that failed too often, or whose worker was lost too often, is dead', async () => {
      await jobs.add(aJob('a'), START);
      const delayed = { dueAt: after(50), error: 'no', counts: true };
      expect(await jobs.retry(claimOf(await claimJob()), delayed, START)).toMatchObject({
        status: 'queued',
        dueAt: after(50),
        error: 'no',
        finishedAt: null,
      });
      expect(await claim(after(49))).toBeNull();
      expect(await jobs.retry(claimOf(await claimJob(after(50))), delayed, after(51))).toMatchObject({
        status: 'dead',
        finishedAt: after(51),
      });
      await jobs.add(aJob('b', { mostAttempts: 1 }), START);
      const lost = await claimJob();
      expect(await jobs.exhausted('k', after(999), 5)).toEqual([]);
      expect(await jobs.hasDue('k', after(999))).toBe(false);
      expect(await jobs.hasDue('k', after(1_000))).toBe(true);
      expect(await claim(after(1_000))).toBeNull();
      expect(await jobs.exhausted('k', after(1_000), 5)).toEqual([lost]);
      expect(await jobs.markDead(claimOf(lost), 'lost', after(999))).toBe(false);
      expect(await jobs.markDead(claimOf(lost), 'lost', after(1_000))).toBe(true);
      expect(await storedJob('b')).toMatchObject({ status: 'dead', error: 'lost', finishedAt: after(1_000) });
    });

    it('an attempt that does not count is allowed again', async () => {
      await jobs.add(aJob('a', { mostAttempts: 1 }), START);
      const back = await jobs.retry(claimOf(await claimJob()), { dueAt: START, error: '', counts: false }, START);
      expect(back).toMatchObject({ status: 'queued', attempts: 1, mostAttempts: 2 });
      expect((await claimJob()).attempts).toBe(2);
    });

    it('cancels a job that has not ended', async () => {
      await jobs.add(aJob('a'), START);
      const heldClaim = claimOf(await claimJob());
      expect(await jobs.cancel('a', after(1))).toMatchObject({ status: 'cancelled', finishedAt: after(1) });
      expect(await jobs.extend(heldClaim, after(2), LEASE_MS)).toBeNull();
      expect(await jobs.cancel('a', after(2))).toBeNull();
      expect(await jobs.cancel('none', after(2))).toBeNull();
    });

    it('lists the newest jobs and deletes those that ended long ago', async () => {
      for (const [ms, id] of ['a', 'b', 'c'].entries()) await jobs.add(aJob(id), after(ms));
      await jobs.cancel('a', after(5));
      await jobs.cancel('b', after(7));
      const ids = async (...query: Parameters<JobStore['list']>) => (await jobs.list(...query)).map(({ id }) => id);
      expect(await ids({ kind: 'k', status: null }, 2)).toEqual(['c', 'b']);
      expect(await ids({ kind: null, status: 'cancelled' }, 9)).toEqual(['b', 'a']);
      expect(await jobs.removeEndedBefore(after(7), 9)).toBe(1);
      expect(await ids({ kind: null, status: null }, 9)).toEqual(['c', 'b']);
    });
  });
}
