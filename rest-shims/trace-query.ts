import { readTraceQuery, readQueryHelp } from '../resolvers/trace-query.ts';
import { bodyOf, modelOf, required, textOf } from './helpers/http/strict-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { LENS_CHANGE, LENS_READ } from './helpers/http/row-facts.ts';

const readQuery = bodyOf(modelOf({ sql: required(textOf({ min: 1 })) }));

/** SQL over the views of traces and spend. */
export const traceQueryRoutes: readonly RouteRow[] = [
  route({
    // A query changes nothing: here `LENS_CHANGE` stands for a POST with a body.
    ...LENS_CHANGE,
    name: 'traces.query',
    bodySchema: readQuery.schema,
    paths: ['/v1/traces/query'],
    bodyLimit: 256 * 1024,
    statuses: [200, 400, 401, 422, 503],
    parse: ({ body }) => readQuery(body),
    run: readTraceQuery,
    render: (data) => json({ data }),
  }),
  route({
    ...LENS_READ,
    name: 'traces.queryHelp',
    paths: ['/v1/traces/query/help'],
    statuses: [200, 401],
    parse: () => undefined,
    run: readQueryHelp,
    // Members that have no counterpart here are empty: clients of the reference expect them.
    render: (help) =>
      json({
        ...help,
        normalized_fields: [],
        metadata: {
          table: 'spans',
          column: '',
          fields: [],
          sampled_rows: 0,
          invalid_json_rows: 0,
          truncated: false,
          sample_sql: '',
          scope: help.access,
        },
        attributes: [],
        relationships: [
          {
            left: 'spans.trace_id',
            right: 'traces.trace_id',
            additional_predicates: ['spans.key_hash = traces.key_hash'],
            meaning: 'The trace of a span.',
          },
          {
            left: 'spend.span_id',
            right: 'spans.span_id',
            additional_predicates: ['spend.trace_id = spans.trace_id'],
            meaning: 'The call that a span of the gateway records.',
          },
        ],
      }),
  }),
];
