import { addSums, DAY_MS, NO_SPEND } from './daily-activity.ts';
import type { SpendGroup, SpendSums } from './spend-reports.ts';

/** Prefix of the tags that name a client by its user agent. */
const USER_AGENT = 'User-Agent: ';

const isUserAgent = (tag: string): boolean => tag.startsWith(USER_AGENT);

/** Whether a tag names a client without its version, which follows a `/`. Every call of a client has one such tag. */
const isClient = (tag: string): boolean => isUserAgent(tag) && !tag.includes('/');

/** A period of whole days, in Unix ms: `from` inclusive, `to` exclusive. */
export interface DayWindow {
  readonly from: number;
  readonly to: number;
}

/** `count` consecutive windows of `days` days each. The last window ends at the end of tomorrow, UTC. */
export function windowsUntil(now: Date, { days, count }: { readonly days: number; readonly count: number }) {
  const end = Math.floor(now.getTime() / DAY_MS) * DAY_MS + 2 * DAY_MS;
  return Array.from({ length: count }, (_none, at): DayWindow => {
    const from = end - (count - at) * days * DAY_MS;
    return { from, to: from + days * DAY_MS };
  });
}

/** Number of users with calls of one tag within a window. */
export interface TagUsers {
  readonly tag: string;
  readonly users: number;
  /** Index of the window in the list of windows, the earliest first. */
  readonly window: number;
}

/**
 * Users by tag and window, the latest window first and, within a window, the most users first. `groups` are by tag,
 * user and day; calls without a user are left out. With `tags` null, only tags of user agents are listed; otherwise all
 * tags of `groups`.
 */
export function usersByTag(
  groups: readonly SpendGroup[],
  windows: readonly DayWindow[],
  tags: readonly string[] | null,
): readonly TagUsers[] {
  const shown = groups.filter(
    ({ values }) => typeof values.user === 'string' && (tags !== null || isUserAgent(values.tag ?? '')),
  );
  return windows
    .flatMap(({ from, to }, window) => {
      const own = shown.filter(({ startMs }) => startMs !== null && startMs >= from && startMs < to);
      return [...Map.groupBy(own, ({ values }) => values.tag ?? '')].map(([tag, calls]) => ({
        tag,
        users: new Set(calls.map(({ values }) => values.user)).size,
        window,
      }));
    })
    .toSorted(
      (left, right) => right.window - left.window || right.users - left.users || (left.tag < right.tag ? -1 : 1),
    );
}

/** Calls of one tag. */
export interface TagSums {
  readonly tag: string;
  /** Number of users with such calls. */
  readonly users: number;
  readonly sums: SpendSums;
}

/** Sums by tag, the most calls first. `groups` are by tag and user. */
export const sumsByTag = (groups: readonly SpendGroup[]): readonly TagSums[] =>
  [...Map.groupBy(groups, ({ values }) => values.tag ?? '')]
    .map(([tag, own]) => ({
      tag,
      users: own.filter(({ values }) => typeof values.user === 'string').length,
      sums: own.reduce<SpendSums>(addSums, NO_SPEND),
    }))
    .toSorted((left, right) => right.sums.calls - left.sums.calls || (left.tag < right.tag ? -1 : 1));

/** Calls of one user, and the client that made most of them. */
export interface UserClient {
  readonly userId: string;
  /** The tag of the client. */
  readonly client: string;
  readonly sums: SpendSums;
}

/**
 * Sums by user, the most calls first. `groups` are by tag and user. With `tags` null, each call counts once, by its
 * client. Otherwise a call counts once for each tag of `groups` that names a user agent.
 */
export function sumsByUser(groups: readonly SpendGroup[], tags: readonly string[] | null): readonly UserClient[] {
  const own = groups.filter(
    ({ values }) =>
      typeof values.user === 'string' && (tags === null ? isClient(values.tag ?? '') : isUserAgent(values.tag ?? '')),
  );
  return [...Map.groupBy(own, ({ values }) => values.user ?? '')]
    .map(([userId, calls]) => {
      const [most] = calls.toSorted((left, right) => right.calls - left.calls);
      return { userId, client: most?.values.tag ?? '', sums: calls.reduce<SpendSums>(addSums, NO_SPEND) };
    })
    .toSorted((left, right) => right.sums.calls - left.sums.calls || (left.userId < right.userId ? -1 : 1));
}
