import { describe, expect, it } from 'vitest';
import { guardedQuery } from '../../../src/domain/traces/query-guard.ts';
import { assertNoRows } from '../../../src/domain/traces/query-growth.ts';
import { tokensOf } from '../../../src/domain/traces/query-tokens.ts';

/** The reason of a refusal; null for a query that passes both checks. */
function refusalOf(sql: string): string | null {
  try {
    guardedQuery(sql);
    assertNoRows(tokensOf(sql));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.replace('Invalid trace query: ', '') : 'none';
  }
}

const REPLACE = 'replace needs two texts, and the second must not be longer than the first.';
const ROWS = 'rows as values are not supported.';
const table = (name: string): string =>
  `${name} is the name of a table here. Name the column or the table differently.`;

describe('a query whose values may grow is refused', () => {
  it.each([
    ["select replace('a', 'a', 'bb')", REPLACE],
    ["select replace(replace('a', 'a', 'bb'), 'b', 'aa')", REPLACE],
    ["select replace(name, 'a', name) from spans", REPLACE],
    ["select replace(name, name, 'a') from spans", REPLACE],
    ["select replace(name, 'aa', 'b' || 'b') from spans", REPLACE],
    ["select replace(name, '', 'a') from spans", REPLACE],
    ["select to_char(1, to_char(2, 'RN'))", 'the format of to_char must be a text.'],
    [`select ${'name || '.repeat(11)} name from spans`, 'it has more than 10 times ||.'],
    ['select cast(spans as varchar) from spans', table('spans')],
    ['select s::text from spans as s', table('s')],
    ['select S::text from spans "s"', table('s')],
    ['select coalesce(q, q)::text from (select 1 as a) q', table('q')],
    ['select case when true then q end::text from (select 1 as a) as q', table('q')],
    ['with a as materialized (select 1 as x) select max(a)::text from a', table('a')],
    ['select b::text from traces a left join (spans b join spend c on true) on true', table('b')],
    ['select c::text from traces a, spans b join spend d on b.a = a.a, spend c', table('c')],
    ["select '' || q from (select 1 as a) q", table('q')],
    ['select 1 from spans q where q::text is distinct from name', table('q')],
    ['select trim(from a::text) from spans a', table('a')],
    ['select trim(both from a::text) from spans a', table('a')],
    ['select percentile_disc(0.5) within group (order by a::text) from spans a', table('a')],
    ['select distinct on (1) a::text z from spans a', table('a')],
    ['select count(*) a from spans a', table('a')],
    ['select percentile_disc(0.5) within group (order by a) from spans a', table('a')],
    ['select count(*) as a from spans a order by a::text', table('a')],
    ['select (select max(x) from (select 1 as x) q order by q || 1) from spans', table('q')],
    ['select (s.*)::text from spans s', ROWS],
    ['select s.*::text from spans s', ROWS],
    ['select count(s.*) from spans s', ROWS],
    ['select (name, name)::text from spans', ROWS],
    ['select max((name, kind)) from spans', ROWS],
  ])('%s', (sql, reason) => {
    expect(refusalOf(sql)).toBe(reason);
  });
});

it.each([
  "select replace(replace(name, '-', ''), 'aa', 'b') as n from spans",
  "select replace(name, '''', '\"') from spans",
  "select to_char(start_time, 'YYYY-MM-DD') as day, count(*) from traces group by day",
  "select provider || '/' || model from spend",
  'select s.*, t.name from spans s join traces t using (trace_id, team_id) where (s.name, s.kind) in (select name, kind from spans)',
  'select trace_id from spans join traces using (trace_id)',
  'select count(*) as traces, model from traces group by model order by traces desc',
  'select sum(n) over (partition by a, b order by c) from (select 1 as n, 2 as a, 3 as b, 4 as c) q',
  'select m, count(*) from traces, jsonb_array_elements_text(cast(models as jsonb)) as m group by m',
  'select j.value from traces, json_each(models) j',
  "select extract(hour from start_time) h, cast(cost_usd as numeric(10, 2)) from spend where name is distinct from 'a'",
  'with a as (select trace_id from spans), b as not materialized (select trace_id from a) select a.trace_id from a, b',
  'select (select max(s.name) from spans s) as latest from traces t where exists (select 1 from spans where kind = 1)',
  'select q.n from (select count(*) as n from spans) q group by (q.n, q.n)',
])('a query of plain values passes: %s', (sql) => {
  expect(refusalOf(sql)).toBeNull();
});
