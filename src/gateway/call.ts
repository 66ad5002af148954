import type { Caller } from '../domain/caller.ts';
import type { ChatDelta, Exchange, Outcome } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { Clock, Ids } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import type { Usd } from '../domain/money.ts';
import type { CallRecorder, GatewayCall } from './gateway.ts';
import { type Accounted, recordOf } from './record.ts';

/** What a call needs of the gateway around it. */
export interface CallTools {
  readonly recorder: CallRecorder;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly capturePrompts: boolean;
  readonly price: (deployment: Deployment, used: Outcome) => Usd | null;
  /** Counts a cost against the caller's key. */
  readonly charge: (caller: Caller, cost: Usd) => void;
}

/** A call from its admission on: either it fails before an answer came, or it answers. Settled once. */
export interface OpenCall {
  readonly callId: string;
  answered(exchange: Exchange): GatewayCall;
  failed(failure: unknown): void;
}

/** Opens the books of a call. */
export function openCall(
  tools: CallTools,
  about: {
    readonly caller: Caller;
    readonly request: Accounted;
    readonly deployment: Deployment;
    readonly signal: AbortSignal;
    /** What it costs once it is answered, where that is settled beforehand. */
    readonly fixedCost?: Usd;
  },
): OpenCall {
  const { clock, ids } = tools;
  const { caller, request, deployment, signal, fixedCost } = about;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const callId = request.callId ?? ids.uuid();
  const traceId = request.parent?.traceId ?? ids.traceId();
  const spanId = ids.spanId();
  let exchange: Exchange | null = null;
  let firstByteMs: number | null = null;
  let cost: Usd | null = null;
  let settled = false;

  const elapsedMs = (): number => clock.monotonicMs() - startMs;

  /** An answer that has come whole is priced before it is handed on, so that its price can travel with it. */
  function priced(): Usd | null {
    if (cost === null && exchange !== null) cost = fixedCost ?? tools.price(deployment, exchange.outcome());
    return cost;
  }

  function settle(end: 'completed' | 'failed' | 'abandoned', failure?: unknown): void {
    if (settled) return;
    settled = true;
    const charged = priced();
    if (charged !== null) tools.charge(caller, charged);
    tools.recorder.record(
      recordOf({
        // A call id of ours is as unique as a row's must be; one of a client need not be.
        rowId: request.callId === null ? callId : ids.uuid(),
        callId,
        traceId,
        spanId,
        caller,
        request,
        deployment,
        startedAt,
        durationMs: elapsedMs(),
        firstByteMs,
        outcome: exchange?.outcome() ?? null,
        cost: charged,
        // A caller who leaves makes whatever was under way fail; the leaving is what happened.
        end: end === 'failed' && signal.aborted ? 'abandoned' : end,
        failure: failure instanceof Error ? failure : null,
        capturePrompts: tools.capturePrompts,
      }),
    );
  }

  return {
    callId,
    failed: (failure) => settle('failed', failure),
    answered(answer) {
      exchange = answer;
      firstByteMs = elapsedMs();
      return {
        callId,
        modelGroup: request.model,
        deployment,
        exchange: answer,
        traceId,
        spanId,
        cost: () => (settled || !answer.streaming ? priced() : null),
        elapsedMs,
        deltas: () => settling(answer.deltas(), settle),
        settle,
      };
    },
  };
}

/** The steps of an answer; their end closes the books. A failure is the last step, not an exception. */
function settling(
  deltas: AsyncIterableIterator<ChatDelta>,
  settle: (end: 'completed' | 'failed' | 'abandoned', failure?: unknown) => void,
): AsyncIterableIterator<ChatDelta> {
  let over = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (over) return { done: true, value: undefined };
      try {
        const step = await deltas.next();
        if (step.done) {
          over = true;
          settle('completed');
        }
        return step;
      } catch (failure) {
        over = true;
        settle('failed', failure);
        return { done: false, value: failureDelta(failure) };
      }
    },
    async return() {
      over = true;
      settle('abandoned');
      await deltas.return?.();
      return { done: true, value: undefined };
    },
  };
}

function failureDelta(failure: unknown): ChatDelta {
  return failure instanceof DomainError
    ? { kind: 'failure', code: failure.code, message: failure.message }
    : { kind: 'failure', code: 'INTERNAL', message: 'Internal server error' };
}
