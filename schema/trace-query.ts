import { readFirstTraceQuery, readQueryHelp, type QueryHelp } from '../resolvers/trace-query.ts';
import { InvalidInput, Unavailable } from '../src/domain/errors.ts';
import {
  type AnswerColumn,
  columnsOfRows,
  QUERY_LIMITS,
  type QueryRows,
  type ValueType,
} from '../src/domain/traces/trace-query.ts';
import { builder } from './base/builder.ts';
import { described } from './base/descriptions.ts';

/** Cost of a query, which reads rows until a limit. */
const QUERY_COST = { field: 200, multiplier: 1 } as const;

const ValueTypeType = builder.enumType('TraceQueryValueType', {
  description: 'Type of the values of a column.',
  values: described<ValueType>({
    integer: 'Integers.',
    number: 'Numbers.',
    text: 'Text. Times, exact decimals and large integers are text.',
    boolean: 'Booleans.',
    json: 'Objects, lists, or values of different types.',
    null: 'Nulls only.',
  }),
});

const AnswerColumnType = builder.objectRef<AnswerColumn>('TraceQueryColumn').implement({
  description: 'A column of the answer of a query.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.expose('type', { type: ValueTypeType, description: 'Type of its values that are not null.' }),
  }),
});

const RowsType = builder.objectRef<QueryRows>('TraceQueryRows').implement({
  description: 'Rows of a query.',
  fields: (t) => ({
    columns: t.field({
      type: [AnswerColumnType],
      description: 'Its columns, in the order of the query. Empty without a row.',
      resolve: ({ rows }) => [...columnsOfRows(rows)],
    }),
    rows: t.field({
      type: 'JSON',
      description: 'List of the rows: objects with the values by the name of their column.',
      resolve: ({ rows }) => rows,
    }),
    rowCount: t.int({ description: 'Number of `rows`.', resolve: ({ rows }) => rows.length }),
    truncated: t.exposeBoolean('truncated', { description: 'Whether the query has more rows.' }),
  }),
});

const ViewColumnType = builder
  .objectRef<{ readonly name: string; readonly type: string }>('TraceViewColumn')
  .implement({
    description: 'A column of a view.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Its name.' }),
      type: t.exposeString('type', { description: 'Its type in the database.' }),
    }),
  });

const ViewType = builder.objectRef<QueryHelp['tables'][number]>('TraceView').implement({
  description: 'A view that queries read.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    columns: t.field({
      type: [ViewColumnType],
      description: 'Its columns.',
      resolve: ({ columns }) => [...columns],
    }),
  }),
});

const ExampleType = builder.objectRef<QueryHelp['examples'][number]>('TraceQueryExample').implement({
  description: 'An example of a query.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it reads.' }),
    sql: t.exposeString('sql', { description: 'The query.' }),
  }),
});

const HelpType = builder.objectRef<QueryHelp>('TraceQueryHelp').implement({
  description: 'What queries of traces may contain.',
  fields: (t) => ({
    dialect: t.exposeString('dialect', { description: 'SQL dialect: `sqlite`, `postgresql` or `clickhouse`.' }),
    access: t.exposeString('access', { description: 'Which rows a caller sees.' }),
    guide: t.exposeString('guide', { description: 'Form of a query.' }),
    mostRows: t.int({ description: 'Maximum number of rows of an answer.', resolve: () => QUERY_LIMITS.rows }),
    mostMilliseconds: t.int({
      description: 'Deadline of a query, in milliseconds.',
      resolve: () => QUERY_LIMITS.timeMs,
    }),
    views: t.field({ type: [ViewType], description: 'The views.', resolve: ({ tables }) => [...tables] }),
    examples: t.field({ type: [ExampleType], description: 'Examples.', resolve: ({ examples }) => [...examples] }),
    notes: t.stringList({ description: 'Common mistakes in queries.', resolve: ({ gotchas }) => [...gotchas] }),
  }),
});

builder.queryFields((t) => ({
  traceQuery: t.field({
    type: RowsType,
    complexity: QUERY_COST,
    description:
      'Runs one SELECT over the views of spans, traces and spend, on rows that the caller may read. The same as ' +
      '`POST /v1/traces/query`. One query per user runs at a time; for keys without a user, one per team or key. See ' +
      '`traceQueryHelp`.',
    args: {
      sql: t.arg.string({ required: true, description: 'The query, without comments.' }),
      first: t.arg.int({ description: 'Maximum number of rows to return, 1 to 1,000; 1,000 when absent.' }),
    },
    errors: {
      types: [InvalidInput, Unavailable],
      union: { name: 'TraceQueryResult', description: 'The rows, or why there are none.' },
    },
    resolve: (_root, { sql, first }, { scope }) =>
      readFirstTraceQuery(scope, { sql, maxRows: first ?? QUERY_LIMITS.rows }),
  }),
  traceQueryHelp: t.field({
    type: HelpType,
    nullable: true,
    description: 'Views, limits and examples of `traceQuery`.',
    resolve: (_root, _args, { scope }) => readQueryHelp(scope, undefined),
  }),
}));
