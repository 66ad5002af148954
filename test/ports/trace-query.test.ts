import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Visibility } from '../../src/domain/caller.ts';
import { QUERY_LIMITS, type QueryRow, type TraceQueries } from '../../src/domain/traces/trace-query.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { TRACE_ENGINES } from './clickhouse-engine.ts';
import type { ScratchDatabase } from './engines.ts';
import { aSpan, LONE_KEY, nsAt, OTHER_TEAM_KEY, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

/** Deadline of a query in the tests that reach it, in ms; `QUERY_LIMITS` has the deadline of the product. */
const BRIEF_MS = 2_500;

const ALL = { kind: 'all' } as const;
const TEAM: Visibility = { kind: 'team', teamId: TEAM_KEY.teamId ?? '' };
const EVER = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
const LONE: Visibility = { kind: 'key', keyHash: LONE_KEY.keyHash };

/** Queries that read more than the visible rows, or that are not allowed for another reason. None returns a row. */
const ATTACKS = {
  'a second statement': 'select 1; delete from trace_summary',
  'a statement after a closed parenthesis': 'select 1) q; drop table trace_summary; select * from (select 1',
  'another query beside': 'select 1 as a) x, (select * from trace_summary',
  'a comment over the limit': 'select 1 as a) --',
  'an open comment': 'select 1 /*',
  'a base table': 'select * from trace_summary',
  'a quoted base table': 'select * from "trace_summary"',
  'a table of keys': 'select * from virtual_key',
  'a qualified view': 'select * from main.spans',
  'a qualified view of PostgreSQL': 'select * from public.spans',
  'a qualified view without a column': 'select count(*) from main.spans',
  'a base table without a column': 'select count(*) from trace_summary',
  'an expression over a base table without a column':
    'with spans as (select 1 from virtual_key) select count(*) from spans',
  'a quoted qualified view': 'select * from "main"."spans"',
  'an expression named as a view': 'with spans as (select * from trace_summary) select * from spans',
  'an expression named as a view, over a secret view':
    'with traces as (select * from traces_secret) select * from traces',
  'a subquery named as a view': 'select * from (select * from trace_summary) spans',
  'the catalog of SQLite': 'select sql from sqlite_master',
  'the temporary catalog': 'select sql from sqlite_temp_master',
  'a pragma': 'pragma query_only = off',
  'a pragma as a table': "select * from pragma_table_info('virtual_key')",
  'the catalog of PostgreSQL': 'select relname from pg_class',
  'the schema of PostgreSQL': 'select * from information_schema.tables',
  'the user': 'select current_user',
  'a writing expression': 'with x as (delete from spend_row returning *) select * from x',
  'an insert': 'insert into trace_summary default values',
  'select into': 'select * into stolen from traces',
  attach: "attach '/tmp/x.db' as x",
  'an extension': "select load_extension('x')",
  'a file of the server': "select pg_read_file('/etc/passwd')",
  'a program of the server': "copy (select 1) to program 'id'",
  'a sleep': 'select pg_sleep(10)',
  'a query in a function': "select query_to_xml('select * from virtual_key', true, true, '')",
  'a large value': 'select zeroblob(1000000000)',
  'a large format': "select printf('%1000000000d', 1)",
  'a growing replacement': "select replace(replace('aaaa', 'a', 'bbbb'), 'b', 'aaaa')",
  'a replacement by a value': "select replace(name, 'a', name) from spans",
  'a format that a query computes': "select to_char(start_time, to_char(start_time, 'Day Day')) from spans",
  'many concatenations': `select ${Array.from({ length: 12 }, () => "'a'").join(' || ')}`,
  'a row of a subquery as a text':
    'with a as (select name as x, name as y from spans) select cast(a as varchar) from a',
  'a row of a table as a text': 'select spans::text from spans',
  'a row of all columns as a text': 'select (s.*)::text from spans s',
  'an endless recursion': 'with recursive x(n) as (select 1 union all select n + 1 from x) select count(*) from x',
  'an escaped name': 'select * from U&"virtual\\005fkey"',
  'a dollar quote': 'select $$x$$',
  'a bracketed name': 'select * from [virtual_key]',
  'a name in back quotes': 'select * from `virtual_key`',
  'a table as a text': "select * from 'virtual_key'",
  'the command TABLE': 'table virtual_key',
  values: 'values (1)',
  'a row lock': 'select * from traces for update',
  'a series': 'select * from generate_series(1, 1000000000)',
  'a relation by its name': "select 'virtual_key'::regclass",
  'a parameter': 'select $1',
  'an escaped quote': "select '\\' union all select name from spans --'",
  'settings of ClickHouse': 'select 1 settings max_execution_time = 1000',
  'a format of ClickHouse': 'select 1 format CSV',
  'an address': "select * from url('http://127.0.0.1:1/x', CSV)",
  'a file of ClickHouse': "select * from file('/etc/passwd', CSV)",
  'the tables of ClickHouse': 'select * from system.tables',
  nothing: '   ',
} as const;

/** Join of `spans` with itself. 7 spans are stored: a join of 5 has 7⁵ rows, a join of 24 exceeds every deadline. */
const joinOfSpans = (times: number): string =>
  Array.from({ length: times }, (_, index) => `spans a${index}`).join(' cross join ');

for (const engine of TRACE_ENGINES)
  describe.skipIf(engine.skipReason !== null)(`queries of traces on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    let queries: TraceQueries;
    /** Queries with a short deadline. */
    let briefQueries: TraceQueries;
    const run = (visibility: Visibility, sql: string) =>
      queries.run({ visibility, owner: 'one', signal: AbortSignal.timeout(60_000) }, sql);
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      queries = stores.traceQueries;
      briefQueries = (await scratch.open({ traceQueryMs: BRIEF_MS })).traceQueries;
      for (const [index, owner] of [TEAM_KEY, OTHER_TEAM_KEY, LONE_KEY].entries()) {
        const names = owner === OTHER_TEAM_KEY ? ['s1', 's2', 'secret'] : ['s1', 's2'];
        const spans = names.map((name, nth) =>
          aSpan({ traceId: traceId(index + 1), spanId: spanId(nth + 1), name, startNs: nsAt(START_MS + nth * 1_000) }),
        );
        await stores.traces.ingest([{ owner, spans }]);
      }
    });
    afterAll(() => scratch.remove());

    const isClickHouse = engine.name === 'clickhouse';
    const rowsOf = async (visibility: Visibility, sql: string): Promise<readonly QueryRow[]> =>
      (await run(visibility, sql)).rows;
    const ids = async (visibility: Visibility, sql: string): Promise<readonly unknown[]> =>
      (await rowsOf(visibility, sql)).map(({ trace_id: id }) => id);
    const counts = async (visibility: Visibility, sql: string): Promise<readonly number[]> =>
      (await rowsOf(visibility, sql)).map((row) => Number(row['n']));

    it('return the rows that the reader may see, by every view and join', async () => {
      const traces = 'select trace_id from traces order by trace_id';
      const allIds = [traceId(1), traceId(2), traceId(3)];
      expect(await ids(ALL, traces)).toEqual(allIds);
      expect(await ids(TEAM, `${traces};`)).toEqual([traceId(1)]);
      expect(await ids(LONE, traces)).toEqual([traceId(3)]);
      expect(await rowsOf({ kind: 'team', teamId: "x' or '1'='1" }, traces)).toEqual([]);
      const joined = `with s as (select trace_id, count(*) as n from spans group by trace_id)
        select t.trace_id, s.n from traces t join s on s.trace_id = t.trace_id
        union select trace_id, 9 from ${isClickHouse ? 'spans where 1 = 0' : 'spend'} order by 1 desc`;
      expect(await rowsOf(LONE, joined)).toMatchObject([{ trace_id: traceId(3) }]);
      const aliased = 'select spans.trace_id from traces as spans';
      expect(await ids(TEAM, aliased)).toEqual([traceId(1)]);
      expect(await rowsOf(TEAM, "select name, 'a--b' as x from spans order by name desc limit 1")).toEqual([
        { name: 's2', x: 'a--b' },
      ]);
    });

    // The team has one trace with two spans.
    it.each([
      ['select count(*) as n from spans', 2],
      ['select count(*) as n from traces', 1],
      ['select count(*) as n from spend', 0],
      ['select (select count(*) from spend) as n', 0],
      ['select count(*) as n from spans a cross join traces b', 2],
      ['with t as (select * from traces) select count(*) as n from t a join t b on a.trace_id = b.trace_id', 1],
      [
        'select max(r) as n from (select row_number() over (partition by trace_id order by start_ns) as r from spans) q',
        2,
      ],
    ] as const)('count visible rows only: %s', async (sql, n) => {
      expect(await counts(TEAM, sql)).toEqual([n]);
      expect(await rowsOf(ALL, sql)).toHaveLength(1);
    });

    it.each(Object.entries(ATTACKS))('are refused: %s', async (_name, sql) => {
      const outcome = await run(TEAM, sql).then(
        (rows) => rows,
        (error: unknown) => error,
      );
      expect(outcome).toMatchObject({ name: 'InvalidInput' });
      expect(await stores.traces.listSummaries(ALL, EVER, 10)).toHaveLength(3);
    });

    it.each([
      ['spans', "name = 'secret'"],
      ['spans', `trace_id = '${traceId(2)}'`],
      ['spans', 'team_id is null'],
      ['traces', `trace_id = '${traceId(2)}'`],
      ['traces', 'span_count = 3'],
    ])('reveal no other rows of %s through a failure where %s', async (view, condition) => {
      // ClickHouse has no overflow of `abs`.
      const failing = isClickHouse
        ? `cast(case when ${condition} then 'x' else '1' end as int)`
        : `abs(case when ${condition} then -9223372036854775807 - 1 else 1 end)`;
      const sql = `select count(*) as n from ${view} where ${failing} > 0`;
      await expect(run(ALL, sql)).rejects.toMatchObject({ name: 'InvalidInput' });
      const n = view === 'spans' ? 2 : 1;
      expect(await counts(TEAM, sql)).toEqual([n]);
      // The column before `=` or `is` needs the alias of its table in a join.
      const qualified = failing.replaceAll(/(name|trace_id|team_id|span_count) (?=[=i])/g, 'a.$1 ');
      const joined = `select count(*) as n from ${view} a join traces b on a.trace_id = b.trace_id and ${qualified} > 0`;
      expect(await counts(TEAM, joined)).toEqual([n]);
    });

    it('end at the limit of time and at the limit of rows', async () => {
      const bomb = `select count(*) as n from ${joinOfSpans(24)}`;
      const began = performance.now();
      const context = { visibility: ALL, owner: 'one', signal: AbortSignal.timeout(60_000) };
      await expect(briefQueries.run(context, bomb)).rejects.toMatchObject({ name: 'Unavailable' });
      expect(performance.now() - began).toBeGreaterThan(BRIEF_MS * 0.9);
      expect(performance.now() - began).toBeLessThan(BRIEF_MS * 12);
      const many = `select a0.trace_id from ${joinOfSpans(5)}`;
      const cut = await run(ALL, many);
      expect([cut.rows.length, cut.truncated]).toEqual([QUERY_LIMITS.rows, true]);
      const all = await run(ALL, `select * from (${many}) as q limit ${QUERY_LIMITS.rows}`);
      expect([all.rows.length, all.truncated]).toEqual([QUERY_LIMITS.rows, false]);
    });

    it('end at the limit of characters, with bounded memory in this process', async () => {
      // On ClickHouse, the gateway names the whole result `query`. A column of that name counts, too.
      const columns = Array.from({ length: 100 }, (_, nth) => `s as ${nth === 0 ? 'query' : `s${nth}`}`).join(', ');
      const large = `with a as (select '${'x'.repeat(QUERY_LIMITS.text / 2)}' as s) select ${columns} from
        ${['a', 'spans b', 'spans c', 'spans d', 'spans e'].join(' cross join ')}`;
      const before = process.memoryUsage().rss;
      await expect(run(ALL, large)).rejects.toMatchObject({
        name: 'Unavailable',
        message: 'Trace SQL query failed or exceeded reader limits',
      });
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    });

    it.runIf(isClickHouse)('queries of spend alone run in the SQL database beside ClickHouse', async () => {
      expect(await counts(ALL, 'select count(*) as n from spend')).toEqual([0]);
      await expect(run(ALL, 'select 1 from spend a join traces b on a.trace_id = b.trace_id')).rejects.toMatchObject({
        name: 'InvalidInput',
        message: 'Invalid trace query: spend is in another database than spans and traces.',
      });
    });

    it('queries of one owner run one at a time, and at most one waits', async () => {
      const ended = await Promise.allSettled(Array.from({ length: 4 }, () => run(ALL, 'select 1 as one')));
      expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    });

    it('queries of another owner run while one owner keeps its slot', async () => {
      const bomb = `select count(*) as n from ${joinOfSpans(24)}`;
      /** Names in the order in which queries end: by a result, or at this deadline. */
      const endedWith = async (traceQueryMs: number): Promise<readonly string[]> => {
        const { traceQueries } = await scratch.open({ traceQueryMs });
        const ended: string[] = [];
        const signal = AbortSignal.timeout(180_000);
        const context = { visibility: ALL, owner: 'one', signal };
        const greedy = [1, 2].map(() => traceQueries.run(context, bomb).catch(() => ended.push('greedy')));
        await traceQueries.run({ visibility: TEAM, owner: 'other', signal }, 'select 1 as one').then(
          () => ended.push('other'),
          () => ended.push('other is late'),
        );
        await Promise.all(greedy);
        return ended;
      };
      // On a busy machine a short query may take longer than the first deadlines.
      let ended: readonly string[] = [];
      for (const deadlineMs of [BRIEF_MS, 10_000, 40_000]) {
        ended = await endedWith(deadlineMs);
        if (ended[0] === 'other') break;
      }
      expect(ended).toEqual(['other', 'greedy', 'greedy']);
    });

    it('describe their columns', async () => {
      const columns = await queries.columns();
      expect(columns).toContainEqual({ table: 'traces', name: 'trace_id', type: expect.any(String) });
      expect(new Set(columns.map(({ table }) => table))).toEqual(new Set(['spans', 'traces', 'spend']));
    });
  });
