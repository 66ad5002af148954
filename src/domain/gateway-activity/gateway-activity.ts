/** Kinds of inbound calls that are counted. */
export type ActivityCategory = 'llm' | 'mcp' | 'a2a';

/** Category and route that a request is counted under. */
export interface CountedRoute {
  readonly category: ActivityCategory;
  /** Normalized path, e.g. `/chat/completions` for every path that ends so. */
  readonly route: string;
}

/** Counts inbound HTTP requests. */
export interface RequestCounter {
  /** Category and route that a request is counted under; null when it is not counted. */
  routeOf(method: string, target: string): CountedRoute | null;
  /** Counts a request whose answer has ended. `status` is 0 when no answer began. Never throws, writes nothing. */
  count(route: CountedRoute, status: number): void;
}

/** Numbers of requests, by outcome. */
export interface ActivityCounts {
  /** Status 200 to 299. */
  readonly succeeded: number;
  /** Answered with another status, or not answered. */
  readonly failed: number;
}

/** Requests of one category and route whose answers ended on one UTC day, `YYYY-MM-DD`. */
export interface ActivityRow extends CountedRoute, ActivityCounts {
  readonly day: string;
}

/** Counts that are committed together. */
export interface ActivityBatch {
  /** Id of the process that counted. */
  readonly process: string;
  /** Number of the batch in its process, from 1. */
  readonly number: number;
  /** One row per day, category and route. */
  readonly rows: readonly ActivityRow[];
}

/** Requests of one category and route. */
export type RouteCounts = CountedRoute & ActivityCounts;

/** Requests that one process answered since its last event. */
export interface ActivityDelta {
  readonly at: Date;
  readonly counts: readonly RouteCounts[];
}

export type ActivityField = 'day' | 'category' | 'route';

export interface ActivityQuery {
  /** First and last day, both included. They are compared as text; a text that is not a day is not an error. */
  readonly from: string;
  readonly to: string;
  /** Fields to group by. Groups are sorted by these fields, in this order. */
  readonly by: readonly ActivityField[];
  /** Only these categories and routes; absent for all. */
  readonly categories?: readonly ActivityCategory[];
  readonly routes?: readonly string[];
}

/** Sums of the rows that have the same values in the fields of a query. */
export interface ActivityGroup extends ActivityCounts {
  /** The values that these rows share, by field. */
  readonly of: Readonly<Partial<Pick<ActivityRow, ActivityField>>>;
}

/** Store of counts of requests. */
export interface GatewayActivityStore {
  /**
   * Adds the counts of a batch in one commit. A batch that was committed before adds nothing. So the caller may repeat
   * a batch whose commit was not acknowledged. Batches of a process come in the order of their numbers.
   */
  add(batch: ActivityBatch, now: Date): Promise<void>;
  /** Groups, sorted by the fields of `by`. */
  groups(query: ActivityQuery): Promise<readonly ActivityGroup[]>;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Days of a period: `start` defaults to 30 days ago, `end` to today. Each default applies independently. */
export const activityPeriodOf = (
  start: string | null,
  end: string | null,
  now: Date,
): Pick<ActivityQuery, 'from' | 'to'> => ({
  from: start ?? dayOf(now.getTime() - DEFAULT_DAYS * DAY_MS),
  to: end ?? dayOf(now.getTime()),
});

export const sumOfCounts = (all: Iterable<ActivityCounts>): ActivityCounts =>
  [...all].reduce<ActivityCounts>(
    (sum, { succeeded, failed }) => ({ succeeded: sum.succeeded + succeeded, failed: sum.failed + failed }),
    { succeeded: 0, failed: 0 },
  );

/** Sums groups by some of their fields, in the order of `by`. */
export function sumGroupsBy(groups: readonly ActivityGroup[], by: readonly ActivityField[]): readonly ActivityGroup[] {
  const nameOf = ({ of }: ActivityGroup): string => by.map((field) => of[field] ?? '').join('\n');
  return [...Map.groupBy(groups, nameOf)]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, members]) => ({ of: pickFields(members[0]?.of ?? {}, by), ...sumOfCounts(members) }));
}

/** The fields that `by` names. */
export const pickFields = (of: ActivityGroup['of'], by: readonly ActivityField[]): ActivityGroup['of'] => ({
  ...(by.includes('day') && of.day !== undefined ? { day: of.day } : {}),
  ...(by.includes('category') && of.category !== undefined ? { category: of.category } : {}),
  ...(by.includes('route') && of.route !== undefined ? { route: of.route } : {}),
});

/** Compare function: most successes first. */
export const byMostSucceeded = (left: ActivityCounts, right: ActivityCounts): number =>
  right.succeeded - left.succeeded;
