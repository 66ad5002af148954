import type { RoutingDecision } from '../auto-routers/routing-decision.ts';
import type { GuardrailEntry } from '../guardrails/entry.ts';
import type { Spender } from '../admission/counters.ts';
import type { Usd } from '../money.ts';
import type { BudgetWindow } from '../budgets/budget-window.ts';
import type { Usage } from '../chat/chat.ts';

/** Usage and cost of one gateway call. Append-only. */
export interface SpendRow {
  /** Our id of the call: unique even when a client repeats its call id. */
  readonly id: string;
  /** `x-litellm-call-id`: the client's, else ours. */
  readonly callId: string;
  /** Id of the upstream's answer; null without an answer. That of a cached answer ends in `_cache_hit` and a time. */
  readonly responseId: string | null;
  readonly callType: string;
  readonly keyHash: string;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** End user of the caller's application; null when the request names none. */
  readonly endUser: string | null;
  /** Session of the caller; null when the request names none. */
  readonly sessionId: string | null;
  /** Distinct tags: those of the request, its key, team and project, then those of the user agent. */
  readonly tags: readonly string[];
  /** The name the caller sent (the model group). */
  readonly modelGroup: string;
  /** The name sent upstream. */
  readonly model: string;
  readonly deploymentId: string;
  readonly provider: string;
  readonly usage: Usage | null;
  /** Null when no price is known, or when the billed quantity was not reported. */
  readonly cost: Usd | null;
  readonly status: 'success' | 'failure';
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Time of the first byte of the answer; null without one. */
  readonly firstByteAt: Date | null;
  /** Ids of the call's span in the trace store. */
  readonly traceId: string;
  readonly spanId: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Key of the cached answer; absent for calls that no cached answer answered. */
  readonly cacheHitKey?: string;
  /** Decision of the auto router of the call; absent for other calls. */
  readonly routing?: RoutingDecision;
  /** Runs of guardrails; absent for none. */
  readonly guardrails?: readonly GuardrailEntry[];
  /**
   * Budget windows in which the call counts; absent for none. A store adds the `amount` of each window, or the cost
   * where it has none, to the total of the window. It does not store the list.
   */
  readonly windows?: readonly BudgetWindow[];
}

/**
 * Search for the gateway call that a client's span describes, when the call is in another trace than the span. The span
 * has the id of the answer or of the call.
 */
export interface CallSearch {
  /** At least one of both ids is not null. */
  readonly responseId: string | null;
  readonly callId: string | null;
  /** Period in which the gateway may have begun the trace, Unix ms; both ends are included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Kind of an object whose spend is summed, except keys: an owner of keys, a label of calls or a budget window.
 * `truncateLabel` cuts labels.
 */
export type SummedKind = Exclude<Spender, 'key'>;
/** Owners of keys. */
export type KeyOwnerKind = Exclude<SummedKind, 'tag' | 'end_user' | 'window'>;

/** Owners whose spend starts at zero when they are created. */
export type StartedKind = Extract<KeyOwnerKind, 'team' | 'user' | 'member'>;

/** A key, an owner of keys, or a label of calls. */
export type CountedKind = Exclude<Spender, 'window'>;

/** Labels of calls. */
type LabelKind = Exclude<CountedKind, 'key' | KeyOwnerKind>;

export const isLabelKind = (kind: Spender): kind is LabelKind => kind === 'tag' || kind === 'end_user';

/** Id of a key, owner or label, and the time from which its spend counts, inclusive. */
export interface SpendStart {
  readonly id: string;
  readonly from: Date;
}

/** Store of spend. */
export interface SpendStore {
  /** Appends rows in one commit. A row whose id is already stored is unchanged. */
  append(rows: readonly SpendRow[]): Promise<void>;
  /** The rows of these spans, in no particular order. `spanKeys` are `traceId:spanId`. */
  findBySpans(spanKeys: readonly string[]): Promise<readonly SpendRow[]>;
  /**
   * The rows of calls whose answer id or call id is in one of these searches. Only traces that the gateway began in the
   * period of any search are read. The result has each row once, in no particular order.
   */
  findElsewhere(searched: readonly CallSearch[]): Promise<readonly SpendRow[]>;
  /** Start of the newest call; null without any row. */
  newestStart(): Promise<Date | null>;
  /** Removes the error texts from the rows of these traces; their codes stay. */
  removeErrorTexts(traces: readonly Pick<SpendRow, 'traceId' | 'keyHash'>[]): Promise<void>;
  /**
   * Removes at most `most` rows of calls that started before `beforeMs` (Unix ms), the oldest first; resolves to their
   * number. Totals and sums of days stay.
   */
  removeStartedBefore(beforeMs: number, most: number): Promise<number>;
  /** Total spend of a key: see `totalsOfOwners`. */
  totalOf(keyHash: string): Promise<Usd>;
  /** Total spend of each of these keys; keys without any spend are absent. See `totalsOfOwners`. */
  totalsOf(keyHashes: readonly string[]): Promise<ReadonlyMap<string, Usd>>;
  /**
   * Total spend of the keys of each of these owners, or of the calls with each of these labels. Deleted keys count, so
   * that deleting a key does not refill a budget. Owners without any spend are absent. Ids of members are made by
   * `memberId`. A window has the calls that were recorded with it in `windows`. Calls that are committed but not yet
   * unfolded into rows also count.
   */
  totalsOfOwners(kind: SummedKind, ids: readonly string[]): Promise<ReadonlyMap<string, Usd>>;
  /**
   * The part of `totalsOfOwners` that earlier owners with these ids left: the spend of deleted keys, and of the keys of
   * signed tokens. Read it before an owner is created.
   */
  totalsOfEarlierOwners(kind: StartedKind, ids: readonly string[]): Promise<ReadonlyMap<string, Usd>>;
  /**
   * Exact spend of each key, owner or label in calls that started at or after its `from`; otherwise as
   * `totalsOfOwners`. A key, owner or label without such calls is absent.
   */
  totalsSince(kind: CountedKind, starts: readonly SpendStart[]): Promise<ReadonlyMap<string, Usd>>;
}
