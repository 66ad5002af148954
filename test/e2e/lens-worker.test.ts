import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { judgeAnswer } from '../../bench/lens/judge.ts';
import { type JudgeServer, judgeModel, startJudge } from '../../bench/lens/judge-server.ts';
import { exportOf, syntheticRuns } from '../../bench/lens/runs.ts';
import { startHoldingProxy } from '../support/holding-proxy.ts';
import { aLens, type WireLens } from '../support/lens-client.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Number of synthetic agent runs that are sent as traces. Eight of them fail, each in another way. */
const AGENT_RUNS = 24;
/** Seed of the synthetic agent runs. */
const SEED = 71;

const dataDir = mkdtempSync(join(tmpdir(), 'lensgate-worker-'));
const config = join(dataDir, 'config.yaml');
let judge: JudgeServer;
let server: ServerProcess;
let token = '';
const workers: ChildProcess[] = [];
/** Maximum total of calls that the judge answers. Later calls wait without an answer. */
let answerLimit = Infinity;

/** Starts the server on the same data folder. It has no worker slots, so only separate workers complete runs. */
const startServer = (port = '0'): Promise<ServerProcess> =>
  spawnServer(dataDir, {
    args: ['--config', config, '--port', port],
    env: { LENSGATE_LENS_WORKER_SLOTS: '0' },
  });

async function send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8').trim();
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/** `npm run lens-worker`, as a process. `url` is the address of the server. */
function startWorker(url = server.url): ChildProcess {
  const script = join(ROOT, 'scripts', 'lens-worker.ts');
  const child = spawn(process.execPath, [script, '--url', url, '--token', token, '--poll-seconds', '0.1'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: 'ignore',
  });
  workers.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

const lensAt = (id: string): Promise<WireLens> => send<WireLens>('GET', `/lens/${id}`);

/** Resolves when the judge answered six screenings of the run and holds the calls of the next ones. */
async function waitForSixScreenings(id: string): Promise<void> {
  await expect.poll(async () => (await lensAt(id)).jobs[0].coverage['screened'], { interval: 20 }).toBe(6);
}

async function ended(id: string): Promise<WireLens> {
  await expect.poll(async () => (await lensAt(id)).jobs[0].status, { interval: 100 }).toMatch(/completed|failed/);
  return lensAt(id);
}

/**
 * Expires the lease of the first attempt repeatedly, until another worker has claimed the run. A late request of the
 * killed worker may renew the lease.
 */
async function claimedAfterExpiry(id: string): Promise<void> {
  const database = new DatabaseSync(join(dataDir, 'lensgate.db'), { timeout: 30_000 });
  try {
    await expect
      .poll(
        async () => {
          database.exec("update job set due_at = 1 where status = 'running' and attempts = 1 and kind = 'lens-run'");
          return (await lensAt(id)).jobs[0].attempts;
        },
        { interval: 100 },
      )
      .toBe(2);
  } finally {
    database.close();
  }
}

beforeAll(async () => {
  judge = await startJudge({
    answer: (messages, nth) => (nth <= answerLimit ? judgeAnswer(messages) : null),
  });
  writeFileSync(config, stringify({ model_list: [judgeModel(judge.base)] }));
  server = await startServer();
  await send('POST', '/v1/traces', exportOf(syntheticRuns(AGENT_RUNS, SEED), Date.now() - 3_600_000));
  const { token: payer } = await send<{ readonly token: string }>('POST', '/key/generate', {});
  const made = await send<{ readonly token: string }>('POST', '/lens/workers/register', { analysis_key_id: payer });
  ({ token } = made);
});

afterEach(async () => {
  for (const worker of workers.splice(0)) await kill(worker);
});

afterAll(async () => {
  await server.end('SIGKILL');
  await judge.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a lens worker in a separate process', () => {
  it('completes runs, also after a kill and a restart of the server, repeating only lost calls', async () => {
    // The proxy holds requests until the server has restarted. Without it, a restart that takes longer than the retries
    // of the worker loses reviews, or leaves the run to the end of its lease.
    const proxy = await startHoldingProxy(server.url);
    onTestFinished(() => proxy.close());
    startWorker(proxy.url);
    const first = await send<WireLens>('POST', '/lens', aLens());
    const done = await ended(first.id);
    expect(done.jobs[0]).toMatchObject({ status: 'completed', error: '', coverage: { screened: AGENT_RUNS } });
    expect(done.findings).toHaveLength(8);
    const firstCalls = judge.calls();
    answerLimit = firstCalls + 6;
    const second = await send<WireLens>('POST', '/lens', aLens({ name: 'second', concurrency: 2 }));
    await waitForSixScreenings(second.id);
    const port = new URL(server.url).port;
    const release = proxy.hold('/lens/worker/');
    await server.end('SIGKILL');
    answerLimit = Infinity;
    server = await startServer(port);
    release();
    const survived = await ended(second.id);
    expect(survived.jobs[0]).toMatchObject({ status: 'completed', coverage: { screened: AGENT_RUNS } });
    expect(survived.findings).toHaveLength(8);
    // The second lens needs as many calls as the first, and at most four calls are repeated. The answers of two may be
    // lost with the server, and two calls waited for an answer.
    const secondCalls = judge.calls() - firstCalls;
    expect(secondCalls).toBeGreaterThanOrEqual(firstCalls);
    expect(secondCalls).toBeLessThanOrEqual(firstCalls + 4);
  });

  it('continues the run of a killed worker when its lease has ended, repeating only lost calls', async () => {
    const lost = startWorker();
    const before = judge.calls();
    answerLimit = before + 6;
    const lens = await send<WireLens>('POST', '/lens', aLens({ name: 'third', concurrency: 2 }));
    await waitForSixScreenings(lens.id);
    await kill(lost);
    answerLimit = Infinity;
    startWorker();
    await claimedAfterExpiry(lens.id);
    const done = await ended(lens.id);
    expect(done.jobs[0]).toMatchObject({ status: 'completed', attempts: 2, coverage: { screened: AGENT_RUNS } });
    expect(done.findings).toHaveLength(8);
    // One call for each of the 24 reviews, 8 groups and 8 examinations.
    // Two calls may have been in progress at the kill.
    expect(judge.calls() - before).toBeLessThanOrEqual(AGENT_RUNS + 16 + 2);
  });
});
