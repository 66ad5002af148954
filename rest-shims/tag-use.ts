import { readTagUse, type TagUse } from '../resolvers/tag-use.ts';
import { usdNumber } from '../src/domain/money.ts';
import { dayText } from '../src/domain/spend/report-dates.ts';
import type { SpendSums } from '../src/domain/spend/spend-reports.ts';
import { type DayWindow, sumsByTag, sumsByUser, usersByTag, windowsUntil } from '../src/domain/spend/tag-use.ts';
import { integer, query } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { listParameter, periodIn, validatedPeriod, last30Days } from './helpers/fields/report-query.ts';
import { merged, requiredParameters, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Number of windows in an answer. */
const WINDOW_COUNT = 7;
/** Windows of active users: length in days, and the word in the name of a window. */
const PERIODS = [
  { name: 'tagUse.daily', path: '/tag/dau', days: 1, word: null },
  { name: 'tagUse.weekly', path: '/tag/wau', days: 7, word: 'Week' },
  { name: 'tagUse.monthly', path: '/tag/mau', days: 30, word: 'Month' },
] as const;

/** Format of the start of a window in its name: `Jan 05` for a week, `Jan` for a month. */
const startFormat = (word: 'Week' | 'Month'): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    month: 'short',
    ...(word === 'Week' ? { day: '2-digit' } : {}),
    timeZone: 'UTC',
  });
const MAX_PAGE_SIZE = 1_000;

const TAGS = textParameters('tag_filter', 'tag_filters');

/** Distinct tags of a query; null without any. */
function tagsIn(search: string): readonly string[] | null {
  const tags = [...(listParameter(search, 'tag_filter') ?? []), ...new URLSearchParams(search).getAll('tag_filters')];
  const distinct = [...new Set(tags.filter((tag) => tag !== ''))];
  return distinct.length === 0 ? null : distinct;
}

/** Name, start and end of a window, in the form of the reference. Windows are numbered from 1. */
function renderWindow(word: 'Week' | 'Month' | null, { from, to }: DayWindow, index: number) {
  if (word === null) return { date: dayText(from), period_start: null, period_end: null };
  const begin = startFormat(word).format(from);
  const last = new Date(to - 1);
  return {
    date: `${word} ${index + 1} (${begin})`,
    period_start: `${dayText(from)} 00:00:00`,
    period_end: `${dayText(last.getTime())} 00:00:00`,
  };
}

const renderCounts = (sums: SpendSums) => ({
  successful_requests: sums.calls - sums.failures,
  failed_requests: sums.failures,
  total_requests: sums.calls,
  total_tokens: sums.inputTokens + sums.outputTokens,
});

const userRows: readonly RouteRow[] = PERIODS.map(({ name, path, days, word }) =>
  route({
    ...MANAGEMENT_READ,
    name,
    paths: [path],
    statuses: [200, 401],
    querySchema: TAGS,
    parse({ search }) {
      const windows = windowsUntil(new Date(), { days, count: WINDOW_COUNT });
      const period = { from: new Date(windows[0]?.from ?? 0), to: new Date(windows.at(-1)?.to ?? 0) };
      return { period, tags: tagsIn(search), by: ['tag', 'user'] as const, byDay: true, windows };
    },
    run: async (scope, { windows, tags, ...grouping }) => {
      const { groups } = await readTagUse(scope, { ...grouping, tags });
      return { windows, active: usersByTag(groups, windows, tags) };
    },
    render: ({ windows, active }) =>
      json({
        results: active.flatMap(({ tag, users, window: index }) => {
          const period = windows[index];
          return period === undefined ? [] : [{ tag, active_users: users, ...renderWindow(word, period, index) }];
        }),
      }),
  }),
);

const pageReader = query({
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: 50 }),
});

function renderUsers({ groups, emails }: TagUse, search: string) {
  const parameters = pageReader(search);
  const [page, size] = [Number(parameters.page), Number(parameters.page_size)];
  const all = sumsByUser(groups, tagsIn(search));
  const results = all.slice((page - 1) * size, page * size).map(({ userId, client, sums }) => ({
    user_id: userId,
    user_email: emails.get(userId) ?? null,
    user_agent: client,
    ...renderCounts(sums),
    spend: usdNumber(sums.cost),
  }));
  return { results, total_count: all.length, page, page_size: size, total_pages: Math.ceil(all.length / size) };
}

/** Users and calls by tag. Without a tag filter, active users are counted by the tags of user agents only. */
export const tagUseRoutes: readonly RouteRow[] = [
  ...userRows,
  route({
    ...MANAGEMENT_READ,
    name: 'tagUse.distinct',
    paths: ['/tag/distinct'],
    statuses: [200, 401],
    parse: () => ({ period: null, tags: null, by: ['tag'] as const, byDay: false }),
    run: readTagUse,
    render: ({ groups }) => json({ results: sumsByTag(groups).map(({ tag }) => ({ tag })) }),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'tagUse.summary',
    querySchema: merged(TAGS, requiredParameters('start_date', 'end_date')),
    paths: ['/tag/summary'],
    statuses: [200, 400, 401, 422],
    parse: ({ search }) => ({
      period: validatedPeriod(search),
      tags: tagsIn(search),
      by: ['tag', 'user'] as const,
      byDay: false,
    }),
    run: readTagUse,
    render: ({ groups }) =>
      json({
        results: sumsByTag(groups).map(({ tag, users, sums }) => {
          const { total_requests, successful_requests, failed_requests, total_tokens } = renderCounts(sums);
          // As in the reference, the total is before its parts here.
          const counts = { total_requests, successful_requests, failed_requests, total_tokens };
          return { tag, unique_users: users, ...counts, total_spend: usdNumber(sums.cost) };
        }),
      }),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'tagUse.users',
    querySchema: merged(TAGS, textParameters('start_date', 'end_date'), pageReader),
    paths: ['/tag/user-agent/per-user-analytics'],
    statuses: [200, 400, 401, 422],
    parse({ search }) {
      // Refuses an invalid page before the report is read.
      pageReader(search);
      const period = periodIn(search) ?? last30Days();
      return { period, tags: tagsIn(search), by: ['tag', 'user'] as const, byDay: false };
    },
    run: readTagUse,
    render: (use, { search }) => json(renderUsers(use, search)),
  }),
];
