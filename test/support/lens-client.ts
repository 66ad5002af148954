import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { type JudgeServer, judgeModel, startJudge } from '../../bench/lens/judge-server.ts';
import { CHECKS, checkIdOf, exportOf, FAILURES, type SyntheticRun } from '../../bench/lens/runs.ts';
import { startApp, type TestApp } from './start-app.ts';
import type { Answer, Json } from './tenancy-client.ts';

/** Lens run in a response. */
interface WireRun extends Json {
  readonly id: string;
  readonly status: string;
  readonly stage: string;
  readonly error: string;
  readonly cost: number;
  readonly attempts: number;
  readonly coverage: Readonly<Record<string, number>>;
}

interface WireEvidence {
  readonly execution_id: string;
  readonly span_id: string;
  readonly quote: string;
  readonly role: string;
}

interface WireFinding extends Json {
  readonly id: string;
  readonly title: string;
  readonly check_id: string;
  readonly status: string;
  readonly evidence: readonly WireEvidence[];
  readonly occurrences: readonly string[];
}

/** Lens in a response. */
export interface WireLens extends Json {
  readonly id: string;
  readonly spent: number;
  readonly jobs: readonly [WireRun];
  readonly findings: readonly WireFinding[];
}

/** Checks for all failures of the synthetic runs. */
export const ALL_CHECKS = FAILURES.map((failure) => ({ id: checkIdOf(failure), instruction: CHECKS[failure] }));

/** Settings of a lens over the synthetic runs. */
export const aLens = (more: object = {}) => ({
  name: 'l',
  model: 'judge',
  checks: ALL_CHECKS,
  enabled: false,
  ...more,
});

const ENDED = new Set(['completed', 'failed', 'cancelled']);
/** Longest wait for a run, in ms. */
const WAIT_MS = 90_000;

/**
 * Starts the app for the tests of a file, with a scripted reviewer model, the judge. `slots` is the maximum number of
 * lens runs that the app works on at the same time. With 0, it works on none.
 */
export function lensClient({
  slots = 0,
  judge: judgeOptions = {},
}: { readonly slots?: number; readonly judge?: Parameters<typeof startJudge>[0] } = {}) {
  let app: TestApp;
  let judge: JudgeServer;
  beforeAll(async () => {
    judge = await startJudge(judgeOptions);
    app = await startApp({
      config: {
        model_list: [
          { ...judgeModel(judge.base), model_info: { access_groups: ['reviewers'] } },
          inputPriceOnly(judge.base),
        ],
      },
      env: { LENSGATE_LENS_POLL_SECONDS: '0.05', LENSGATE_LENS_WORKER_SLOTS: String(slots) },
    });
  });
  afterAll(async () => {
    await app.stop();
    await judge.stop();
  });

  async function send(
    method: string,
    path: string,
    body?: unknown,
    key = app.adminKey,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const authorization = key === '' ? '' : `Bearer ${key}`;
    const answer = await app.call(method, path, body, { authorization, ...headers });
    return { status: answer.status, body: (await answer.json()) as Json };
  }

  const lensAt = async (id: string): Promise<WireLens> => (await send('GET', `/lens/${id}`)).body as WireLens;

  return {
    send,
    app: () => app,
    judge: () => judge,
    lensAt,
    /** Stores synthetic runs that started an hour ago. */
    async ingest(runs: readonly SyntheticRun[]): Promise<void> {
      const sent = await send('POST', '/v1/traces', exportOf(runs, Date.now() - 3_600_000));
      if (sent.status !== 200) throw new Error(`The runs were not stored: ${JSON.stringify(sent.body)}`);
    },
    async key(draft: object): Promise<{ readonly key: string; readonly hash: string }> {
      const { body } = await send('POST', '/key/generate', draft);
      return { key: String(body['key']), hash: String(body['token']) };
    },
    async create(settings: object): Promise<WireLens> {
      const { status, body } = await send('POST', '/lens', settings);
      if (status !== 200) throw new Error(`No lens was created: ${JSON.stringify(body)}`);
      return body as WireLens;
    },
    /** Waits until the run of the lens has ended. Returns the lens. */
    async untilRunEnds(id: string): Promise<WireLens> {
      const untilMs = Date.now() + WAIT_MS;
      for (;;) {
        const lens = await lensAt(id);
        if (ENDED.has(lens.jobs[0].status)) return lens;
        if (Date.now() > untilMs) throw new Error(`The run is still ${lens.jobs[0].stage}.`);
        await sleep(50);
      }
    },
  };
}

/** Configuration of a model outside of the catalog, with an input price only. */
const inputPriceOnly = (base: string): object => ({
  model_name: 'input-price-only',
  litellm_params: {
    model: 'openai/not-in-the-catalog',
    api_base: base,
    api_key: 'k',
    input_cost_per_token: 0.000001,
  },
});
