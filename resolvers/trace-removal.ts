import { ALL_ANNOTATIONS, type AnnotationFilter } from '../src/domain/annotations/annotation.ts';
import { traceLinkRef } from '../src/domain/bus.ts';
import type { Caller, Owner } from '../src/domain/caller.ts';
import { Forbidden, NotFound } from '../src/domain/errors.ts';
import { signalRowId } from '../src/domain/lens/signals.ts';
import { publishChanges } from '../src/domain/traces/publish-changes.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import type { TraceAddress } from '../src/domain/traces/store.ts';
import { system, traceEraser } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { visibleSummaries } from './operation/visible-traces.ts';

/** Whether a caller may remove or redact the traces of an owner. Proxy administrators may do so for every owner. */
const mayErase = ({ role, keyHash }: Caller, owner: Owner): boolean =>
  role === 'proxy_admin' || owner.keyHash === keyHash;

/**
 * The traces at an address. Throws NotFound when the caller sees none, and Forbidden when another key sent one of them.
 */
async function erasableTraces(scope: Scope<TracePlatform>, address: TraceAddress): Promise<readonly TraceSummary[]> {
  const summaries = await visibleSummaries(scope, address);
  if (summaries.length === 0) throw new NotFound('Trace', address.traceId);
  const caller = callerOf(scope);
  if (!summaries.every(({ owner }) => mayErase(caller, owner)))
    throw new Forbidden('Only the key that sent a trace, and proxy admins, can do this.', 'proxy_admin');
  return summaries;
}

/** Removes the events of these traces from the event log, and the error texts of their calls from the spend rows. */
async function withdrawEventsAndErrors(
  { platform }: Scope<TracePlatform>,
  traces: readonly TraceSummary[],
): Promise<void> {
  const refs = new Set(traces.map(({ traceRef }) => traceRef));
  platform.bus.withdraw('trace', ({ summary }) => refs.has(summary.traceRef), traces.map(traceLinkRef));
  await platform.stores.spend.removeErrorTexts(
    traces.map(({ traceId, owner }) => ({ traceId, keyHash: owner.keyHash })),
  );
}

/** Removes the annotations that match a filter. */
async function removeAnnotations({ platform }: Scope<TracePlatform>, filter: Partial<AnnotationFilter>): Promise<void> {
  const { annotations } = platform.stores;
  const found = await annotations.all({ ...ALL_ANNOTATIONS, ...filter });
  if (found.length > 0) await annotations.remove(found.map(({ id }) => id));
}

/** Result of a removal. */
export interface RemovedTraces {
  readonly traceId: string;
  /** Number of removed traces. Several keys may have sent the same trace id. */
  readonly traces: number;
}

/** Removes a trace permanently. Spend rows of its calls stay, without error texts. Throws NotFound and Forbidden. */
export const deleteTrace = operation({
  name: 'deleteTrace',
  access: traceEraser,
  async run(scope: Scope<TracePlatform>, address: TraceAddress): Promise<RemovedTraces> {
    const traces = await erasableTraces(scope, address);
    const removed = await scope.platform.stores.traces.remove(traces);
    await removeAnnotations(scope, { traces });
    await scope.platform.stores.traceSignals.remove(traces.map(signalRowId));
    await withdrawEventsAndErrors(scope, traces);
    return { traceId: address.traceId.toLowerCase(), traces: removed };
  },
});

/** Removes all texts from a trace. Returns the redacted traces. Throws NotFound and Forbidden. */
export const redactTrace = operation({
  name: 'redactTrace',
  access: traceEraser,
  async run(scope: Scope<TracePlatform>, address: TraceAddress): Promise<readonly TraceSummary[]> {
    const { stores, bus, clock } = scope.platform;
    const traces = await erasableTraces(scope, address);
    const redacted = await stores.traces.redact(traces, clock.now());
    for (const { id } of await stores.annotations.all({ ...ALL_ANNOTATIONS, traces }))
      await stores.annotations.change(id, (row) => ({ ...row, label: null, note: null }));
    await withdrawEventsAndErrors(scope, traces);
    if (redacted.length === 0) throw new NotFound('Trace', address.traceId);
    return publishChanges(bus, redacted);
  },
});

/** Age and maximum number of the rows to remove. */
export interface ExpiredRows {
  /** Rows of traces that started before this time are removed; Unix milliseconds. */
  readonly beforeMs: number;
  /** Maximum number of annotations, of signals and of traces to remove. */
  readonly limit: number;
}

/** Removes expired annotations, signals and traces, at most `limit` of each. Returns the number of removed traces. */
export const removeExpiredTraces = operation({
  name: 'removeExpiredTraces',
  access: system,
  async run({ platform }: Scope<TracePlatform>, { beforeMs, limit }: ExpiredRows): Promise<number> {
    const { annotations, traces, traceSignals } = platform.stores;
    const filter = { ...ALL_ANNOTATIONS, traceBeforeMs: beforeMs };
    const page = { sort: 'created_at', descending: false, limit, from: 0 } as const;
    const oldAnnotations = await annotations.list({ filter, ...page });
    if (oldAnnotations.length > 0) await annotations.remove(oldAnnotations.map(({ id }) => id));
    const oldSignals = await traceSignals.list({ filter: { ids: null, traceBeforeMs: beforeMs }, ...page });
    if (oldSignals.length > 0) await traceSignals.remove(oldSignals.map(({ id }) => id));
    return traces.removeStartedBefore(beforeMs, limit);
  },
});
