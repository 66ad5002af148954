import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../../ports/engines.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';

const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] };
const engine = ENGINES.find(({ name }) => name === 'postgresql');

interface ActivityAnswer {
  readonly total_successful_requests: number;
  readonly total_failed_requests: number;
}

describe.skipIf(engine === undefined || engine.skipReason !== null)('counts of two processes on one database', () => {
  let scratch: ScratchDatabase;
  let apps: readonly TestApp[] = [];

  beforeAll(async () => {
    if (engine === undefined) throw new Error('There is no PostgreSQL among the engines.');
    scratch = await engine.create();
    const config = { general_settings: { demo_model: true, proxy_batch_write_at: 0.1 } };
    const openApp = (): Promise<TestApp> =>
      startApp({
        config,
        env: { DATABASE_URL: scratch.options.databaseUrl ?? '', LENSGATE_DATABASE_LOCK_TIMEOUT_MS: '100' },
      });
    apps = [await openApp(), await openApp()];
  });
  afterAll(async () => {
    for (const app of apps) await app.stop();
    await scratch.remove();
  });

  async function totals(app: TestApp): Promise<readonly [number, number]> {
    const activityOfDay = (await (await app.call('GET', '/gateway/daily/activity')).json()) as ActivityAnswer;
    return [activityOfDay.total_successful_requests, activityOfDay.total_failed_requests];
  }

  it('have an exact sum after the table was locked', async () => {
    const expectedCounts: [number, number] = [0, 0];
    let isDone = false;
    const loading = apps.map(async (app) => {
      for (let call = 0; !isDone; call += 1) {
        const answer = await app.call(
          'POST',
          '/v1/chat/completions',
          call % 4 === 0 ? { ...CHAT, model: 'nope' } : CHAT,
        );
        await answer.arrayBuffer();
        expectedCounts[answer.ok ? 0 : 1] += 1;
      }
    });
    await wait(500);
    const entityManager = (await scratch.openBare()).orm.em.fork();
    await entityManager.begin();
    await entityManager.execute('lock table gateway_activity in exclusive mode');
    await wait(1_000);
    await entityManager.rollback();
    await vi.waitUntil(() => Math.min(...expectedCounts) > 10, POLLING);
    isDone = true;
    await Promise.all(loading);
    for (const app of apps) await vi.waitFor(async () => expect(await totals(app)).toEqual(expectedCounts), POLLING);
  });
});
