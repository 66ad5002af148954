import type { Next, ParameterizedContext } from 'koa';
import type { Caller } from '../../../src/domain/caller.ts';
import { NO_BODY } from './body.ts';
import type { HttpRequest, RouteRow } from './route.ts';
import type { RowExchange, RowSteps } from './row-server.ts';

/** State that the middleware of a row share, in `context.state`. */
interface RowState {
  readonly exchange: RowExchange;
  /** Null until the caller is identified, and for a caller without a key. */
  caller: Caller | null;
  /** Empty until the body is read. */
  body: Uint8Array;
}

interface RowContext extends Pick<ParameterizedContext<RowState>, 'req' | 'res' | 'respond' | 'state'> {
  /** Set by the router. */
  readonly params?: HttpRequest['params'];
}

/** Koa middleware of a row, on a route of the router or in `runInOrder`. */
type RowMiddleware = (context: RowContext, next: Next) => void | Promise<void>;

/**
 * The middleware of a row, in order. They call the steps of `serveRow` in the same order. Only `answerFailures` is an
 * async function, because each further one that a rejection passes costs CPU time.
 */
export function createRowMiddleware(steps: RowSteps): (row: RouteRow) => RowMiddleware[] {
  async function answerFailures({ state }: RowContext, next: Next): Promise<void> {
    try {
      await next();
    } catch (error) {
      steps.fail(state.exchange, error, state.caller);
    }
  }

  function admitAddress({ state }: RowContext, next: Next): Promise<void> {
    steps.admit(state.exchange);
    return next();
  }

  function identifyCaller({ state }: RowContext, next: Next): void | Promise<void> {
    return proceed(steps.identify(state.exchange), (caller): Promise<void> => {
      state.caller = caller;
      return next();
    });
  }

  function authorizeCaller({ state }: RowContext, next: Next): Promise<void> {
    steps.authorize(state.exchange, state.caller);
    return next();
  }

  function readRowBody({ state }: RowContext, next: Next): void | Promise<void> {
    return proceed(steps.readBody(state.exchange), (body): Promise<void> => {
      state.body = body;
      return next();
    });
  }

  function runRow({ state: { exchange, caller, body } }: RowContext): void | Promise<void> {
    return proceed(steps.handle(exchange, caller, body), (answer) => steps.write(exchange, answer));
  }

  return (row) => [selectRow(row), answerFailures, admitAddress, identifyCaller, authorizeCaller, readRowBody, runRow];
}

/** Starts the exchange of a row. The row writes its answer itself. */
const selectRow =
  (row: RouteRow): RowMiddleware =>
  (context, next) => {
    const { params = {}, req: request, res: response } = context;
    context.respond = false;
    context.state = { exchange: { row, params, request, response }, caller: null, body: NO_BODY };
    return next();
  };

/** Calls `then` with the value; immediately if the value is not a promise. */
const proceed = <Value, Result>(
  value: Value | Promise<Value>,
  then: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> => (value instanceof Promise ? value.then(then) : then(value));

/** Runs middleware without a router, for a row that has no route. */
export function runInOrder([first, ...others]: readonly RowMiddleware[], context: RowContext): Promise<void> {
  return Promise.resolve(first?.(context, () => runInOrder(others, context)));
}
