import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { as, makeKey, otlpSpan, send, START_MS, statusAndBody } from './trace-client.ts';

const HOUR_MS = 3_600_000;
const WINDOW = `start_ms=${START_MS}&end_ms=${START_MS + HOUR_MS}`;

let app: TestApp;
let nowMs = 0;
beforeAll(async () => {
  app = await startApp();
  nowMs = Date.now();
  await send(app, exportOf(run('1', 'triage', 0), 'openinference.instrumentation.langchain'));
  await send(app, exportOf(run('2', 'triage', 1_500, { status: { code: 2 } }), 'strands.tools'));
  await send(app, exportOf(run('3', 'billing', 2_000), ''));
  // Ages of 13 and 15 days: the default window has 14.
  for (const [digit, days] of [
    ['4', 13],
    ['5', 15],
  ] as const)
    await send(app, exportOf(run(digit, `of ${days} days`, nowMs - days * 24 * HOUR_MS - START_MS), ''));
});
afterAll(() => app.stop());

const run = (digit: string, agent: string, from: number, more: object = {}) =>
  otlpSpan(
    digit,
    from,
    1,
    { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent },
    { traceId: digit.repeat(32), ...more },
  );
const exportOf = (span: unknown, scope: string) => ({
  resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: [span] }] }],
});

const answerTo = (query: string, headers: Record<string, string> = {}) =>
  statusAndBody(app.call('GET', `/v1/traces/agents?${query}`, undefined, headers));

describe('traces.agents', () => {
  it('traces.agents 200: runs, failed runs, last run and frameworks of each agent, the latest first', async () => {
    expect(await answerTo(WINDOW)).toEqual([
      200,
      {
        agents: [
          { name: 'billing', runs: 1, failed_runs: 0, last_seen: '2026-01-01T00:00:02+00:00', frameworks: [] },
          {
            name: 'triage',
            runs: 2,
            failed_runs: 1,
            last_seen: '2026-01-01T00:00:01.500000+00:00',
            frameworks: ['langchain', 'strands'],
          },
        ],
      },
    ]);
  });

  it('traces.agents 200: the last 14 days without a window; unknown parameters are ignored', async () => {
    const [status, body] = await answerTo('limit=1');
    expect([status, (body as { readonly agents: readonly object[] }).agents.map(Object.values)]).toEqual([
      200,
      [['of 13 days', 1, 0, expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/), []]],
    ]);
  });

  it('traces.agents 200: a key sees no agents of others', async () => {
    expect(await answerTo(WINDOW, as(await makeKey(app)))).toEqual([200, { agents: [] }]);
  });

  it('traces.agents 400: an empty window', async () => {
    const message = 'The window is empty: its start must be before its end.';
    expect(await answerTo('start_ms=5&end_ms=5')).toEqual([400, { detail: { code: 'invalid_request', message } }]);
  });

  it('traces.agents 422: times that are no integers', async () => {
    const message = 'Input should be a valid integer, unable to parse string as an integer';
    expect(await answerTo('start_ms=x&end_ms=y')).toEqual([
      422,
      {
        detail: [
          { type: 'int_parsing', loc: ['query', 'start_ms'], msg: message },
          { type: 'int_parsing', loc: ['query', 'end_ms'], msg: message },
        ],
      },
    ]);
  });
});
