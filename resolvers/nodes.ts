import type { Caller } from '../src/domain/caller.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import type { TraceIdentity, TraceSummary } from '../src/domain/traces/trace.ts';
import { anyKey, anyone, isAnyAdmin, traceReader } from './operation/access.ts';
import { findTeamRow } from './owner-nodes.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import type { OwnedSpan } from './operation/span-tree.ts';
import { type FoundTrace, traceOfSummaries } from './operation/visible-traces.ts';

// Objects by their local id: the part of a global id after the type. Text that cannot be an id is not looked up.
// A trace ref is printable ASCII without spaces: \x21 to \x7e.

const TRACE_NODE = /^([0-9a-f]{32})(?::([\x21-\x7e]{1,512}))?$/;
const SPAN_NODE = /^([0-9a-f]{32}):([0-9a-f]{16}):([\x21-\x7e]{1,512})$/;
const SPEND_NODE = /^[0-9a-f]{32}:[0-9a-f]{16}$/;
const MAX_TEAM_ID = 256;
/** Maximum number of spans of a trace that is read whole. A span of a larger trace is read alone. */
const MAX_WHOLE_SPANS = 500;

async function summariesOf(
  scope: Scope<TracePlatform>,
  traceId: string,
  traceRef: string | null,
): Promise<readonly TraceSummary[]> {
  await scope.platform.records.readable();
  return scope.loaders.summariesByAddress.load({ traceId, traceRef });
}

/**
 * The trace with the local id `traceId:traceRef`, or `traceId` for all visible traces of the id. Null when no trace is
 * visible.
 */
export const findTraceNode = operation({
  name: 'findTraceNode',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, localId: string): Promise<FoundTrace | null> {
    const [, traceId, traceRef = null] = TRACE_NODE.exec(localId) ?? [];
    return traceId === undefined ? null : await traceOfSummaries(scope, await summariesOf(scope, traceId, traceRef));
  },
});

/**
 * The span with the local id `traceId:spanId:traceRef`; null when there is none that the caller may see. `within` is
 * the trace that contains the span.
 */
export const findSpanNode = operation({
  name: 'findSpanNode',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    localId: string,
  ): Promise<(OwnedSpan & { readonly within: readonly TraceIdentity[] }) | null> {
    const [, traceId, spanId, traceRef] = SPAN_NODE.exec(localId) ?? [];
    if (traceId === undefined || spanId === undefined || traceRef === undefined) return null;
    const within = await summariesOf(scope, traceId, traceRef);
    const [summary] = within;
    if (summary === undefined) return null;
    const span =
      summary.spanCount > MAX_WHOLE_SPANS
        ? await scope.loaders.contentBySpan.load({ traceId, traceRef, spanId })
        : (await scope.loaders.spanTreeByTrace.load(within)).byId.get(spanId);
    return span ? { ...span, traceRef, within } : null;
  },
});

/** The spend row with the local id `traceId:spanId`; null when there is none that the caller may see. */
export const findSpendRow = operation({
  name: 'findSpendRow',
  access: traceReader,
  run: async (scope: Scope<TracePlatform>, localId: string): Promise<SpendRow | null> =>
    SPEND_NODE.test(localId) ? await scope.loaders.spendRowBySpan.load(localId) : null,
});

/**
 * A team by its id, for administrators, keys of the team, and callers that see its row; null for other callers.
 * Administrators and keys of the team get the id even if the team has no stored row.
 */
export const findTeam = operation({
  name: 'findTeam',
  access: anyKey,
  async run(scope: Scope<object>, id: string): Promise<{ readonly id: string } | null> {
    const caller = callerOf(scope);
    if (nullIfBlank(id) === null || id.length > MAX_TEAM_ID) return null;
    if (isAnyAdmin(caller) || nullIfBlank(caller.teamId) === id) return { id };
    return nullIfBlank(caller.userId) !== null && (await findTeamRow(scope, id)) !== null ? { id } : null;
  },
});

/** The caller; null without a credential. */
export const getViewer = operation({
  name: 'getViewer',
  access: anyone,
  run: (scope: Scope<object>, _input: undefined): Caller | null => scope.caller,
});
