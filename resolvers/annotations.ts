import type { AnnotationConditions } from '../src/domain/annotations/annotation-conditions.ts';
import {
  ALL_ANNOTATIONS,
  type Annotation,
  type Judgement,
  ownerOfAnnotation,
  readJudgement,
} from '../src/domain/annotations/annotation.ts';
import { mayRead, visibilityOf } from '../src/domain/caller.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { pageOfRows } from '../src/domain/page.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import type { TraceAddress } from '../src/domain/traces/store.ts';
import { annotator, traceReader } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { AnnotationPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { saveAnnotation } from './operation/save-annotation.ts';
import { visibleSummaries } from './operation/visible-traces.ts';

const SPAN_ID = /^[0-9a-f]{16}$/;

/** Trace or span to annotate, and the annotation. */
export interface AnnotationDraft extends Judgement {
  readonly trace: TraceAddress;
  /** Null for the trace as a whole. */
  readonly spanId: string | null;
}

/** The trace at an address. Throws NotFound, and InvalidInput when traces of several owners match. */
async function annotatedTrace(scope: Scope<AnnotationPlatform>, address: TraceAddress): Promise<TraceSummary> {
  const [summary, ...others] = await visibleSummaries(scope, address);
  if (summary === undefined) throw new NotFound('Trace', address.traceId);
  if (others.length === 0) return summary;
  const message = 'Several keys sent this trace id: name one trace by its ref';
  throw new InvalidInput(`${message}.`, [{ path: ['traceRef'], rule: 'missing', message }]);
}

/** The id of a stored span of a trace; empty for null. Throws NotFound. */
async function annotatedSpan(
  scope: Scope<AnnotationPlatform>,
  trace: TraceSummary,
  text: string | null,
): Promise<string> {
  if (text === null) return '';
  const spanId = text.toLowerCase();
  const found = SPAN_ID.test(spanId) ? await scope.platform.stores.traces.findSpan([trace], spanId) : null;
  if (found === null) throw new NotFound('Span', text);
  return spanId;
}

/**
 * Annotates a trace or a span. Replaces an earlier annotation by the caller that has the same name. Throws NotFound,
 * InvalidInput, Conflict when the trace has the maximum number of annotations, and Unavailable after repeated
 * concurrent changes.
 */
export const annotateTrace = operation({
  name: 'annotateTrace',
  access: annotator,
  async run(scope: Scope<AnnotationPlatform>, draft: AnnotationDraft): Promise<Annotation> {
    const judgement = readJudgement(draft);
    const trace = await annotatedTrace(scope, draft.trace);
    const spanId = await annotatedSpan(scope, trace, draft.spanId);
    return saveAnnotation(scope, { trace, spanId, judgement, authorship: authored(scope) });
  },
});

/** Deletes an annotation. Only its author and proxy administrators may do this. Throws NotFound and Forbidden. */
export const deleteAnnotation = operation({
  name: 'deleteAnnotation',
  access: annotator,
  async run(scope: Scope<AnnotationPlatform>, { id }: { readonly id: string }): Promise<Annotation> {
    const { annotations } = scope.platform.stores;
    const caller = callerOf(scope);
    const found = await annotations.find(id);
    if (found === null || !mayRead(visibilityOf(caller), ownerOfAnnotation(found)))
      throw new NotFound('Annotation', id);
    if (found.createdBy !== authored(scope).by && caller.role !== 'proxy_admin')
      throw new Forbidden('Only the author of an annotation, and proxy admins, can delete it.', 'proxy_admin');
    const [removed] = await annotations.remove([id]);
    if (removed === undefined) throw new NotFound('Annotation', id);
    return removed;
  },
});

/** One annotation; null when there is none that the caller may see. */
export const findAnnotation = operation({
  name: 'findAnnotation',
  access: traceReader,
  async run(scope: Scope<AnnotationPlatform>, { id }: { readonly id: string }): Promise<Annotation | null> {
    const found = await scope.platform.stores.annotations.find(id);
    return found !== null && mayRead(visibilityOf(callerOf(scope)), ownerOfAnnotation(found)) ? found : null;
  },
});

/** Query for one page of annotations. */
export interface AnnotationQuery {
  readonly filter: AnnotationConditions;
  readonly descending: boolean;
  readonly limit: number;
  /** The annotation after which the page begins; null for the first page. */
  readonly after: Pick<Annotation, 'createdAt' | 'id'> | null;
}

export interface AnnotationList {
  readonly items: readonly Annotation[];
  readonly hasMore: boolean;
  /** Matching annotations on all pages. */
  readonly count: () => Promise<number>;
}

/** Lists annotations of traces that the caller may see, by creation time in the direction of the query. */
export const listAnnotations = operation({
  name: 'listAnnotations',
  access: traceReader,
  async run(
    scope: Scope<AnnotationPlatform>,
    { filter, descending, limit, after }: AnnotationQuery,
  ): Promise<AnnotationList> {
    const { annotations } = scope.platform.stores;
    const visible = { ...ALL_ANNOTATIONS, ...filter, visibility: visibilityOf(callerOf(scope)) };
    // `from` is the row after which the list begins, or the number of rows to skip.
    const from = after ?? 0;
    const rows = await annotations.list({ filter: visible, sort: 'created_at', descending, limit: limit + 1, from });
    return { ...pageOfRows(rows, limit), count: () => annotations.count(visible) };
  },
});
