import { beforeAll, describe, expect, it } from 'vitest';
import { exportOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { lensClient } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const { send, key, ingest } = lensClient();
const PATH = '/v1/traces/query';
// One agent run each. The second argument is the seed of its texts.
const [ADMIN_AGENT_RUNS, USER_AGENT_RUNS] = [syntheticRuns(1, 61), syntheticRuns(1, 62)];
let userKey = '';

beforeAll(async () => {
  await ingest(ADMIN_AGENT_RUNS);
  userKey = (await key({})).key;
  await send('POST', '/v1/traces', exportOf(USER_AGENT_RUNS, Date.now() - 3_600_000), userKey);
});

const detail = (status: number, text: unknown) => ({ status, body: { detail: text } });
const SQL = 'select trace_id, status from traces order by start_ns';

describe('SQL over traces', () => {
  it('traces.query 200: a key sees its own rows, and an administrator sees all rows', async () => {
    const row = (traceId: string | undefined) => ({ trace_id: traceId, status: expect.any(String) });
    expect(await send('POST', PATH, { sql: SQL }, userKey)).toEqual({
      status: 200,
      body: { data: [row(USER_AGENT_RUNS[0]?.traceId)] },
    });
    expect((await send('POST', PATH, { sql: SQL })).body['data']).toHaveLength(2);
  });

  it('traces.query 400: a forbidden table or statement, an unknown column; 422: no `sql`; 401: no key', async () => {
    expect(await send('POST', PATH, { sql: 'select * from virtual_key' }, userKey)).toEqual(
      detail(400, 'Invalid trace query: not authorized'),
    );
    expect(await send('POST', PATH, { sql: 'drop table span' })).toEqual(
      detail(400, 'Invalid trace query: it must begin with SELECT or WITH.'),
    );
    expect(await send('POST', PATH, { sql: 'select missing_column from traces' })).toEqual(
      detail(400, 'Invalid trace query: no such column: missing_column'),
    );
    expect(await send('POST', PATH, { query: 'select 1' })).toEqual(
      detail(422, [
        { type: 'missing', loc: ['body', 'sql'], msg: 'Field required' },
        { type: 'extra_forbidden', loc: ['body', 'query'], msg: 'Extra inputs are not permitted' },
      ]),
    );
    expect((await send('POST', PATH, { sql: SQL }, '')).status).toBe(401);
  });

  it('traces.query 503: a query above the limits of the reader', async () => {
    const sql = 'select a.name from spans a, spans b, spans c, spans d, spans e, spans f, spans g, spans h';
    expect(await send('POST', PATH, { sql })).toEqual(detail(503, 'Trace SQL query failed or exceeded reader limits'));
  });

  it('traces.queryHelp 200: describes the tables, with examples that run; 401: no key', async () => {
    const { status, body } = await send('GET', `${PATH}/help`, undefined, userKey);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(
      'access attributes dialect examples gotchas guide metadata normalized_fields relationships response tables'.split(
        ' ',
      ),
    );
    expect(body['dialect']).toBe('sqlite');
    const tables = body['tables'] as readonly { readonly name: string; readonly columns: readonly Json[] }[];
    expect(tables.map(({ name }) => name)).toEqual(['spans', 'traces', 'spend']);
    expect(tables[1]?.columns).toContainEqual({ name: 'trace_id', type: 'text' });
    const examples = body['examples'] as readonly { readonly sql: string }[];
    expect(examples.length).toBeGreaterThan(0);
    for (const { sql } of examples) expect((await send('POST', PATH, { sql }, userKey)).status).toBe(200);
    expect((await send('GET', `${PATH}/help`, undefined, '')).status).toBe(401);
  });
});
