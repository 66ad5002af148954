import {
  countFindingsOfTrace,
  getExecutionContent,
  listLensAgents,
  readSamplePreview,
} from '../resolvers/lens-activity.ts';
import { readLensService, type LensService } from '../resolvers/lens-service.ts';
import { findTraceNode } from '../resolvers/nodes.ts';
import type { ContentPage, ContentPart } from '../src/domain/lens/content.ts';
import { type Execution, readExecutionId, type Sample } from '../src/domain/lens/execution.ts';
import { WORKER_PROTOCOL } from '../src/domain/lens/worker.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { VERSION } from '../src/domain/version.ts';
import { traceIdOfRun } from '../src/domain/lens/lens.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { LENS_ID, SelectionInput, selectionFrom } from './base/lens-settings.ts';
import { EvidenceType, ExecutionType, LensReviewType, LensRunType } from './lens-types.ts';
import { CONTENT_COST } from './base/limits.ts';
import { partsOf, TraceType } from './base/refs.ts';

/** Cost of a field that reads one row of the store. */
const ROW_COST = 10;
/** Executions of one page of a preview. */
const PREVIEW_PAGE = 100;
/** Parts of one page of content. */
const CONTENT_PAGE = 40;

const PreviewType = builder.objectRef<Sample>('LensSamplePreview').implement({
  description: 'Preview of the executions that a lens with this selection would review now.',
  fields: (t) => ({
    eligible: t.exposeInt('eligible', { description: 'Executions of the window that match the selection.' }),
    selected: t.exposeInt('selected', { description: 'Executions that a run would review.' }),
    executions: t.field({
      type: [ExecutionType],
      complexity: { field: 1, multiplier: PREVIEW_PAGE },
      description: 'One page of the eligible executions, in the order in which a run selects them; at most 100.',
      resolve: ({ executions }) => [...executions],
    }),
    nextOffset: t.exposeInt('nextOffset', {
      nullable: true,
      description: '`offset` of the next page. Null on the last one.',
    }),
  }),
});

const PreviewInput = builder.inputType('LensSamplePreviewInput', {
  description: 'A selection, and the window that it is applied to.',
  fields: (t) => ({
    selection: t.field({ type: SelectionInput, description: 'All executions when absent.' }),
    lookbackHours: t.int({
      required: true,
      defaultValue: 24,
      description: 'Length of the window in hours, at least 1.',
    }),
    offset: t.int({ required: true, defaultValue: 0, description: 'Number of executions to skip.' }),
    asOf: t.field({
      type: 'DateTime',
      description: 'End of the window. The current time when absent, or when it is in the future.',
    }),
  }),
});

const PartType = builder.objectRef<ContentPart>('LensContentPart').implement({
  description: 'Text of one span, as reviewers read it.',
  fields: (t) => ({
    spanId: t.exposeID('spanId', { description: 'The span.' }),
    parentSpanId: t.exposeID('parentSpanId', { nullable: true, description: 'Its parent. Null for a root.' }),
    name: t.string({
      nullable: true,
      description: 'Name of the span. Null without one.',
      resolve: ({ name }) => nullIfEmpty(name),
    }),
    kind: t.exposeString('kind', { description: 'Type of the span.' }),
    content: t.exposeString('content', { description: 'At most 8,000 characters, from `offset` on.' }),
    truncated: t.exposeBoolean('truncated', { description: 'Whether text follows after `content`.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When the span began.',
      resolve: ({ startTime }) => new Date(startTime),
    }),
  }),
});

const ContentType = builder
  .objectRef<ContentPage & { readonly execution: Execution }>('LensExecutionContent')
  .implement({
    description: 'A page of the content of an execution.',
    fields: (t) => ({
      execution: t.expose('execution', { type: ExecutionType, description: 'The execution.' }),
      parts: t.field({
        type: [PartType],
        complexity: { field: 1, multiplier: CONTENT_PAGE },
        description: 'Texts of its spans, by start; at most 40.',
        resolve: ({ parts }) => [...parts],
      }),
      nextCursor: t.exposeString('nextCursor', {
        nullable: true,
        description: '`after` of the next page. Null on the last one.',
      }),
    }),
  });

