import { describe, expect, it } from 'vitest';
import { guardrailUseRoutes } from '../../../rest-shims/guardrail-use.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import {
  type GuardrailDay,
  type GuardrailRun,
  type GuardrailUseBatch,
  runsOf,
} from '../../../src/domain/guardrails/guardrail-use.ts';
import { createGuardrailUseCounter } from '../../../src/recording/guardrail-use.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { aScheduler } from '../../support/scheduler.ts';

const START_SECONDS = Date.UTC(2026, 10, 23, 10) / 1000;
/** The run of a guardrail as the row of a call stores it. */
const aStoredRun = (status: string, overrides: object = {}) => ({
  guardrail_name: 'words',
  guardrail_id: 'g1',
  guardrail_provider: 'litellm_content_filter',
  guardrail_mode: 'pre_call',
  guardrail_status: status,
  start_time: START_SECONDS,
  duration: 0.002,
  ...overrides,
});
const SPEND = { id: 's1', modelGroup: 'smart', callId: 'c1', traceId: 't1', keyHash: 'k1', teamId: 't' };

/** A recorded call; `guardrails` are the runs in its row. */
const aCall = (guardrails?: readonly object[]): CallRecord =>
  ({ spend: guardrails === undefined ? SPEND : { ...SPEND, guardrails } }) as unknown as CallRecord;
const aCallWith = (...runs: readonly object[]): CallRecord => aCall(runs);

const aRun = (index: number, result: GuardrailRun['result'], overrides: Partial<GuardrailRun> = {}): GuardrailRun => ({
  id: `s1:${index}`,
  guardrailId: 'g1',
  name: 'words',
  kind: 'litellm_content_filter',
  result,
  mode: 'pre_call',
  at: new Date(START_SECONDS * 1000),
  latencyMs: 2,
  model: 'smart',
  callId: 'c1',
  traceId: 't1',
  keyHash: 'k1',
  teamId: 't',
  ...overrides,
});

describe('the runs of guardrails on a call', () => {
  it('are the runs in its row with a known status', () => {
    const call = aCallWith(
      aStoredRun('success'),
      aStoredRun('guardrail_flagged'),
      aStoredRun('guardrail_intervened', { guardrail_id: 'g2' }),
      aStoredRun('guardrail_failed_to_respond'),
      aStoredRun('another status'),
    );
    expect(runsOf(call)).toEqual([
      aRun(0, 'passed'),
      aRun(1, 'flagged'),
      aRun(2, 'intervened', { guardrailId: 'g2' }),
      aRun(3, 'failed'),
    ]);
  });

  it('are empty where the row has no runs', () => {
    expect([aCall(), aCall([]), aCall([{}])].map(runsOf)).toEqual([[], [], []]);
  });
});

function aCounter(add: (batch: GuardrailUseBatch) => Promise<void>) {
  return createGuardrailUseCounter({
    process: 'p',
    store: { add },
    clock: { now: () => new Date(START_SECONDS * 1000), monotonicMs: () => 0 },
    everyMs: 1,
    scheduler: aScheduler(),
  });
}

const aDay = (overrides: Partial<GuardrailDay>): GuardrailDay => ({
  day: '2026-11-23',
  guardrailId: 'g1',
  name: 'words',
  kind: 'litellm_content_filter',
  passed: 0,
  flagged: 0,
  intervened: 0,
  failed: 0,
  latencyMs: 0,
  ...overrides,
});

describe('the counter of runs', () => {
  it('commits counts by day and guardrail, and the runs that did not pass', async () => {
    const batches: GuardrailUseBatch[] = [];
    const counter = aCounter(async (batch) => void batches.push(batch));
    counter.count(aCallWith(aStoredRun('success'), aStoredRun('guardrail_intervened')));
    counter.count(aCallWith(aStoredRun('success', { start_time: START_SECONDS + 86_400 })));
    counter.count(aCall());
    await counter.flush();
    await counter.flush();
    expect(batches).toEqual([
      {
        process: 'p',
        number: 1,
        days: [aDay({ passed: 1, intervened: 1, latencyMs: 4 }), aDay({ day: '2026-11-24', passed: 1, latencyMs: 2 })],
        runs: [aRun(1, 'intervened')],
      },
    ]);
  });

  it('repeats a batch that was not committed, with its number', async () => {
    const numbers: number[] = [];
    const counter = aCounter(async ({ number }) => {
      numbers.push(number);
      if (numbers.length === 1) throw new Error('The store is unavailable.');
    });
    counter.count(aCallWith(aStoredRun('success')));
    await expect(counter.flush()).rejects.toThrow('The store is unavailable.');
    counter.count(aCallWith(aStoredRun('success')));
    await counter.flush();
    expect(numbers).toEqual([1, 1, 2]);
  });

  it('keeps at most 1,000 single runs, and counts all', async () => {
    const batches: GuardrailUseBatch[] = [];
    const counter = aCounter(async (batch) => void batches.push(batch));
    for (let call = 0; call < 1_001; call += 1) counter.count(aCallWith(aStoredRun('guardrail_intervened')));
    await counter.flush();
    expect([batches[0]?.days[0]?.intervened, batches[0]?.runs.length]).toEqual([1_001, 1_000]);
  });
});

