import type { BudgetAlert } from '../src/domain/budgets/budget-alert.ts';
import type { Delivery } from '../src/domain/bus.ts';
import { mayRead, visibilityOf } from '../src/domain/caller.ts';
import { ownerOfCall } from '../src/domain/calls/call-record.ts';
import type { PollableStream } from '../src/domain/pollable-stream.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import { anyAdmin, traceReader } from './operation/access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Streams calls of keys that the caller may read, as they are settled. Ends when the reader loses access. */
export const watchSpend = operation({
  name: 'watchSpend',
  access: traceReader,
  run(scope: Scope<TracePlatform>, _input: undefined): PollableStream<Delivery<SpendRow>> {
    const visibility = visibilityOf(callerOf(scope));
    const deliveries = scope.platform.bus.subscribe('spend', {
      wanted: (row) => mayRead(visibility, ownerOfCall(row)),
      signal: scope.signal,
    });
    return whileAllowed(deliveries, {
      scope,
      access: traceReader,
      // Checked again, because the rights of the caller may have changed.
      show: (delivery, caller) => (mayRead(visibilityOf(caller), ownerOfCall(delivery.event)) ? delivery : null),
    });
  },
});

/**
 * Streams alerts about budgets that refuse calls, at most one a minute per budget and process. Also streams one alert
 * for each soft budget that is exceeded, per window and process. Ends when the reader loses access.
 */
export const watchBudgets = operation({
  name: 'watchBudgets',
  access: anyAdmin,
  run(scope: Scope<TracePlatform>, _input: undefined): PollableStream<Delivery<BudgetAlert>> {
    const deliveries = scope.platform.bus.subscribe('budgetAlert', { signal: scope.signal });
    return whileAllowed(deliveries, { scope, access: anyAdmin, show: (delivery) => delivery });
  },
});
