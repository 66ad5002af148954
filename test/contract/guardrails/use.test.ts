import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuardrailServer, type Json, startGuardrailServer } from './guardrail-server.ts';

let server: GuardrailServer;
let userKey: string;

beforeAll(async () => {
  server = await startGuardrailServer();
  userKey = String((await server.ask('POST', '/key/generate', { user_id: 'someone' }))[1]['key']);
});
afterAll(() => server.app.stop());

const ROUTES = [
  ['guardrailUse.overview', '/guardrails/usage/overview'],
  ['guardrailUse.detail', '/guardrails/usage/detail/x'],
  ['guardrailUse.logs', '/guardrails/usage/logs'],
] as const;

describe('routes of the use of guardrails', () => {
  it.each(ROUTES)('%s 401: no key, and the key of a user who is not an administrator', async (_name, path) => {
    expect((await fetch(`${server.app.url}${path}`)).status).toBe(401);
    const refused = { error: { type: 'auth_error', param: 'None', code: '401' } };
    expect(await server.ask('GET', path, undefined, userKey)).toMatchObject([401, refused]);
  });
});

describe('guardrailUse.overview', () => {
  it('200: before the first run', async () => {
    const [status, body] = await server.ask(
      'GET',
      '/guardrails/usage/overview?start_date=2026-01-01&end_date=2026-01-02',
    );
    const empty: Json = { totalUsageUnits: {}, totalCost: null, totalUntrackedUsageUnits: {} };
    expect([status, body]).toEqual([
      200,
      { rows: [], chart: [], totalRequests: 0, totalBlocked: 0, passRate: 100, ...empty },
    ]);
  });
});

describe('guardrailUse.detail', () => {
  it('200: a guardrail that has not run', async () => {
    const id = await server.idOfFileGuardrail();
    expect(await server.ask('GET', `/guardrails/usage/detail/${id}`)).toEqual([
      200,
      {
        guardrail_id: id,
        guardrail_name: 'of-file',
        type: 'Guardrail',
        provider: 'presidio',
        requestsEvaluated: 0,
        failRate: 0,
        avgScore: null,
        avgLatency: null,
        status: 'healthy',
        trend: 'stable',
        description: null,
        time_series: [],
      },
    ]);
  });

  it('404: an unknown id', async () => {
    expect(await server.ask('GET', '/guardrails/usage/detail/nope')).toEqual([404, { detail: 'Guardrail not found' }]);
  });
});

describe('guardrailUse.logs', () => {
  it('200: before the first run', async () => {
    expect(await server.ask('GET', '/guardrails/usage/logs?page=2&page_size=10&action=blocked')).toEqual([
      200,
      { logs: [], total: 0, page: 2, page_size: 10 },
    ]);
  });

  it.each(['zzz', 'BLOCKED', 'intervened', ''])('422: the unknown action "%s"', async (action) => {
    const msg = "Input should be 'passed', 'flagged', 'blocked' or 'failed'";
    expect(await server.ask('GET', `/guardrails/usage/logs?action=${action}`)).toEqual([
      422,
      { detail: [{ type: 'enum', loc: ['query', 'action'], msg }] },
    ]);
  });

  it('422: a page and a page size out of range', async () => {
    expect(await server.ask('GET', '/guardrails/usage/logs?page=0&page_size=101')).toMatchObject([
      422,
      { detail: [{ loc: ['query', 'page'] }, { loc: ['query', 'page_size'] }] },
    ]);
  });
});
