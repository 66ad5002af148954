import { InvalidInput } from '../../src/domain/errors.ts';
import { isQuoteOf } from '../../src/domain/lens/content.ts';
import { readExecutionId } from '../../src/domain/lens/execution.ts';
import { type Evidence, type Finding, findingNamed } from '../../src/domain/lens/finding.ts';
import type { LensRun } from '../../src/domain/lens/lens.ts';
import { enabledChecks } from '../../src/domain/lens/settings.ts';
import type { RunResult } from '../../src/domain/lens/worker.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { nullIfEmpty } from '../../src/domain/optional-text.ts';

/**
 * Error for a result that contradicts its run. The messages use the words of the reference. "Run" and "trace" mean
 * an execution, "job" a run of a lens, and "investigation" a lens.
 */
export const resultFault = (message: string): InvalidInput =>
  new InvalidInput(message, [{ path: [], rule: 'text', message }]);

/** Number of executions whose spans are read concurrently. */
const CONCURRENCY = 4;

/** Checks every quote against the stored text of its span. Throws InvalidInput. */
async function assertQuotes({ platform }: Scope<LensPlatform>, evidence: readonly Evidence[]): Promise<void> {
  const { traces } = platform.stores;
  const executions = [...Map.groupBy(evidence, ({ executionId }) => executionId)];

  async function spansOf(executionId: string, spanIds: readonly string[]): Promise<readonly Span[]> {
    const address = readExecutionId(executionId);
    if (address === null) return [];
    const { traceId, traceRef } = address;
    const found = await traces.findSummaries({ kind: 'all' }, traceId, nullIfEmpty(traceRef));
    return (await Promise.all(found.map((summary) => traces.findSpans(summary, spanIds)))).flat();
  }

  for (let from = 0; from < executions.length; from += CONCURRENCY)
    await Promise.all(
      executions.slice(from, from + CONCURRENCY).map(async ([executionId, quotes]) => {
        const spans = await spansOf(executionId, [...new Set(quotes.map(({ spanId }) => spanId))]);
        const isLiteral = ({ spanId, quote }: Evidence): boolean =>
          spans.some((span) => span.spanId === spanId && isQuoteOf(span, quote));
        if (!quotes.every(isLiteral)) throw resultFault('Evidence quote does not match stored content');
      }),
    );
}

/** Checks the result of a worker against its run and the stored traces. Throws InvalidInput. */
export async function assertResult(
  scope: Scope<LensPlatform>,
  run: LensRun,
  earlier: readonly Finding[],
  { assessments, findings, reviewVersions }: RunResult,
): Promise<void> {
  const sampled = new Set(run.sample?.executions.map(({ id }) => id));
  const checks = new Set(enabledChecks(run.settings).map(({ id }) => id));
  const assessed = assessments.map(({ executionId }) => executionId);
  if (assessed.some((id) => !sampled.has(id))) throw resultFault('Assessment references a run outside this job');
  if (new Set(assessed).size !== assessed.length || assessed.length !== sampled.size)
    throw resultFault('Each run must have one assessment');
  if (reviewVersions.some(({ executionId }) => !sampled.has(executionId)))
    throw resultFault('Review checkpoint references a trace outside this job');
  const named = assessments.flatMap(({ issueChecks, patternChecks }) => [...issueChecks, ...patternChecks]);
  if (named.some((id) => !checks.has(id))) throw resultFault('Assessment references an unknown check');
  for (const { evidence, existingFindingId, mergedFindingIds, kind } of findings) {
    if (evidence.some(({ executionId }) => !sampled.has(executionId)))
      throw resultFault('Finding references evidence outside the job');
    const existing = existingFindingId === null ? undefined : findingNamed(earlier, existingFindingId);
    if (existingFindingId !== null && existing?.kind !== kind)
      throw resultFault('Existing finding must belong to the same kind');
    if (mergedFindingIds.some((id) => findingNamed(earlier, id)?.kind !== kind))
      throw resultFault('Merged finding must belong to this investigation and kind');
  }
  await assertQuotes(
    scope,
    findings.flatMap(({ evidence }) => evidence),
  );
}
