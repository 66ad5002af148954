import {
  ALL_ANNOTATIONS,
  type Annotation,
  type Judgement,
  MAX_ANNOTATIONS,
  newAnnotation,
  withJudgement,
} from '../../src/domain/annotations/annotation.ts';
import { Conflict, Unavailable } from '../../src/domain/errors.ts';
import type { Authored } from '../../src/domain/row-store.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';
import type { AnnotationPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import type { Stores } from './stores.ts';

/** Maximum number of attempts to save an annotation that concurrent requests create or delete. */
const ATTEMPTS = 3;

/**
 * Saves an annotation; replaces the author's earlier annotation with the same name. Throws Conflict and Unavailable.
 */
export async function saveAnnotation(
  { platform }: Scope<Pick<AnnotationPlatform, 'ids'> & { readonly stores: Pick<Stores, 'annotations'> }>,
  {
    trace,
    spanId,
    judgement,
    authorship,
  }: {
    readonly trace: TraceSummary;
    readonly spanId: string;
    readonly judgement: Judgement;
    /** `by` is the author. `sender` is the user or key that sends the annotation; the author when absent. */
    readonly authorship: Authored & { readonly sender?: string };
  },
): Promise<Annotation> {
  const { annotations } = platform.stores;
  // ALL_ANNOTATIONS is a filter without conditions.
  const ofTrace = { ...ALL_ANNOTATIONS, traces: [trace] };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const [known] = await annotations.all({ ...ofTrace, spanId, name: judgement.name, author: authorship.by });
    if (known !== undefined) {
      const done = await annotations.change(known.id, (row) =>
        withJudgement(row, judgement, { now: authorship.now, by: authorship.sender ?? authorship.by }),
      );
      if (done !== null) return done.after;
      // A concurrent request deleted the annotation.
      continue;
    }
    if ((await annotations.count(ofTrace)) >= MAX_ANNOTATIONS)
      throw new Conflict(`A trace has at most ${MAX_ANNOTATIONS} annotations.`);
    const added = {
      ...newAnnotation(judgement, { ...authorship, id: platform.ids.uuid(), trace, spanId }),
      updatedBy: authorship.sender ?? authorship.by,
    };
    try {
      await annotations.add(added);
      return added;
    } catch (error) {
      // A concurrent request of the author added the annotation.
      if (!(error instanceof Conflict)) throw error;
    }
  }
  throw new Unavailable('The annotation is being changed by other requests. Try again.');
}
