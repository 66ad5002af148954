import type { Caller } from '../domain/caller.ts';
import type { ChatDelta, Exchange, Outcome } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError } from '../domain/errors.ts';
import { addUsd, type Usd } from '../domain/money.ts';
import type { Budgets, CostReservation, Estimated } from './budgets.ts';
import { type BookTools, openBooks, type Place } from './books.ts';
import type { GatewayCall, Tries } from './gateway.ts';

/** What a call needs of the gateway around it. */
export interface CallTools extends BookTools {
  readonly price: (deployment: Deployment, used: Pick<Outcome, 'usage' | 'measured'>) => Usd | null;
  readonly budgets: Budgets;
}

/** A call from its admission on: either it fails before an answer came, or it answers. Settled once. */
export interface OpenCall {
  readonly callId: string;
  /**
   * Reserves what the call is expected to cost, and releases what it had reserved before. The reservation ends with the
   * call. Synchronous when the key's spend is in memory. Throws BudgetExceeded.
   */
  reserve(at: Estimated): void | Promise<void>;
  /** `tries` tells what it took; once when absent. */
  answered(exchange: Exchange, tries?: Tries): GatewayCall;
  failed(failure: unknown): void;
  /** It goes on at another deployment; what failed is told of the one before. */
  moved(to: Place, failure: unknown): void;
  /** Nobody answered: it is recorded for a deployment where it has failed before. */
  gaveUp(at: Place, failure: unknown): void;
}

const AT_ONCE: Tries = { retries: 0, fallbacks: 0, mostFallbacks: null };

/** Admits a call. */
export function openCall(
  tools: CallTools,
  about: Place & {
    readonly caller: Caller;
    readonly signal: AbortSignal;
    /** What it costs once it is answered, where that is settled beforehand. */
    readonly fixedCost?: Usd;
  },
): OpenCall {
  const { caller, fixedCost } = about;
  let place: Place = about;
  const books = openBooks(tools, about);
  const { callId, traceId, spanId, elapsedMs } = books;
  let exchange: Exchange | null = null;
  let cost: Usd | null = null;
  let reserved: CostReservation | null = null;

  function release(): void {
    reserved?.settle(null);
    reserved = null;
  }

  /** An answer that has come whole is priced before it is handed on, so that its price can travel with it. */
  function priced(): Usd | null {
    if (cost === null && exchange !== null) cost = fixedCost ?? tools.price(place.deployment, exchange.outcome());
    return cost;
  }

  function settle(end: 'completed' | 'failed' | 'abandoned', failure?: unknown): void {
    if (books.closed()) return;
    const charged = priced();
    const outcome = exchange?.outcome() ?? null;
    // The record first: by its position admission knows whether a stored total includes this cost.
    books.close(end, { failure, outcome, cost: charged });
    if (reserved !== null) reserved.settle(charged, end === 'completed' && outcome !== null ? outcome : undefined);
    else if (charged !== null && hasBudget(caller)) tools.budgets.charge(caller.keyHash, charged);
  }

  return {
    callId,
    reserve(at) {
      release();
      const reserving = tools.budgets.reserve(caller, at);
      if (!(reserving instanceof Promise)) {
        reserved = reserving;
        return;
      }
      return reserving.then((taken) => {
        reserved = taken;
        if (books.closed()) release();
      });
    },
    failed: (failure) => settle('failed', failure),
    moved(to, failure) {
      place = to;
      books.moved(to, failure);
    },
    gaveUp(at, failure) {
      place = at;
      books.gaveUp(at, failure);
    },
    answered(answer, tries = AT_ONCE) {
      exchange = answer;
      books.answered();
      return {
        callId,
        modelGroup: place.request.model,
        deployment: place.deployment,
        tries,
        exchange: answer,
        traceId,
        spanId,
        cost: () => (books.closed() || !answer.streaming ? priced() : null),
        keySpend() {
          const before = tools.budgets.spentBy(caller.keyHash);
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

/** Costs of keys without a budget are not counted here: their stored total is read when they get one. */
const hasBudget = ({ key }: Caller): boolean => key !== null && key.maxBudget !== null;

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