/** In answers, a flagged run counts as passed, and a failed run as blocked. */
const DAYS = [
  aDay({ day: '2026-11-22', passed: 90, intervened: 4, latencyMs: 100 }),
  aDay({ passed: 4, failed: 2, latencyMs: 100 }),
  aDay({
    guardrailId: 'g2',
    name: 'tone',
    kind: 'decision_model',
    passed: 17,
    flagged: 1,
    intervened: 2,
    latencyMs: 10,
  }),
];

async function answerOf(name: string, search = ''): Promise<unknown> {
  const scope = {
    caller: { ...aCaller(aKey()), role: 'proxy_admin' },
    platform: {
      clock: { now: () => new Date(START_SECONDS * 1000) },
      guardrails: { list: () => [] },
      stores: {
        guardrailUse: {
          days: async ({ guardrailId }: { guardrailId: string | null }) =>
            DAYS.filter((day) => guardrailId === null || day.guardrailId === guardrailId),
          runs: async (page: object) => ({ runs: [aRun(0, 'intervened')], totalCount: 7, page }),
        },
      },
    },
  } as unknown as Scope;
  const row = guardrailUseRoutes.find((route) => route.name === name);
  if (row === undefined) throw new Error(`There is no row ${name}.`);
  const request = { method: 'GET', path: '', params: { id: 'g1' }, search, headers: {}, body: new Uint8Array() };
  const { body } = (await row.handle(request, scope)) as { body: { value: unknown } };
  return body.value;
}

const USE = { type: 'Guardrail', avgScore: null, trend: 'stable' };

describe('answers about the use of guardrails', () => {
  it('have sums by guardrail, the most used first, and by day', async () => {
    expect(await answerOf('guardrailUse.overview')).toEqual({
      rows: [
        {
          ...USE,
          id: 'g1',
          name: 'words',
          provider: 'litellm_content_filter',
          requestsEvaluated: 100,
          failRate: 6,
          avgLatency: 2,
          status: 'warning',
        },
        {
          ...USE,
          id: 'g2',
          name: 'tone',
          provider: 'decision_model',
          requestsEvaluated: 20,
          failRate: 10,
          avgLatency: 0.5,
          status: 'warning',
        },
      ],
      chart: [
        { date: '2026-11-22', passed: 90, blocked: 4 },
        { date: '2026-11-23', passed: 22, blocked: 4 },
      ],
      totalRequests: 120,
      totalBlocked: 8,
      passRate: 93.33,
      totalUsageUnits: {},
      totalCost: null,
      totalUntrackedUsageUnits: {},
    });
  });

  it('include a deleted guardrail that ran', async () => {
    expect(await answerOf('guardrailUse.detail')).toMatchObject({
      guardrail_id: 'g1',
      guardrail_name: 'words',
      provider: 'litellm_content_filter',
      requestsEvaluated: 100,
      time_series: [
        { date: '2026-11-22', passed: 90, blocked: 4 },
        { date: '2026-11-23', passed: 4, blocked: 2 },
      ],
    });
  });

  it('list runs without the texts of their calls', async () => {
    expect(await answerOf('guardrailUse.logs', 'page_size=1')).toEqual({
      logs: [
        {
          id: 's1:0',
          timestamp: '2026-11-23T10:00:00.000Z',
          guardrail_id: 'g1',
          guardrail_name: 'words',
          action: 'blocked',
          mode: 'pre_call',
          score: null,
          latency_ms: 2,
          model: 'smart',
          call_id: 'c1',
          trace_id: 't1',
          input_snippet: null,
          output_snippet: null,
          reason: null,
        },
      ],
      total: 7,
      page: 1,
      page_size: 1,
    });
  });
});