const ServiceType = builder.objectRef<LensService>('LensService').implement({
  description: 'Destination of traces: this process.',
  fields: (t) => ({
    url: t.string({
      nullable: true,
      description: 'Base address of `/v1/traces`. Null when it is not known.',
      resolve: ({ url }) => nullIfEmpty(url),
    }),
    storageReady: t.exposeBoolean('storageReady', { description: 'Whether traces can be stored now.' }),
    release: t.string({ description: 'Version of the server.', resolve: () => VERSION }),
    workerProtocol: t.int({ description: 'Version of the protocol of workers.', resolve: () => WORKER_PROTOCOL }),
  }),
});

builder.queryFields((t) => ({
  lensSamplePreview: t.field({
    type: PreviewType,
    nullable: true,
    complexity: CONTENT_COST,
    description:
      'What a lens would review, without a model call. Expensive: reads all traces of the window. For proxy administrators with full or read-only access.',
    args: { input: t.arg({ type: PreviewInput, required: true, description: 'Selection and window.' }) },
    resolve: (_root, { input: { selection, lookbackHours, offset, asOf } }, { scope }) =>
      readSamplePreview(scope, {
        selection: selectionFrom(selection ?? {}),
        lookbackHours,
        offset,
        asOf: asOf ?? null,
      }),
  }),
  lensExecution: t.field({
    type: ContentType,
    nullable: true,
    complexity: CONTENT_COST,
    description:
      'Content of an execution, for the evidence of findings. For proxy administrators with full or read-only access.',
    args: {
      lensId: t.arg.id({ required: true, description: LENS_ID }),
      executionId: t.arg.id({ required: true, description: 'Id of the execution.' }),
      after: t.arg.string({ description: '`nextCursor` of the page before.' }),
      offset: t.arg.int({ defaultValue: 0, description: 'Number of characters of each text to skip, 0 or more.' }),
    },
    resolve: (_root, { lensId, executionId, after, offset }, { scope }) =>
      getExecutionContent(scope, {
        id: localId('Lens', lensId),
        executionId,
        cursor: after ?? null,
        offset: Math.max(0, offset ?? 0),
      }),
  }),
  lensAgents: t.field({
    type: ['String'],
    nullable: true,
    description:
      'Names of the agents of the last 14 days, sorted; at most 500. For proxy administrators with full or read-only access.',
    resolve: async (_root, _args, { scope }) => [...(await listLensAgents(scope, undefined))],
  }),
  lensService: t.field({
    type: ServiceType,
    nullable: true,
    description: 'Destination of traces. For every key.',
    resolve: (_root, _args, { scope }) => readLensService(scope, undefined),
  }),
}));

const traceEdge = (description: string) =>
  ({ type: TraceType, nullable: true, description, complexity: ROW_COST }) as const;
const REMOVED = 'Null when the trace was removed.';

builder.objectField(ExecutionType, 'trace', (t) =>
  t.field({
    ...traceEdge(`Its trace. ${REMOVED}`),
    resolve: ({ traceId, traceRef }, _args, { scope }) => findTraceNode(scope, `${traceId}:${traceRef}`),
  }),
);
builder.objectField(EvidenceType, 'trace', (t) =>
  t.field({
    ...traceEdge(`Trace of the execution. ${REMOVED}`),
    resolve: ({ executionId }, _args, { scope }) => findTraceNode(scope, traceNodeId(executionId)),
  }),
);
builder.objectField(LensReviewType, 'trace', (t) =>
  t.field({
    ...traceEdge(`The reviewed trace. ${REMOVED}`),
    resolve: ({ executionId }, _args, { scope }) => findTraceNode(scope, traceNodeId(executionId)),
  }),
);
builder.objectField(LensRunType, 'callsTrace', (t) =>
  t.field({
    ...traceEdge(
      'The trace of the model calls of the run, with their cost. Null before the first call, and when the trace was removed.',
    ),
    resolve: ({ id }, _args, { scope }) => findTraceNode(scope, traceIdOfRun(id)),
  }),
);

/** Local id of the trace of an execution; empty when the execution id names no trace. */
function traceNodeId(executionId: string): string {
  const address = readExecutionId(executionId);
  if (address === null) return '';
  const { traceId, traceRef } = address;
  return traceRef === '' ? traceId : `${traceId}:${traceRef}`;
}

builder.objectField(TraceType, 'findingCount', (t) =>
  t.int({
    nullable: true,
    complexity: ROW_COST,
    description:
      'Number of open findings about the trace. Null when no open finding names the trace and none of the latest runs of lenses assessed it. For proxy administrators with full or read-only access.',
    resolve: (trace, _args, { scope }) => countFindingsOfTrace(scope, partsOf(trace)),
  }),
);
