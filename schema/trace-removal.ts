import { deleteTrace, redactTrace, type RemovedTraces } from '../resolvers/trace-removal.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { builder } from './builder.ts';
import { type KnownOfTrace, TraceType } from './refs.ts';

const DeletedTraceType = builder.objectRef<RemovedTraces>('DeletedTrace').implement({
  description: 'A trace that is gone for good.',
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'Its trace id.' }),
    traces: t.exposeInt('traces', { description: 'How many traces of the id: several keys may have sent one.' }),
  }),
});

const RedactedTraceType = builder.objectRef<readonly TraceSummary[]>('RedactedTrace').implement({
  description: 'A trace whose texts were taken out for good.',
  fields: (t) => ({
    traces: t.field({
      type: [TraceType],
      description: 'The traces of the id as they are now: several keys may have sent one.',
      resolve: (summaries) => summaries.map((summary): KnownOfTrace => ({ summary })),
    }),
  }),
});

builder.mutationFields((t) => ({
  deleteTrace: t.field({
    type: DeletedTraceType,
    description:
      'Removes a trace for good. For the key that sent it and for proxy administrators. What its calls cost stays in the books.',
    args: {
      id: t.arg.id({ required: true, description: 'Its trace id.' }),
      ref: t.arg.id({
        description: 'Its trace ref, when it came from a list; every visible trace of the id when absent.',
      }),
    },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteTraceResult', description: 'What is gone, or why nothing is.' },
    },
    resolve: (_root, { id, ref }, { scope }) => deleteTrace(scope, { traceId: id, traceRef: ref ?? null }),
  }),
  redactTrace: t.field({
    type: RedactedTraceType,
    description:
      'Takes out of a trace all that was said in it, for good: inputs, outputs, attributes, events, links, previews and error texts. Names, times, counts and costs stay. For the key that sent it and for proxy administrators.',
    args: {
      id: t.arg.id({ required: true, description: 'Its trace id.' }),
      ref: t.arg.id({
        description: 'Its trace ref, when it came from a list; every visible trace of the id when absent.',
      }),
    },
    errors: {
      types: [NotFound],
      union: { name: 'RedactTraceResult', description: 'What is left, or why nothing was done.' },
    },
    resolve: async (_root, { id, ref }, { scope }) => [
      ...(await redactTrace(scope, { traceId: id, traceRef: ref ?? null })),
    ],
  }),
}));
