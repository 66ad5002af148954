import type { Caller, Owner } from '../src/domain/caller.ts';
import { Forbidden, NotFound } from '../src/domain/errors.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { traceEraser } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { tellChanges, type TraceAddress, visibleSummaries } from './traces.ts';

/** Whether a trace is the caller's to take texts out of: who may do so to all is an administrator. */
const mayErase = ({ role, keyHash }: Caller, owner: Owner): boolean =>
  role === 'proxy_admin' || owner.keyHash === keyHash;

/** The traces that are meant. Throws NotFound where the caller sees none, and Forbidden for those of another key. */
async function erasable(scope: Scope, address: TraceAddress): Promise<readonly TraceSummary[]> {
  const summaries = await visibleSummaries(scope, address);
  if (summaries.length === 0) throw new NotFound('Trace', address.traceId);
  const caller = callerOf(scope);
  if (!summaries.every(({ owner }) => mayErase(caller, owner)))
    throw new Forbidden('Only the key that sent a trace, and proxy admins, can do this.', 'proxy_admin');
  return summaries;
}

/** Nothing that was told of these traces is told again, and the books say no more why their calls failed. */
async function silence({ platform }: Scope, traces: readonly TraceSummary[]): Promise<void> {
  const refs = new Set(traces.map(({ traceRef }) => traceRef));
  platform.bus.withdraw('trace', ({ summary }) => refs.has(summary.traceRef));
  await platform.stores.spend.forgetErrors(traces.map(({ traceId, owner }) => ({ traceId, keyHash: owner.keyHash })));
}

/** What was removed. */
export interface RemovedTraces {
  readonly traceId: string;
  /** How many traces of the id: several keys may have sent one. */
  readonly traces: number;
}

/** Removes a trace for good; what the gateway's books say of its calls stays, but for error texts. */
export const deleteTrace = operation({
  name: 'deleteTrace',
  access: traceEraser,
  async run(scope: Scope, address: TraceAddress): Promise<RemovedTraces> {
    const traces = await erasable(scope, address);
    const removed = await scope.platform.stores.traces.remove(traces);
    await silence(scope, traces);
    return { traceId: address.traceId.toLowerCase(), traces: removed };
  },
});

/** Takes out of a trace all that was said in it; gives the traces of the id as they are then. */
export const redactTrace = operation({
  name: 'redactTrace',
  access: traceEraser,
  async run(scope: Scope, address: TraceAddress): Promise<readonly TraceSummary[]> {
    const { stores, bus, clock } = scope.platform;
    const traces = await erasable(scope, address);
    const redacted = await stores.traces.redact(traces, clock.now());
    await silence(scope, traces);
    if (redacted.length === 0) throw new NotFound('Trace', address.traceId);
    return tellChanges(bus, redacted);
  },
});
