import {
  annotateTrace,
  type AnnotationList,
  deleteAnnotation,
  findAnnotation,
  listAnnotations,
} from '../resolvers/annotations.ts';
import type { Loaders } from '../resolvers/operation/loaders.ts';
import type { AnnotationConditions } from '../src/domain/annotations/annotation-conditions.ts';
import {
  type Annotation,
  MAX_ANNOTATIONS,
  MAX_LABEL_LENGTH,
  MAX_NAME_LENGTH,
  MAX_NOTE_LENGTH,
  ANNOTATION_PAGE_SIZE,
} from '../src/domain/annotations/annotation.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { findSpanNode, findTraceNode } from '../resolvers/nodes.ts';
import type { TraceIdentity } from '../src/domain/traces/trace.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { COUNT_COST } from './base/limits.ts';
import { type Connection, edgesOf, forwardPage } from './base/paging.ts';
import { nodesOf } from './base/node-loading.ts';
import { creationOrder } from './base/order.ts';
import { readCreationCursor } from './base/row-pages.ts';
import { AnnotationType, partsOf, SpanType, TraceType } from './base/refs.ts';
import { TRACE_ID, traceAddressOf } from './base/trace-address.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

const AnnotatorKindType = builder.enumType('AnnotatorKind', {
  description: 'Kind of the author of an annotation.',
  values: {
    HUMAN: { value: 'human', description: 'A person.' },
    CODE: { value: 'code', description: 'A program.' },
    LLM: { value: 'llm', description: 'A model.' },
  } as const,
});

builder.node(AnnotationType, {
  description:
    'A label, score or note on a trace or a span. An author has at most one annotation with the same name on the same trace or span.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findAnnotation(scope, { id })),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What is judged, e.g. `helpfulness`.' }),
    annotatorKind: t.expose('annotator', { type: AnnotatorKindType, description: 'Kind of the author.' }),
    label: t.exposeString('label', { nullable: true, description: 'Label. Null without one.' }),
    score: t.exposeFloat('score', {
      nullable: true,
      description: 'Score, on a scale of its author. Null without one.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'Note. Null without one.' }),
    author: t.exposeID('createdBy', {
      description:
        'User of the key that wrote the annotation, else the hash of that key. A sender of feedback may name another author.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first written.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last written.' }),
    traceId: t.exposeID('traceId', { description: 'Trace id of the annotated trace.' }),
    spanId: t.id({
      nullable: true,
      description: 'Span id of the annotated span. Null for the trace as a whole.',
      resolve: ({ spanId }) => nullIfBlank(spanId),
    }),
    trace: t.field({
      type: TraceType,
      nullable: true,
      description: 'The annotated trace. Null when it was removed.',
      resolve: async ({ traceId, traceRef }, _args, { scope }) => findTraceNode(scope, `${traceId}:${traceRef}`),
    }),
    span: t.field({
      type: SpanType,
      nullable: true,
      description: 'The annotated span. Null for the trace as a whole, and when it was removed.',
      resolve: async ({ traceId, traceRef, spanId }, _args, { scope }) =>
        spanId === '' ? null : findSpanNode(scope, `${traceId}:${spanId}:${traceRef}`),
    }),
  }),
});

/** Annotations of the parts of a trace: the stored traces that the trace is merged from. */
const annotationsOfParts = async (parts: readonly TraceIdentity[], { loaders }: { readonly loaders: Loaders }) =>
  (await Promise.all(parts.map((part) => loaders.annotationsByTrace.load(part)))).flat();

builder.objectField(TraceType, 'annotations', (t) =>
  t.field({
    type: [AnnotationType],
    description: `Annotations of the trace and of its spans, at most ${MAX_ANNOTATIONS} for each owner of the trace. Those of one owner are in order of time, the oldest first.`,
    resolve: async (trace, _args, { scope }) => [...(await annotationsOfParts(partsOf(trace), scope))],
  }),
);

builder.objectField(SpanType, 'annotations', (t) =>
  t.field({
    type: [AnnotationType],
    description: 'Annotations of the span, the oldest first.',
    resolve: async ({ within, traceRef, spanId }, _args, { scope }) => {
      const partsWithSpan = within.filter((part) => part.traceRef === traceRef);
      const annotations = await annotationsOfParts(partsWithSpan, scope);
      return annotations.filter((annotation) => annotation.spanId === spanId);
    },
  }),
);

const AnnotateInput = builder.inputType('AnnotateTraceInput', {
  description: 'The trace or span, and its annotation: at least one of label, score and note.',
  fields: (t) => ({
    traceId: t.id({ required: true, description: TRACE_ID }),
    traceRef: t.id({ description: 'Ref of one trace. Required when several keys sent the trace id.' }),
    spanId: t.id({ description: 'Span id, 16 hex digits. The trace as a whole when absent.' }),
    name: t.string({ required: true, description: `What is judged, 1 to ${MAX_NAME_LENGTH} characters.` }),
    annotatorKind: t.field({
      type: AnnotatorKindType,
      required: true,
      defaultValue: 'human',
      description: 'Kind of the author.',
    }),
    label: t.string({ description: `Label, at most ${MAX_LABEL_LENGTH} characters.` }),
    score: t.float({ description: 'Score, on any scale.' }),
    note: t.string({ description: `Note, at most ${MAX_NOTE_LENGTH} characters.` }),
  }),
});

const DeleteInput = builder.inputType('DeleteAnnotationInput', {
  description: 'The annotation to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Global id of the annotation.' }) }),
});

