import { beforeAll, describe, expect, it } from 'vitest';
import { exportOf, syntheticRuns } from '../../bench/lens/runs.ts';
import { lensClient } from '../support/lens-client.ts';

const { send, app, key, ingest } = lensClient();
// One trace each. The second argument is the seed.
const [ADMIN_TRACES, SENDER_TRACES] = [syntheticRuns(1, 71), syntheticRuns(1, 72)];
let senderKey = '';

beforeAll(async () => {
  await ingest(ADMIN_TRACES);
  senderKey = (await key({})).key;
  await send('POST', '/v1/traces', exportOf(SENDER_TRACES, Date.now() - 3_600_000), senderKey);
});

async function ask(
  query: string,
  variables: object = {},
  callerKey = app().adminKey,
): Promise<Record<string, unknown>> {
  return (await send('POST', '/graphql', { query, variables }, callerKey)).body;
}

const QUERY = `query Sql($sql: String!, $first: Int) {
  traceQuery(sql: $sql, first: $first) {
    __typename
    ... on TraceQueryRows { columns { name type } rows rowCount truncated }
    ... on UserError { code message }
  }
}`;
const traceQuery = async (variables: object, callerKey?: string): Promise<unknown> =>
  ((await ask(QUERY, variables, callerKey))['data'] as { readonly traceQuery: unknown }).traceQuery;

describe('SQL over traces in the graph', () => {
  it('returns the rows that the caller may read, with the types of their columns', async () => {
    const sql = "select trace_id, span_count, 0.5 as half, null as absent, 'x' as text from traces";
    expect(await traceQuery({ sql }, senderKey)).toEqual({
      __typename: 'TraceQueryRows',
      columns: [
        { name: 'trace_id', type: 'TEXT' },
        { name: 'span_count', type: 'INTEGER' },
        { name: 'half', type: 'NUMBER' },
        { name: 'absent', type: 'NULL' },
        { name: 'text', type: 'TEXT' },
      ],
      rows: [
        { trace_id: SENDER_TRACES[0]?.traceId, span_count: expect.any(Number), half: 0.5, absent: null, text: 'x' },
      ],
      rowCount: 1,
      truncated: false,
    });
    expect(await traceQuery({ sql: 'select trace_id from traces' })).toMatchObject({ rowCount: 2, truncated: false });
    expect(await traceQuery({ sql: 'select trace_id from traces where 1 = 0' })).toMatchObject({
      columns: [],
      rows: [],
      rowCount: 0,
    });
  });

  it('marks its result as truncated when there are more rows than it returns', async () => {
    expect(await traceQuery({ sql: 'select trace_id from traces', first: 1 })).toMatchObject({
      rowCount: 1,
      truncated: true,
    });
    const sql = 'select a.name from spans a, spans b, spans c, spans d, spans e';
    expect(await traceQuery({ sql })).toMatchObject({ rowCount: 1_000, truncated: true });
  });

  it.each([
    [{ sql: 'drop table span' }, 'INVALID_INPUT', 'Invalid trace query: it must begin with SELECT or WITH.'],
    [{ sql: 'select * from virtual_key' }, 'INVALID_INPUT', 'Invalid trace query: not authorized'],
    [{ sql: 'select 1', first: 0 }, 'INVALID_INPUT', 'A query returns 1 to 1000 rows.'],
    [{ sql: 'select 1', first: 1_001 }, 'INVALID_INPUT', 'A query returns 1 to 1000 rows.'],
  ])('refuses %o', async (variables, code, message) => {
    expect(await traceQuery(variables, senderKey)).toEqual({
      __typename: 'InvalidInputError',
      code,
      message,
    });
  });

  it('ends a query that exceeds the limits of the SQL reader', async () => {
    const columns = Array.from({ length: 300 }, (_, index) => `a0.trace_id as text${index}`).join(', ');
    const joins = Array.from({ length: 10 }, (_, index) => `spans a${index}`).join(' cross join ');
    expect(await traceQuery({ sql: `select ${columns} from ${joins}` })).toEqual({
      __typename: 'UnavailableError',
      code: 'UNAVAILABLE',
      message: 'Trace SQL query failed or exceeded reader limits',
    });
  });

  it('describes the views, and its examples run', async () => {
    const help =
      '{ traceQueryHelp { dialect mostRows mostMilliseconds views { name columns { name type } } examples { sql } } }';
    const { data } = (await ask(help, {}, senderKey)) as {
      readonly data: {
        readonly traceQueryHelp: {
          readonly views: readonly { readonly name: string; readonly columns: readonly unknown[] }[];
          readonly examples: readonly { readonly sql: string }[];
        };
      };
    };
    expect(data.traceQueryHelp).toMatchObject({ dialect: 'sqlite', mostRows: 1_000, mostMilliseconds: 10_000 });
    expect(data.traceQueryHelp.views.map(({ name }) => name)).toEqual(['spans', 'traces', 'spend']);
    expect(data.traceQueryHelp.views[1]?.columns).toContainEqual({ name: 'trace_id', type: expect.any(String) });
    expect(data.traceQueryHelp.examples).not.toEqual([]);
    for (const { sql } of data.traceQueryHelp.examples)
      expect(await traceQuery({ sql })).toMatchObject({ __typename: 'TraceQueryRows' });
  });

  it('requires a key', async () => {
    expect(await ask(QUERY, { sql: 'select 1' }, '')).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });
});

