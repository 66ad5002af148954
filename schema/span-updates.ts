import { type SpanUpdate, watchSpans } from '../resolvers/spans.ts';
import { getSpan } from '../resolvers/traces.ts';
import { builder } from './base/builder.ts';
import { CONTENT_COST, LIST_LENGTH } from './base/limits.ts';
import { SpanType } from './base/refs.ts';
import { TRACE_ID, TRACE_REF, traceAddressOf } from './base/trace-address.ts';

builder.queryField('span', (t) =>
  t.field({
    type: SpanType,
    nullable: true,
    complexity: CONTENT_COST,
    description: 'One span. Fails with NOT_FOUND when there is none that the caller may read.',
    args: {
      traceId: t.arg.id({ required: true, description: TRACE_ID }),
      spanId: t.arg.id({ required: true, description: 'Span id, 16 hex digits.' }),
      traceRef: t.arg.id({ description: TRACE_REF }),
    },
    resolve: (_root, { traceId, spanId, traceRef }, { scope }) =>
      getSpan(scope, { ...traceAddressOf(traceId, traceRef), spanId }),
  }),
);

const SpanUpdateType = builder.objectRef<SpanUpdate>('SpanUpdate').implement({
  description: 'New spans of a trace.',
  fields: (t) => ({
    cursor: t.exposeString('id', { description: 'Position of this update. Pass it as `after` to resume.' }),
    spans: t.field({
      type: [SpanType],
      description: 'The spans, ordered by start, at most 500.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ spans }) => [...spans],
    }),
  }),
});

builder.subscriptionField('spanUpdates', (t) =>
  t.field({
    type: SpanUpdateType,
    description:
      'Spans of one trace as they are stored, from now on. Ends within seconds when the key may no longer read, and ' +
      'with CONFLICT when the key may still read, but with other rights.',
    args: {
      traceId: t.arg.id({ required: true, description: `${TRACE_ID} The trace need not exist yet.` }),
      after: t.arg.string({
        description:
          'Cursor of the last received update. If the trace has received spans since that update, all of its spans are sent again.',
      }),
    },
    subscribe: (_root, { traceId, after }, { scope }) =>
      watchSpans(scope, { traceId: traceAddressOf(traceId, null).traceId, after: after ?? null }),
    resolve: (update) => update,
  }),
);
