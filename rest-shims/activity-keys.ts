import { type ActivityKeys, type ActivityKeysQuery, readActivityKeys } from '../resolvers/daily-activity.ts';
import {
  ACTIVITY_READING,
  ACTIVITY_ROUTES,
  type ActivityRoute,
  answersOf,
  parseEntity,
  entitySchema,
} from './helpers/fields/activity.ts';
import { keyMetadata, countsOf } from './helpers/answers/activity.ts';
import { integer, query, missingParameters } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { wordsOf } from './helpers/fields/report-query.ts';
import { merged, requiredParameters } from './helpers/http/schema.ts';

const MOST_KEYS = 1_000;
/** Keys of one page, of a search, of a model, and of those that read little from the cache. */
const USUAL = { page: 50, search: 50, model: 10, uncached: 50 } as const;

const renderKeys = ({ keys, names }: ActivityKeys) =>
  keys.map(({ hash, sums }) => ({ api_key: hash, metrics: countsOf(sums), metadata: keyMetadata(hash, names) }));

/** A text that the query must have. Throws InvalidInput. */
function required(search: string, name: string): string {
  const word = wordsOf(search)(name);
  if (word !== null) return word;
  throw missingParameters(name);
}

const pageReader = query({
  offset: integer({ least: 0, otherwise: 0 }),
  limit: integer({ least: 1, most: MOST_KEYS, otherwise: USUAL.page }),
});

function parsePage(search: string, facts: ActivityRoute): ActivityKeysQuery {
  const { offset, limit } = pageReader(search);
  const from = Math.min(Number(offset), Number.MAX_SAFE_INTEGER);
  return { ...parseEntity(search, facts), search: null, order: 'cost', from, limit: Number(limit) };
}

const limitReader = (otherwise: number) => query({ limit: integer({ least: 1, most: MOST_KEYS, otherwise }) });
const searchLimit = limitReader(USUAL.search);
const modelLimit = limitReader(USUAL.model);
const uncachedLimit = limitReader(USUAL.uncached);

function parseSearch(search: string, facts: ActivityRoute): ActivityKeysQuery {
  const part = required(search, 'search');
  return {
    ...parseEntity(search, facts),
    search: part,
    order: 'cost',
    from: 0,
    limit: Number(searchLimit(search).limit),
  };
}

function parseModel(search: string, facts: ActivityRoute): ActivityKeysQuery {
  const model = required(search, 'model_group');
  const { filter, ...activity } = parseEntity(search, facts);
  const any = { ...filter.any, modelGroup: [model] };
  const limit = Number(modelLimit(search).limit);
  return { ...activity, filter: { ...filter, any }, search: null, order: 'cost', from: 0, limit };
}

/** Keys of an activity: by pages, by a search, and of one model. */
const keyRows = (facts: ActivityRoute): readonly RouteRow[] => {
  const common = { ...ACTIVITY_READING, answers: answersOf(facts), run: readActivityKeys } as const;
  const path = `${facts.path}/daily/activity/aggregated`;
  return [
    route({
      ...common,
      name: `dailyActivity.${facts.entity}Keys`,
      query: merged(entitySchema(facts), pageReader),
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
      query: merged(entitySchema(facts), requiredParameters('search'), searchLimit),
      paths: [`${path}/search`],
      parse: ({ search }) => parseSearch(search, facts),
      render: (found) => json({ api_keys: renderKeys(found) }),
    }),
    route({
      ...common,
      name: `dailyActivity.${facts.entity}ModelKeys`,
      query: merged(entitySchema(facts), requiredParameters('model_group'), modelLimit),
      paths: [`${path}/model_top_keys`],
      parse: ({ search }) => parseModel(search, facts),
      render: (found, { search }) =>
        json({ model: required(search, 'model_group'), by_model_group: true, api_keys: renderKeys(found) }),
    }),
  ];
};

/** Keys by the number of prompt tokens that no cache of a provider had. Only users have this list. */
const uncachedRow = (facts: ActivityRoute): RouteRow =>
  route({
    ...ACTIVITY_READING,
    name: `dailyActivity.${facts.entity}UncachedKeys`,
    query: merged(entitySchema(facts), uncachedLimit),
    paths: [`${facts.path}/daily/activity/aggregated/cache_leakage_keys`],
    answers: answersOf(facts),
    parse: ({ search }): ActivityKeysQuery => {
      const limit = Number(uncachedLimit(search).limit);
      return { ...parseEntity(search, facts), search: null, order: 'uncachedTokens', from: 0, limit };
    },
    run: readActivityKeys,
    render: (found) => json({ api_keys: renderKeys(found) }),
  });

/** Keys of users, teams and other owners with their calls. */
export const activityKeyRoutes: readonly RouteRow[] = [
  ...ACTIVITY_ROUTES.flatMap(keyRows),
  ...ACTIVITY_ROUTES.filter(({ entity }) => entity === 'user').map(uncachedRow),
];
