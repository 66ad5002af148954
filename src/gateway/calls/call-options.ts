import type { Caller } from '../../domain/caller.ts';
import type { Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Usd } from '../../domain/money.ts';
import type { CallTarget, RoutingUse } from '../accounting/call-account.ts';
import type { RecordedRequest } from '../accounting/record.ts';

/** The caller and the target of a new call, and functions for usage and cost that its upstream does not report. */
export interface CallOptions extends CallTarget, RoutingUse {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /**
   * Usage of a call whose client disconnected before the end of the answer; null if unknown. `pieces` is the number of
   * received deltas, `reported` the usage that the upstream has reported so far.
   */
  readonly abortedUsage?: (
    request: RecordedRequest,
    abortedAnswer: { pieces: number; reported: Usage | null },
  ) => Usage | null;
  /** Usage of a complete answer without a reported usage; null for a call that is not billed by tokens. */
  readonly uncountedUsage?: (request: RecordedRequest, pieces: number) => Usage | null;
  /**
   * Cost of a sent call whose client disconnected, where neither the answer nor `abortedUsage` determines it; null if
   * unknown. `to` is the last target of the call.
   */
  readonly abortedCost?: (to: CallTarget) => Usd | null;
  /** Cost of an answered call; null if unknown. Absent for calls whose cost is the price of their usage. */
  readonly costOf?: (outcome: Outcome) => Usd | null;
}
