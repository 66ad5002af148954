import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guardedQuery } from '../../../src/domain/traces/query-guard.ts';
import { QUERY_LIMITS } from '../../../src/domain/traces/trace-query.ts';
import { runOnClickHouse } from '../../../src/persistence/trace-query/clickhouse.ts';

interface ReceivedRequest {
  readonly params: URLSearchParams;
  readonly body: string;
}

let server: Server;
let requests: ReceivedRequest[] = [];
/** Answers of the server, in order: a result, or an error with its code and text. */
let answers: (object | readonly [code: number, text: string])[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { searchParams: params } = new URL(request.url ?? '/', 'http://clickhouse');
      requests.push({ params, body: Buffer.concat(chunks).toString() });
      const answer = answers.shift() ?? { meta: [], data: [] };
      if (!Array.isArray(answer)) return void response.end(JSON.stringify(answer));
      const [code, text] = answer as unknown as readonly [number, string];
      response.writeHead(500, { 'x-clickhouse-exception-code': String(code) });
      response.end(`Code: ${code}. DB::Exception: ${text} (SOME_NAME) (version 25.1.1.1)`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

async function run(sql: string, ...scripted: typeof answers) {
  requests = [];
  // The first request reads the names of tables and databases that a query may not use.
  answers = [{ meta: [], data: [['span'], ['default']] }, ...scripted];
  const { port } = server.address() as AddressInfo;
  return runOnClickHouse({ url: `http://127.0.0.1:${port}`, database: 'd' }, guardedQuery(sql), {
    visibility: { kind: 'all' },
    signal: new AbortController().signal,
    timeMs: QUERY_LIMITS.timeMs,
  });
}

it('a query is sent in read-only mode, with its limits as settings', async () => {
  await run('select 1 as one', { meta: [{ name: 'one', type: 'UInt8' }], data: [[1]] });
  expect(requests).toHaveLength(2);
  for (const { params } of requests)
    expect(Object.fromEntries(params)).toMatchObject({
      database: 'd',
      readonly: '1',
      max_execution_time: '10',
      // One row above the maximum of a result. The additional row shows that the result is truncated.
      max_result_rows: '1001',
      max_result_bytes: '16000000',
      max_memory_usage: String(512 * 1024 * 1024),
      max_threads: '2',
    });
  expect(requests[1]?.body).toContain('select * from (select 1 as one\n) as query limit 1001');
});

it('integers that are exact in a double are returned as numbers, and others as text', async () => {
  const meta = ['Int64', 'Nullable(UInt64)', 'UInt64', 'Decimal(38, 12)', 'String', 'Nullable(Int64)'].map(
    (type, index) => ({ name: `c${index}`, type }),
  );
  const answer = { meta, data: [['1', '9007199254740991', '9007199254740993', '0.5', '7', null]] };
  expect(await run('select 1', answer)).toEqual({
    rows: [{ c0: 1, c1: 9_007_199_254_740_991, c2: '9007199254740993', c3: '0.5', c4: '7', c5: null }],
    truncated: false,
  });
});

// Out of memory, out of time, too many rows, wrong password, read-only mode, unknown column.
it.each([
  [241, 'Unavailable', 'Trace SQL query failed or exceeded reader limits'],
  [159, 'Unavailable', 'Trace SQL query failed or exceeded reader limits'],
  [396, 'Unavailable', 'Trace SQL query failed or exceeded reader limits'],
  [516, 'Unavailable', 'Trace SQL query failed or exceeded reader limits'],
  [164, 'Unavailable', 'The trace store does not accept the limits of a query.'],
  [47, 'InvalidInput', 'Invalid trace query: Unknown expression identifier `x`'],
])('the ClickHouse error %i becomes %s', async (code, name, message) => {
  // The message leaves out the text from `In scope` on, because it contains the queries of the views.
  const text = 'Unknown expression identifier `x`. In scope WITH spans AS (SELECT secret)';
  await expect(run('select 1', [code, text])).rejects.toMatchObject({ name, message });
});

it.each([
  ["select '\\' as x", 'backslashes are not supported.'],
  ['select 1 settings readonly = 0', 'settings is not available.'],
  ['select 1 from span', 'span is not available.'],
  ['select 1 from default.span', 'span is not available.'],
  ['select 1 from "default"', 'default is not available.'],
])('a query is refused: %s', async (sql, message) => {
  await expect(run(sql)).rejects.toMatchObject({ name: 'InvalidInput', message: `Invalid trace query: ${message}` });
  // At most the names were read.
  expect(requests.length).toBeLessThan(2);
});