builder.mutationFields((t) => ({
  annotateTrace: t.field({
    type: AnnotationType,
    description:
      'Annotates a trace or span. Replaces an earlier annotation with the same author and name on the same trace or span. ' +
      'For every key that is not read-only, on traces that it may read.',
    args: { input: t.arg({ type: AnnotateInput, required: true, description: 'The annotation.' }) },
    errors: {
      types: [NotFound, InvalidInput, Conflict],
      union: { name: 'AnnotateTraceResult', description: 'The annotation, or why there is none.' },
    },
    resolve: (_root, { input }, { scope }) =>
      annotateTrace(scope, {
        trace: traceAddressOf(input.traceId, nullIfBlank(input.traceRef)),
        spanId: nullIfBlank(input.spanId),
        name: input.name,
        annotator: input.annotatorKind,
        label: input.label ?? null,
        score: input.score ?? null,
        note: input.note ?? null,
      }),
  }),
  deleteAnnotation: t.field({
    type: AnnotationType,
    description: 'Deletes an annotation. For its author and for proxy administrators.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The annotation.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteAnnotationResult', description: 'The deleted annotation, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteAnnotation(scope, { id: localId('Annotation', input.id) }),
  }),
}));

export const AnnotationFilterType = builder.inputType('AnnotationFilter', {
  description: 'Filter of annotations. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    traceId: t.id({ description: 'Global id of the trace, or its trace id, 32 hex digits.' }),
    spanId: t.id({ description: 'Global id of the span, or its span id, 16 hex digits.' }),
    name: t.string({ description: 'Exact name.' }),
    annotatorKind: t.field({ type: AnnotatorKindType, description: 'Kind of the author.' }),
    label: t.string({ description: 'Exact label.' }),
    author: t.id({
      description: 'Author: a user by global id or local id, or a key without a user by global id or hash.',
    }),
    minScore: t.float({ description: 'Minimum score. Annotations without a score do not match.' }),
    maxScore: t.float({ description: 'Maximum score. Annotations without a score do not match.' }),
    from: t.field({ type: 'DateTime', description: 'First written at this time or later.' }),
    to: t.field({ type: 'DateTime', description: 'First written before this time.' }),
  }),
});

const cursorOf = ({ createdAt, id }: Annotation): string =>
  Buffer.from(`${createdAt.getTime()}:${id}`).toString('base64url');

/** Creation time and id of the annotation of a cursor. Throws InvalidInput for a malformed cursor. */
function readCursor(cursor: string): Pick<Annotation, 'createdAt' | 'id'> {
  const place = readCreationCursor(cursor);
  if (!/^[\w-]{1,64}$/.test(place.id)) throw new InvalidInput('Invalid cursor.');
  return place;
}

/** The span id of a filter, which takes a span id or a global id. Null when absent or blank. */
const spanIdOf = (text: string | null | undefined): string | null => {
  const local = nullIfBlank(localId('Span', text));
  const isGlobalId = local !== text;
  // The local id in a global id has the form `trace:span:ref`.
  return isGlobalId ? (local?.split(':')[1] ?? local) : local;
};

export function conditionsOf(input: typeof AnnotationFilterType.$inferInput | null | undefined): AnnotationConditions {
  return {
    traceId: nullIfBlank(localId('Trace', input?.traceId)?.split(':')[0]),
    spanId: spanIdOf(input?.spanId),
    name: nullIfBlank(input?.name),
    annotator: input?.annotatorKind ?? null,
    label: nullIfBlank(input?.label),
    author: nullIfBlank(localId('User', localId('VirtualKey', input?.author))),
    minScore: input?.minScore ?? null,
    maxScore: input?.maxScore ?? null,
    from: input?.from ?? null,
    to: input?.to ?? null,
  };
}

interface AnnotationConnection extends Connection<Annotation> {
  readonly count: AnnotationList['count'];
}

const AnnotationConnectionType = builder.connectionObject(
  {
    type: AnnotationType,
    name: 'AnnotationConnection',
    description: 'One page of annotations.',
    fields: (t) => ({
      totalCount: t.int({
        complexity: COUNT_COST,
        description: 'Number of annotations that match the filter, on all pages.',
        resolve: (connection) => (connection as AnnotationConnection).count(),
      }),
    }),
  },
  { name: 'AnnotationEdge', description: 'One annotation of a page.' },
);

const AnnotationOrderType = creationOrder('Annotation', 'annotations');

builder.queryField('annotations', (t) =>
  t.field({
    type: AnnotationConnectionType,
    description: `Annotations of traces that the caller may read, newest first by default. At most ${ANNOTATION_PAGE_SIZE} a page.`,
    complexity: ({ first }) => ({
      field: 1,
      multiplier: Math.max(0, Math.min(first ?? ANNOTATION_PAGE_SIZE, ANNOTATION_PAGE_SIZE)),
    }),
    args: {
      filter: t.arg({ type: AnnotationFilterType, description: 'All annotations when absent.' }),
      orderBy: t.arg({ type: AnnotationOrderType, description: 'Newest first when absent.' }),
      first: t.arg.int({
        description: `Page size, 1 to ${ANNOTATION_PAGE_SIZE}; ${ANNOTATION_PAGE_SIZE} when absent.`,
      }),
      after: t.arg.string({ description: 'Returns annotations after this cursor.' }),
    },
    resolve: async (_root, { filter, orderBy, first, after }, { scope }) => {
      const { items, hasMore, count } = await listAnnotations(scope, {
        filter: conditionsOf(filter),
        descending: orderBy?.direction !== 'ascending',
        limit: checkedPageSize(first ?? ANNOTATION_PAGE_SIZE, { max: ANNOTATION_PAGE_SIZE }),
        after: after === null || after === undefined ? null : readCursor(after),
      });
      const hasPreviousPage = typeof after === 'string';
      const page = forwardPage(edgesOf(items, cursorOf), { hasNextPage: hasMore, hasPreviousPage });
      return { ...page, count };
    },
  }),
);
