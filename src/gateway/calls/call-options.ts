import type { Caller } from '../../domain/caller.ts';
import type { Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Usd } from '../../domain/money.ts';
import type { CallTarget } from '../accounting/call-account.ts';
import type { RecordedRequest } from '../accounting/record.ts';

/** Facts of a call when it opens. */
export interface CallOptions extends CallTarget {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Usage of a call whose client disconnected before the end of the answer; null where it is not known. */
  readonly abortedUsage?: (
    request: RecordedRequest,
    abortedAnswer: { pieces: number; reported: Usage | null },
  ) => Usage | null;
  /** Usage of a complete answer that reports none; null where it is not billed by tokens. */
  readonly uncountedUsage?: (request: RecordedRequest, pieces: number) => Usage | null;
  /** Cost of a call that was sent and whose client disconnected, where it is no price of tokens; null if not known. */
  readonly abortedCost?: () => Usd | null;
  /** Cost of an answered call, where it is not the price of its usage. */
  readonly costOf?: (outcome: Outcome) => Usd | null;
}
