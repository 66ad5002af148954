import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { rmSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';
import { lockWrites } from '../../support/write-lock.ts';

/** Time for which the store accepts no writes, in ms. */
const AWAY_MS = Number(process.env['LENSGATE_STORE_AWAY_MS'] ?? 2_000);

const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] };

interface ActivityAnswer {
  readonly total_successful_requests: number;
  readonly total_failed_requests: number;
}

let app: TestApp | null = null;
afterEach(async () => {
  await app?.stop();
  app = null;
});

const openApp = async (everySeconds: number, dataDir?: string): Promise<TestApp> =>
  startApp({
    config: { general_settings: { demo_model: true, proxy_batch_write_at: everySeconds } },
    env: { LENSGATE_DATABASE_LOCK_TIMEOUT_MS: '50' },
    ...(dataDir === undefined ? {} : { dataDir }),
  });

/** Sends calls while `until` is false, and counts successes and failures. */
async function sendCalls({ url, adminKey }: TestApp, counts: [number, number], until: () => boolean): Promise<void> {
  await Promise.all(
    [0, 1, 2].map(async (client) => {
      for (let call = 0; !until(); call += 1) {
        const isUnknownModel = call % 3 === client;
        const answer = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(isUnknownModel ? { ...CHAT, model: 'nope' } : CHAT),
        });
        await answer.arrayBuffer();
        counts[answer.ok ? 0 : 1] += 1;
      }
    }),
  );
}

async function totals(target: TestApp): Promise<readonly [number, number]> {
  const activity = (await (await target.call('GET', '/gateway/daily/activity')).json()) as ActivityAnswer;
  return [activity.total_successful_requests, activity.total_failed_requests];
}

it(
  'gateway activity has exact counts under load after the store has accepted no writes for some time',
  async () => {
    app = await openApp(0.1);
    let isDone = false;
    const counts: [number, number] = [0, 0];
    const loading = sendCalls(app, counts, () => isDone);
    /** Waits until the smaller of both counts has grown by `count`. */
    const waitForMoreCalls = async (count: number): Promise<void> => {
      const target = Math.min(...counts) + count;
      await vi.waitUntil(() => Math.min(...counts) >= target, POLLING);
    };
    await waitForMoreCalls(10);
    const release = await lockWrites(app);
    const totalsBefore = await totals(app);
    await wait(AWAY_MS);
    expect(await totals(app)).toEqual(totalsBefore);
    await release();
    await waitForMoreCalls(10);
    isDone = true;
    await loading;
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(20);
    const running = app;
    await vi.waitFor(async () => expect(await totals(running)).toEqual(counts), POLLING);
  },
  AWAY_MS + 180_000,
);

it('gateway activity is committed at shutdown', async () => {
  const stoppedApp = await openApp(3_600);
  for (const model of ['demo', 'demo', 'nope'])
    await (await stoppedApp.call('POST', '/v1/chat/completions', { ...CHAT, model })).arrayBuffer();
  expect(await totals(stoppedApp)).toEqual([0, 0]);
  await stoppedApp.stop({ keepData: true });
  app = await openApp(3_600, stoppedApp.dataDir);
  expect(await totals(app)).toEqual([2, 1]);
  await app.stop();
  app = null;
  rmSync(stoppedApp.dataDir, { recursive: true, force: true });
});

it('gateway activity counts a request whose client disconnects before the end of the body, and each pipelined request', async () => {
  app = await openApp(0.1);
  const { port } = new URL(app.url);
  const body = JSON.stringify(CHAT);
  const requestHead = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.adminKey}\r\nContent-Type: application/json\r\n`;
  const request = `${requestHead}Content-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(Number(port), '127.0.0.1');
  let answers = '';
  socket.on('data', (bytes: Buffer) => {
    answers += bytes.toString('latin1');
  });
  socket.write(request + request + request);
  // Three answers split the text into four parts.
  await vi.waitFor(() => expect(answers.split('HTTP/1.1 200')).toHaveLength(4), POLLING);
  socket.destroy();
  const disconnecting = connect(Number(port), '127.0.0.1');
  await once(disconnecting, 'connect');
  disconnecting.write(`${requestHead}Content-Length: ${body.length + 10}\r\n\r\n${body}`);
  await wait(100);
  disconnecting.destroy();
  const running = app;
  await vi.waitFor(async () => expect(await totals(running)).toEqual([3, 1]), POLLING);
});
