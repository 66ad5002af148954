import { executionIdOf, type ExecutionAddress, readExecutionId } from './execution.ts';
import type { LensState } from './lens.ts';

/** Key of an execution, without the team: only some execution ids contain a team. Empty for an invalid id. */
function keyOf(executionId: string): string {
  const address = readExecutionId(executionId);
  return address === null ? '' : executionIdOf('', address);
}

/**
 * Number of open findings about each trace. A trace without open findings has 0 if the latest run of a lens assessed
 * it, else null.
 */
export function findingCounts(
  states: readonly LensState[],
  traces: readonly ExecutionAddress[],
): readonly (number | null)[] {
  const assessed = new Set(states.flatMap(({ run }) => run.assessments.map((one) => keyOf(one.executionId))));
  const counts = new Map<string, number>();
  const openFindings = states.flatMap(({ findings }) => findings).filter(({ status }) => status === 'open');
  for (const { occurrences } of openFindings)
    for (const key of new Set(occurrences.map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  return traces.map((trace) => {
    const key = executionIdOf('', trace);
    return counts.get(key) ?? (assessed.has(key) ? 0 : null);
  });
}
