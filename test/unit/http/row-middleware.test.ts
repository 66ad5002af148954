import { describe, expect, it } from 'vitest';
import type { Context } from 'koa';
import { json, type RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import { createRowMiddleware, runInOrder } from '../../../rest-shims/helpers/http/row-middleware.ts';
import { type RowSteps, serveRow } from '../../../rest-shims/helpers/http/row-server.ts';
import type { Caller } from '../../../src/domain/caller.ts';

const ROW = { name: 'things.create', method: 'POST', paths: ['/things'] } as unknown as RouteRow;
const CALLER: Caller = { role: 'proxy_admin', keyHash: 'h', key: null, teamId: null, userId: null };
const BODY = Buffer.from('{}');
const ANSWER = json('created');
const FAILURE = new Error('failed');

const STEPS = ['admit', 'identify', 'authorize', 'readBody', 'handle', 'write'] as const;
type Step = (typeof STEPS)[number];
type Timing = 'at once' | 'later';
type Log = readonly (readonly unknown[])[];

/** Steps that log their calls without the exchange. `failing` fails. */
function loggedSteps(timing: Timing, failing?: Step) {
  const log: unknown[][] = [];
  const exchanges = new Set<unknown>();
  /** A synchronous step, as `admit` and `authorize`, fails at once. */
  const step =
    (name: Step, result: unknown, isSynchronous = false) =>
    (exchange: unknown, ...others: unknown[]): unknown => {
      exchanges.add(exchange);
      log.push([name, ...others]);
      if (timing === 'later' && !isSynchronous)
        return name === failing ? Promise.reject(FAILURE) : Promise.resolve(result);
      if (name === failing) throw FAILURE;
      return result;
    };
  const steps = {
    admit: step('admit', undefined, true),
    identify: step('identify', CALLER),
    authorize: step('authorize', undefined, true),
    readBody: step('readBody', BODY),
    handle: step('handle', ANSWER),
    write: step('write', undefined),
    fail(exchange: unknown, ...others: unknown[]) {
      exchanges.add(exchange);
      log.push(['fail', ...others]);
    },
    refuse() {
      throw new TypeError('No request is refused.');
    },
  } as RowSteps;
  return { steps, log, exchanges };
}

const request = { method: 'POST', url: '/things' };
const response = {};

/** Calls of the steps with their arguments, for a row that Koa serves. */
async function overKoa(timing: Timing, failing?: Step): Promise<Log> {
  const { steps, log, exchanges } = loggedSteps(timing, failing);
  const context = { req: request, res: response, respond: true, params: { id: '1' } } as unknown as Context;
  await runInOrder(createRowMiddleware(steps)(ROW), context);
  expect(context.respond).toBe(false);
  expect([...exchanges]).toEqual([{ row: ROW, params: { id: '1' }, request, response }]);
  return log;
}

async function onFastPath(timing: Timing, failing?: Step): Promise<Log> {
  const { steps, log } = loggedSteps(timing, failing);
  await serveRow(steps, { row: ROW, params: {}, request, response } as never);
  return log;
}

const ALL_CALLS: Log = [
  ['admit'],
  ['identify'],
  ['authorize', CALLER],
  ['readBody'],
  ['handle', CALLER, BODY],
  ['write', ANSWER],
];

describe.each(['at once', 'later'] as const)('a row with steps that end %s', (timing) => {
  it('runs them in the same order over Koa and on the fast path', async () => {
    expect(await overKoa(timing)).toEqual(ALL_CALLS);
    expect(await onFastPath(timing)).toEqual(ALL_CALLS);
  });

  it.each(STEPS.map((failing, index) => [failing, index] as const))(
    'runs no further step after a failure of %s, over Koa and on the fast path',
    async (failing, index) => {
      const caller = index > STEPS.indexOf('identify') ? CALLER : null;
      const calls = [...ALL_CALLS.slice(0, index + 1), ['fail', FAILURE, caller]];
      expect(await overKoa(timing, failing)).toEqual(calls);
      expect(await onFastPath(timing, failing)).toEqual(calls);
    },
  );
});

it('a failure that cannot be written rejects over Koa and on the fast path', async () => {
  const fail = (): never => {
    throw FAILURE;
  };
  const steps = { ...loggedSteps('later', 'handle').steps, fail };
  await expect(runInOrder(createRowMiddleware(steps)(ROW), { req: request, res: response } as Context)).rejects.toBe(
    FAILURE,
  );
  await expect(serveRow(steps, { row: ROW, params: {}, request, response } as never)).rejects.toBe(FAILURE);
});
