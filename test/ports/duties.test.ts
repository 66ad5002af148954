import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { claimDuty, endDuty, extendDuty } from '../../resolvers/duties.ts';
import type { DutyPlatform } from '../../resolvers/operation/health-platform.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { type Duty, dutyLeaseMs, KEPT_DUTY_JOBS, periodStart } from '../../src/domain/jobs/duty.ts';
import { claimOf, type Job } from '../../src/domain/jobs/job.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const DUTY: Duty = { name: 'upkeep', everyMs: 60_000 };
const LEASE_MS = dutyLeaseMs(DUTY);
const START_MS = Date.parse('2026-11-23T18:00:00.000Z');

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`duties on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let processes: readonly Stores[];
    let nowMs = START_MS;
    beforeAll(async () => {
      scratch = await engine.create();
      processes = [await scratch.open(), await scratch.open()];
    });
    afterEach(async () => {
      nowMs = START_MS;
      await scratch.clear();
    });
    afterAll(() => scratch.remove());

    const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
    function scopeOf(process: number): Scope<DutyPlatform> {
      const stores = processes[process];
      if (stores === undefined) throw new Error(`There is no process ${process}.`);
      const caller = new SystemCaller('test');
      return { platform: { stores, clock }, caller } as unknown as Scope<DutyPlatform>;
    }
    const claim = (process: number): Promise<Job | null> =>
      claimDuty(scopeOf(process), {
        duty: DUTY,
        workerId: `p${process}`,
        period: periodStart(DUTY, clock.now(), new Date(0)),
        leftBehind: false,
      });
    const complete = (process: number, job: Job): Promise<void> =>
      endDuty(scopeOf(process), { duty: DUTY, claim: claimOf(job), outcome: { kind: 'completed' } });
    const all = (): Promise<readonly Job[]> => scopeOf(0).platform.stores.jobs.list({ kind: null, status: null }, 200);

    it('duties run once in each period, whichever process is first', async () => {
      const ran: string[] = [];
      for (let period = 0; period < 3; period += 1) {
        for (const second of [0, 15, 59]) {
          nowMs = START_MS + (period * 60 + second) * 1_000;
          const order = period % 2 === 0 ? [0, 1] : [1, 0];
          const claims = await Promise.all(order.map(async (process) => ({ process, job: await claim(process) })));
          for (const { process, job } of claims)
            if (job !== null) {
              ran.push(job.subject);
              await complete(process, job);
            }
        }
      }
      expect(ran).toEqual(['2026-11-23T18:00:00.000Z', '2026-11-23T18:01:00.000Z', '2026-11-23T18:02:00.000Z']);
      expect((await all()).map(({ status, attempts }) => [status, attempts])).toEqual(
        Array.from({ length: 3 }, () => ['completed', 1]),
      );
    });

    it('duties of a new period are added and claimed without reading other jobs', async () => {
      const { stores } = scopeOf(0).platform;
      const refused = (): never => expect.fail('Nothing can be due or lost.');
      const jobs = { ...stores.jobs, hasDue: refused, exhausted: refused };
      const { caller } = scopeOf(0);
      const scope = { platform: { stores: { ...stores, jobs }, clock }, caller } as unknown as Scope<DutyPlatform>;
      const wanted = { duty: DUTY, workerId: 'p0', period: new Date(START_MS), leftBehind: false };
      expect(await claimDuty(scope, wanted)).toMatchObject({ subject: '2026-11-23T18:00:00.000Z', attempts: 1 });
    });

    it('duties of a killed process are taken over after their lease, and that process can no longer end them', async () => {
      const lost = await claim(0);
      if (lost === null) throw new Error('No job was claimed.');
      nowMs += LEASE_MS - 1;
      expect(await claim(1)).toBeNull();
      nowMs += 1;
      const takeover = await claim(1);
      expect(takeover).toMatchObject({ id: lost.id, attempts: 2, workerId: 'p1', status: 'running' });
      expect(await extendDuty(scopeOf(0), { duty: DUTY, claim: claimOf(lost) })).toBe(false);
      await complete(0, lost);
      expect(await all()).toMatchObject([{ status: 'running', attempts: 2 }]);
    });

    it('duties that run longer than a period are not run twice at a time', async () => {
      const long = await claim(0);
      if (long === null) throw new Error('No job was claimed.');
      for (let beat = 0; beat < 10; beat += 1) {
        nowMs += LEASE_MS / 3;
        expect(await extendDuty(scopeOf(0), { duty: DUTY, claim: claimOf(long) })).toBe(true);
        expect(await claim(1)).toBeNull();
      }
      await complete(0, long);
      expect(await claim(1)).toMatchObject({ subject: '2026-11-23T18:01:00.000Z' });
    });

    it('duties end when their processes are lost three times, and the next period runs', async () => {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        expect(await claim(attempt % 2)).toMatchObject({ attempts: attempt });
        nowMs += LEASE_MS;
      }
      expect(await claim(0)).toMatchObject({ attempts: 1, subject: '2026-11-23T18:01:00.000Z' });
      expect(await scopeOf(0).platform.stores.jobs.list({ kind: 'duty:upkeep', status: 'dead' }, 9)).toMatchObject([
        { attempts: 3, error: 'Its process was lost repeatedly.' },
      ]);
    });

    it('duties of a stopped process continue immediately, with one more attempt allowed', async () => {
      const stopped = await claim(0);
      if (stopped === null) throw new Error('No job was claimed.');
      await endDuty(scopeOf(0), { duty: DUTY, claim: claimOf(stopped), outcome: { kind: 'released' } });
      expect(await claim(1)).toMatchObject({ id: stopped.id, attempts: 2, mostAttempts: 4 });
    });

    it('duties of a killed process do not wait for their lease when only one process uses the database', async () => {
      await claim(0);
      nowMs += 1;
      expect(await claim(1)).toBeNull();
      // `leftBehind`: no other process uses the database, so the process of the running job has ended.
      // The claim cancels that job.
      // Without other processes, the first period begins with the process.
      const job = await claimDuty(scopeOf(1), { duty: DUTY, workerId: 'p1', period: clock.now(), leftBehind: true });
      expect(job).toMatchObject({ subject: '2026-11-23T18:00:00.001Z', attempts: 1 });
    });

    it('duties keep a bounded number of ended jobs', async () => {
      for (let period = 0; period < KEPT_DUTY_JOBS + 5; period += 1) {
        const job = await claim(0);
        if (job === null) throw new Error('No job was claimed.');
        await complete(0, job);
        nowMs += 60_000;
      }
      const remaining = await all();
      expect(remaining).toHaveLength(KEPT_DUTY_JOBS);
      // `KEPT_DUTY_JOBS` is 20: the latest period is the 25th. It is the first in the list.
      expect(remaining[0]?.subject).toBe('2026-11-23T18:24:00.000Z');
    });
  });
