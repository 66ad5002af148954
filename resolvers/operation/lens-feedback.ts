import { ALL_ANNOTATIONS, type Annotation } from '../../src/domain/annotations/annotation.ts';
import {
  type Feedback,
  FEEDBACK_FILTER,
  feedbackMetadata,
  feedbackOfAnnotation,
} from '../../src/domain/lens/feedback.ts';
import type { Execution } from '../../src/domain/lens/execution.ts';
import type { TraceKey } from '../../src/domain/traces/store.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Traces whose feedback one query reads. */
const TRACES_PER_QUERY = 100;

/** All feedback about traces. The feedback about one trace is sorted, the oldest first. */
export async function feedbackAbout(
  scope: Scope<LensPlatform>,
  traces: readonly TraceKey[],
): Promise<readonly Feedback[]> {
  const { annotations } = scope.platform.stores;
  const found: Annotation[] = [];
  for (let at = 0; at < traces.length; at += TRACES_PER_QUERY) {
    const some = traces.slice(at, at + TRACES_PER_QUERY);
    found.push(...(await annotations.all({ ...ALL_ANNOTATIONS, ...FEEDBACK_FILTER, traces: some })));
  }
  return found.map(feedbackOfAnnotation);
}

/** Adds the feedback about executions to their metadata, which reviewers read. */
export async function withFeedback(
  scope: Scope<LensPlatform>,
  executions: readonly Execution[],
): Promise<readonly Execution[]> {
  const byTrace = Map.groupBy(await feedbackAbout(scope, executions), (one) => `${one.traceId}:${one.traceRef}`);
  return executions.map((execution) => {
    const feedback = byTrace.get(`${execution.traceId}:${execution.traceRef}`) ?? [];
    return feedback.length === 0
      ? execution
      : { ...execution, metadata: [...execution.metadata, ...feedbackMetadata(feedback)] };
  });
}
