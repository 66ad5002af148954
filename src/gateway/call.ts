import type { Caller } from '../domain/caller.ts';
import type { ChatDelta, Exchange, Outcome } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError } from '../domain/errors.ts';
import { addUsd, type Usd } from '../domain/money.ts';
import { type BookTools, openBooks } from './books.ts';
import type { GatewayCall } from './gateway.ts';
import type { Accounted } from './record.ts';

/** What a call needs of the gateway around it. */
export interface CallTools extends BookTools {
  readonly price: (deployment: Deployment, used: Pick<Outcome, 'usage' | 'measured'>) => Usd | null;
  /** Counts a cost against the caller's key. */
  readonly charge: (caller: Caller, cost: Usd) => void;
  /** What the caller's key has spent, where that is known. */
  readonly spent: (caller: Caller) => Usd | null;
}

/** A call from its admission on: either it fails before an answer came, or it answers. Settled once. */
export interface OpenCall {
  readonly callId: string;
  answered(exchange: Exchange): GatewayCall;
  failed(failure: unknown): void;
}

/** Admits a call. */
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
  const { caller, request, deployment, fixedCost } = about;
  const books = openBooks(tools, about);
  const { callId, traceId, spanId, elapsedMs } = books;
  let exchange: Exchange | null = null;
  let cost: Usd | null = null;

  /** An answer that has come whole is priced before it is handed on, so that its price can travel with it. */
  function priced(): Usd | null {
    if (cost === null && exchange !== null) cost = fixedCost ?? tools.price(deployment, exchange.outcome());
    return cost;
  }

  function settle(end: 'completed' | 'failed' | 'abandoned', failure?: unknown): void {
    if (books.closed()) return;
    const charged = priced();
    if (charged !== null) tools.charge(caller, charged);
    books.close(end, { failure, outcome: exchange?.outcome() ?? null, cost: charged });
  }

  return {
    callId,
    failed: (failure) => settle('failed', failure),
    answered(answer) {
      exchange = answer;
      books.answered();
      return {
        callId,
        modelGroup: request.model,
        deployment,
        exchange: answer,
        traceId,
        spanId,
        cost: () => (books.closed() || !answer.streaming ? priced() : null),
        keySpend() {
          const before = tools.spent(caller);
          const now = books.closed() || answer.streaming ? null : priced();
          return before === null || now === null ? before : addUsd(before, now);
        },
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
