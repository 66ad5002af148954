import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { assertExecutionIds, type Sample, selectedCount } from '../src/domain/lens/execution.ts';
import { findingCounts } from '../src/domain/lens/finding-counts.ts';
import { assertPreview, type Selection } from '../src/domain/lens/settings.ts';
import { NO_TRACE_FILTERS } from '../src/domain/traces/trace-search.ts';
import { lensReader } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { ALL_OWNERS, executionsByHash, contentPage } from './operation/lens-samples.ts';
import { lensNamed } from './operation/lens-runs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Executions of one page of a preview. */
const PREVIEW_PAGE = 100;
const MAX_AGENTS = 500;
const AGENT_DAYS = 14;

export interface PreviewRequest {
  readonly selection: Selection;
  readonly lookbackHours: number;
  readonly offset: number;
  /** End of the window. Null and a future time mean now. */
  readonly asOf: Date | null;
}

/**
 * A page of the executions that a lens with these settings would take its sample from. Each page reads all traces of
 * the window. Throws InvalidInput.
 */
export const readSamplePreview = operation({
  name: 'readSamplePreview',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, { selection, lookbackHours, offset, asOf }: PreviewRequest): Promise<Sample> {
    assertPreview(selection, lookbackHours, offset);
    assertExecutionIds(selection.executionIds);
    const nowMs = scope.platform.clock.now().getTime();
    const endMs = Math.min(nowMs, asOf?.getTime() ?? nowMs);
    const startMs = endMs - lookbackHours * HOUR_MS;
    if (startMs < 0) {
      const message = 'Preview window exceeds the supported calendar range';
      throw new InvalidInput(message, [{ path: [], rule: 'text', message }]);
    }
    const all = await executionsByHash(scope, selection, { startMs, endMs });
    const next = offset + PREVIEW_PAGE;
    return {
      executions: all.slice(offset, next),
      eligible: all.length,
      selected: selectedCount(all.length, selection),
      nextOffset: next < all.length ? next : null,
      nextCursor: null,
    };
  },
});

/** Names of at most 500 agents of the last 14 days, sorted. */
export const listLensAgents = operation({
  name: 'listLensAgents',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, _input: undefined): Promise<readonly string[]> {
    // The end of a window is exclusive, so 1 ms is added for traces that start now.
    const endMs = scope.platform.clock.now().getTime() + 1;
    const search = { startMs: endMs - AGENT_DAYS * DAY_MS, endMs, filters: NO_TRACE_FILTERS };
    const agents = await scope.platform.stores.traces.agents(ALL_OWNERS, search, MAX_AGENTS);
    return agents.map(({ name }) => name).toSorted();
  },
});

/** Which kinds of activity are recorded. */
export const checkLensActivity = operation({
  name: 'checkLensActivity',
  access: lensReader,
  run: (_scope: Scope<object>, _input: undefined) => ({ traces: true, requests: false }),
});

/** Content of an execution, for the evidence of findings. Throws NotFound, and InvalidInput for a malformed cursor. */
export const getExecutionContent = operation({
  name: 'getExecutionContent',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    named: {
      readonly id: string;
      readonly executionId: string;
      readonly cursor: string | null;
      readonly offset: number;
    },
  ) {
    await lensNamed(scope, named.id);
    const page = await contentPage(scope, named);
    if (page === null) throw new NotFound('execution', named.executionId, 'Execution not found');
    return page;
  },
});

/** A trace, and the number of open findings about it. */
export interface TraceFindings {
  readonly traceId: string;
  readonly traceRef: string;
  /** Null when no open finding names the trace and no lens assessed it in its latest run. */
  readonly findingCount: number | null;
}

/** Counts the open findings about each trace. A trace that is named several times is listed once. */
export const countTraceFindings = operation({
  name: 'countTraceFindings',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    traces: readonly { readonly traceId: string; readonly traceRef: string }[],
  ): Promise<readonly TraceFindings[]> {
    const unique = [...new Map(traces.map((one) => [JSON.stringify([one.traceId, one.traceRef]), one])).values()];
    const counts = findingCounts(await scope.platform.stores.lenses.all(), unique);
    return unique.map((trace, at) => ({ ...trace, findingCount: counts[at] ?? null }));
  },
});

/**
 * The number of open findings about a trace. `parts` are the stored traces that the trace is merged from. Null as in
 * `TraceFindings`.
 */
export const countFindingsOfTrace = operation({
  name: 'countFindingsOfTrace',
  access: lensReader,
  async run(
    { loaders }: Scope<LensPlatform>,
    parts: readonly { readonly traceId: string; readonly traceRef: string }[],
  ): Promise<number | null> {
    const counts = await Promise.all(parts.map((part) => loaders.findingCountByTrace.load(part)));
    const known = counts.filter((count) => count !== null);
    return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
  },
});
