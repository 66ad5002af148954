import { deleteTrace, redactTrace, type RemovedTraces } from '../resolvers/trace-removal.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { builder } from './base/builder.ts';
import { type PartialTrace, TraceType } from './base/refs.ts';
import { TRACE_ID, traceAddressOf } from './base/trace-address.ts';

const REF_OR_ALL_TRACES = 'Ref of one trace, for a trace id that several keys sent. All traces of the id when absent.';

const CALLERS = 'Proxy administrators may run it. So may the key that sent the trace, unless the key is read-only.';

const DeletedTraceType = builder.objectRef<RemovedTraces>('DeletedTrace').implement({
  description: 'A deleted trace.',
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'Its trace id.' }),
    traceCount: t.exposeInt('traces', { description: 'Number of deleted traces: several keys may have sent the id.' }),
  }),
});

const RedactedTraceType = builder.objectRef<readonly TraceSummary[]>('RedactedTrace').implement({
  description: 'A redacted trace.',
  fields: (t) => ({
    traces: t.field({
      type: [TraceType],
      description: 'The redacted traces: several keys may have sent the id.',
      resolve: (summaries) => summaries.map((summary): PartialTrace => ({ summary })),
    }),
  }),
});

const DeleteInput = builder.inputType('DeleteTraceInput', {
  description: 'The trace to delete.',
  fields: (t) => ({
    id: t.id({ required: true, description: TRACE_ID }),
    traceRef: t.id({ description: REF_OR_ALL_TRACES }),
  }),
});

const RedactInput = builder.inputType('RedactTraceInput', {
  description: 'The trace to redact.',
  fields: (t) => ({
    id: t.id({ required: true, description: TRACE_ID }),
    traceRef: t.id({ description: REF_OR_ALL_TRACES }),
  }),
});

builder.mutationFields((t) => ({
  deleteTrace: t.field({
    type: DeletedTraceType,
    description:
      'Deletes a trace and its annotations permanently. Spend rows of its calls are not deleted, but lose their error messages. ' +
      CALLERS,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The trace.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteTraceResult', description: 'The deleted trace, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteTrace(scope, traceAddressOf(input.id, input.traceRef)),
  }),
  redactTrace: t.field({
    type: RedactedTraceType,
    description:
      'Removes the texts of a trace permanently: inputs, outputs, attributes, events, links, previews and error messages. ' +
      'Also removes its source, session, user and tags, and the labels and notes of annotations. Names, times, counts, ' +
      `costs and scores stay. ${CALLERS}`,
    args: { input: t.arg({ type: RedactInput, required: true, description: 'The trace.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'RedactTraceResult', description: 'The redacted trace, or why it was not redacted.' },
    },
    resolve: (_root, { input }, { scope }) => redactTrace(scope, traceAddressOf(input.id, input.traceRef)),
  }),
}));