describe('lens workers in the graph', () => {
  it('are registered, paid for by a key, listed and revoked', async () => {
    const { token } = (await (await app().call('POST', '/key/generate', {})).json()) as { token: string };
    const register = `mutation ($key: ID!) { registerLensWorker(input: { name: "w", analysisKeyId: $key }) {
      __typename ... on RegisteredLensWorker { token worker { id name analysisKeyId revoked } } ... on UserError { message }
    } }`;
    const { data } = (await ask(register, { key: token })) as {
      readonly data: { readonly registerLensWorker: { readonly worker: { readonly id: string } } };
    };
    expect(data.registerLensWorker).toEqual({
      __typename: 'RegisteredLensWorker',
      token: expect.stringMatching(/^lens-/),
      worker: { id: expect.any(String), name: 'w', analysisKeyId: token, revoked: false },
    });
    const { id } = data.registerLensWorker.worker;
    expect(await ask(register, { key: 'none' })).toMatchObject({
      data: { registerLensWorker: { __typename: 'InvalidInputError' } },
    });
    const assign = `mutation ($id: ID!, $key: ID!) { assignLensWorkerKey(input: { id: $id, analysisKeyId: $key }) {
      __typename ... on LensWorker { analysisKeyId } ... on UserError { message }
    } }`;
    expect(await ask(assign, { id, key: token })).toMatchObject({
      data: { assignLensWorkerKey: { __typename: 'LensWorker', analysisKeyId: token } },
    });
    expect(await ask(assign, { id: 'none', key: token })).toMatchObject({
      data: { assignLensWorkerKey: { __typename: 'NotFoundError', message: 'Worker not found' } },
    });
    const revoke = `mutation ($id: ID!) { revokeLensWorker(input: { id: $id }) { __typename ... on LensWorker { revoked } } }`;
    expect(await ask(revoke, { id })).toMatchObject({ data: { revokeLensWorker: { revoked: true } } });
    expect(await ask('{ lensWorkers { id revoked } }')).toMatchObject({
      data: { lensWorkers: expect.arrayContaining([{ id, revoked: true }]) as unknown },
    });
    expect(await ask(assign, { id, key: token })).toMatchObject({
      data: { assignLensWorkerKey: { __typename: 'ConflictError' } },
    });
    expect(await ask('{ lensWorkers { id } }', {}, senderKey)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('are not needed by resumeLenses, which resumes nothing without paused lenses', async () => {
    expect(await ask('mutation { resumeLenses { resumedIds skipped { id } } }')).toEqual({
      data: { resumeLenses: { resumedIds: [], skipped: [] } },
    });
  });
});
