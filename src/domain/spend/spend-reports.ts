import type { Usd } from '../money.ts';
import type { KeyOwnerKind, SpendRow } from './spend-row.ts';

/**
 * Properties of a call that reports filter and group by. `model` is `provider/name`; filters also match the
 * name alone. `organization` is the current organization of the call's team or, without a team, of its key. `agent`
 * is the current agent of the key. `cacheHit` is `hit` for calls that a cached answer answered.
 */
export const SPEND_FIELDS = [
  'key',
  'user',
  'team',
  'organization',
  'agent',
  'endUser',
  'session',
  'tag',
  'model',
  'modelGroup',
  'provider',
  'deployment',
  'callType',
  'status',
  'errorCode',
  'cacheHit',
] as const;
export type SpendField = (typeof SPEND_FIELDS)[number];

/** Values of fields; a call matches a field when it has one of the values. */
export type FieldValues = Readonly<Partial<Record<SpendField, readonly string[]>>>;

/** Filter of calls. All conditions must match. */
export interface SpendFilter {
  /** Start time, inclusive; null is unlimited. */
  readonly from: Date | null;
  /** Start time, exclusive; null is unlimited. */
  readonly to: Date | null;
  /** Fields that must have one of these values. */
  readonly any: FieldValues;
  /** Fields that must have none of these values. A call without a value matches. */
  readonly none?: FieldValues;
  /** Fields that must have a value. */
  readonly some?: readonly SpendField[];
  /**
   * Calls of the keys that belong to this owner now, including deleted keys. Id of a team member: `memberId(teamId,
   * userId)`.
   */
  readonly ownedBy?: { readonly kind: KeyOwnerKind; readonly id: string };
  /** The `responseId`, `callId` or `id` of the call. */
  readonly requestId?: string;
  /** The session of the call, or the trace id of a call without a session. */
  readonly sessionId?: string;
  /** Limits of the cost of a call, both inclusive. */
  readonly minCost?: Usd;
  readonly maxCost?: Usd;
  /** Only calls of this key, this user or these teams; null for all calls. */
  readonly visibleTo: {
    readonly keyHash: string;
    readonly userId: string | null;
    readonly teamIds?: readonly string[];
  } | null;
}

export const SPEND_SORTS = ['startTime', 'spend', 'total_tokens', 'endTime', 'model'] as const;
export type SpendSort = (typeof SPEND_SORTS)[number];

/**
 * Cursor position of a row in a list. `rank` is its cost in picodollars or its tokens where rows are ordered by these.
 */
export interface SpendPlace extends Pick<SpendRow, 'startedAt' | 'traceId' | 'spanId' | 'id'> {
  readonly rank?: bigint;
}

/**
 * Query for one page of rows. Rows with an equal sort value are ordered by start, trace, span and id, in the same
 * direction.
 */
export interface SpendPage {
  readonly filter: SpendFilter;
  readonly sort: SpendSort;
  readonly descending: boolean;
  readonly limit: number;
  /**
   * Number of rows to skip, or the cursor position of the row before the page. Only the sorts `startTime`, `spend` and
   * `total_tokens` accept a cursor position.
   */
  readonly from: number | SpendPlace;
}

/** Sums over calls. */
export interface SpendSums {
  readonly calls: number;
  readonly failures: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Exact; calls without a known price count as zero. */
  readonly cost: Usd;
  /** Durations of successful calls, in ms. */
  readonly successMs: number;
}

/** Sums of the calls that have the same values in the fields of a grouping. */
export interface SpendGroup extends SpendSums {
  /**
   * The common value of each field of the grouping; null for calls that have no value. In a grouping by tag, a call is
   * in the group of each of its tags; one without tags is in none.
   */
  readonly values: Readonly<Partial<Record<SpendField, string | null>>>;
  /** End of the last call, Unix ms; null without calls. */
  readonly lastMs: number | null;
  /**
   * Start of the bucket in UTC, Unix ms. Bucket borders follow the time zone offset of the grouping. Null when the
   * grouping has no bucket.
   */
  readonly startMs: number | null;
}

export interface SpendGrouping {
  readonly filter: SpendFilter;
  readonly by: readonly SpendField[];
  /** Also groups by time: width of a bucket, and the offset of the time zone, which is added to start times. */
  readonly bucket?: { readonly ms: number; readonly offsetMs: number };
  /** Maximum number of groups; those of the highest cost are kept. */
  readonly limit: number;
}

/** Reads spend for reports. Reads include every call committed before. */
export interface SpendReports {
  rows(page: SpendPage): Promise<readonly SpendRow[]>;
  /** Number of rows that match, counted up to `most`. */
  count(filter: SpendFilter, most: number): Promise<number>;
  /** Groups by descending cost. */
  groups(grouping: SpendGrouping): Promise<readonly SpendGroup[]>;
}

/** Maximum number of fields of one grouping. */
export const MAX_GROUP_FIELDS = 3;
/** Maximum number of groups of one answer. */
export const MAX_GROUPS = 10_000;
