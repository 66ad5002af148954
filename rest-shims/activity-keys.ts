import { type ActivityKeys, type ActivityKeysQuery, readActivityKeys } from '../resolvers/daily-activity.ts';
import {
  ACTIVITY_READ,
  ACTIVITY_ROUTES,
  type ActivityRoute,
  activityStatuses,
  parseActivityFilter,
  activitySchema,
} from './helpers/fields/activity.ts';
import { keyMetadata, activityMetrics } from './helpers/answers/activity.ts';
import { integer, query, missingParameters } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { queryParameters } from './helpers/fields/report-query.ts';
import { merged, requiredParameters } from './helpers/http/schema.ts';

const MAX_KEYS = 1_000;
/** Default of `limit` for each list of keys. */
const DEFAULT_LIMITS = { page: 50, search: 50, model: 10, uncached: 50 } as const;

const renderKeys = ({ keys, names }: ActivityKeys) =>
  keys.map(({ hash, sums }) => ({ api_key: hash, metrics: activityMetrics(sums), metadata: keyMetadata(hash, names) }));

/** Value of a required query parameter. Throws InvalidInput if it is absent or empty. */
function required(search: string, name: string): string {
  const value = queryParameters(search)(name);
  if (value !== null) return value;
  throw missingParameters(name);
}

const pageReader = query({
  offset: integer({ min: 0, defaultValue: 0 }),
  limit: integer({ min: 1, max: MAX_KEYS, defaultValue: DEFAULT_LIMITS.page }),
});

function parsePage(search: string, facts: ActivityRoute): ActivityKeysQuery {
  const { offset, limit } = pageReader(search);
  const from = Math.min(Number(offset), Number.MAX_SAFE_INTEGER);
  return { ...parseActivityFilter(search, facts), search: null, order: 'cost', from, limit: Number(limit) };
}

const limitReader = (defaultValue: number) => query({ limit: integer({ min: 1, max: MAX_KEYS, defaultValue }) });
const searchLimit = limitReader(DEFAULT_LIMITS.search);
const modelLimit = limitReader(DEFAULT_LIMITS.model);
const uncachedLimit = limitReader(DEFAULT_LIMITS.uncached);

function parseSearch(search: string, facts: ActivityRoute): ActivityKeysQuery {
  const searchText = required(search, 'search');
  return {
    ...parseActivityFilter(search, facts),
    search: searchText,
    order: 'cost',
    from: 0,
    limit: Number(searchLimit(search).limit),
  };
}

function parseModel(search: string, facts: ActivityRoute): ActivityKeysQuery {
  const model = required(search, 'model_group');
  const { filter, ...activity } = parseActivityFilter(search, facts);
  const any = { ...filter.any, modelGroup: [model] };
  const limit = Number(modelLimit(search).limit);
  return { ...activity, filter: { ...filter, any }, search: null, order: 'cost', from: 0, limit };
}

/** Route rows that list the keys of one kind of entity: in pages, by a search, and by model group. */
const keyRows = (facts: ActivityRoute): readonly RouteRow[] => {
  const common = { ...ACTIVITY_READ, statuses: activityStatuses(facts), run: readActivityKeys } as const;
  const path = `${facts.path}/daily/activity/aggregated`;
  return [
    route({
      ...common,
      name: `dailyActivity.${facts.entity}Keys`,
      querySchema: merged(activitySchema(facts), pageReader),
      paths: [`${path}/keys`],
      parse: ({ search }) => parsePage(search, facts),
      render(found, { search }) {
        const { from, limit } = parsePage(search, facts);
        return json({ api_keys: renderKeys(found), total_api_keys: found.total, offset: from, limit });
      },
    }),
    route({
      ...common,
      name: `dailyActivity.${facts.entity}Search`,
      querySchema: merged(activitySchema(facts), requiredParameters('search'), searchLimit),
      paths: [`${path}/search`],
      parse: ({ search }) => parseSearch(search, facts),
      render: (found) => json({ api_keys: renderKeys(found) }),
    }),
    route({
      ...common,
      name: `dailyActivity.${facts.entity}ModelKeys`,
      querySchema: merged(activitySchema(facts), requiredParameters('model_group'), modelLimit),
      paths: [`${path}/model_top_keys`],
      parse: ({ search }) => parseModel(search, facts),
      render: (found, { search }) =>
        json({ model: required(search, 'model_group'), by_model_group: true, api_keys: renderKeys(found) }),
    }),
  ];
};

/** Keys with the most prompt tokens that a provider did not read from its cache. For the entity `user` only. */
const uncachedRow = (facts: ActivityRoute): RouteRow =>
  route({
    ...ACTIVITY_READ,
    name: `dailyActivity.${facts.entity}UncachedKeys`,
    querySchema: merged(activitySchema(facts), uncachedLimit),
    paths: [`${facts.path}/daily/activity/aggregated/cache_leakage_keys`],
    statuses: activityStatuses(facts),
    parse: ({ search }): ActivityKeysQuery => {
      const limit = Number(uncachedLimit(search).limit);
      return { ...parseActivityFilter(search, facts), search: null, order: 'uncachedTokens', from: 0, limit };
    },
    run: readActivityKeys,
    render: (found) => json({ api_keys: renderKeys(found) }),
  });

/** Keys of users, teams and other entities with their activity. */
export const activityKeyRoutes: readonly RouteRow[] = [
  ...ACTIVITY_ROUTES.flatMap(keyRows),
  ...ACTIVITY_ROUTES.filter(({ entity }) => entity === 'user').map(uncachedRow),
];
