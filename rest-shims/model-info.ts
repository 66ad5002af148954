import { type Deprecation, listDeprecations } from '../resolvers/model-deprecations.ts';
import { type ModelFacts, listModelInfo, listModelPage, type ModelPageQuery } from '../resolvers/models.ts';
import { shownParameters } from '../src/domain/deployments/parameters.ts';
import { publicAddress } from '../src/domain/deployments/public-address.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { MODEL_SORTS } from '../src/domain/deployments/model-info.ts';
import { flag, integer, query as queryOf, text } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { textParameters } from './helpers/http/schema.ts';
import { withConfiguredPrices } from '../src/domain/deployments/priced-row.ts';
import { groupObject } from './helpers/answers/model-groups.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

/** Prices of a deployment without known prices. */
const UNPRICED = { input_cost_per_token: null, output_cost_per_token: null };

/** Parameters of a deployment, without secrets: those of its stored row, else those of the configuration. */
function renderParams({ deployment, stored, seesAddress }: ModelFacts) {
  const { provider, upstreamModel, apiBase, timeoutSeconds, dropParams, priceOverrides } = deployment;
  const address = seesAddress && apiBase !== null ? { api_base: publicAddress(apiBase) } : {};
  const model = `${provider}/${upstreamModel}`;
  if (stored !== null) {
    const { api_base: _address, ...params } = shownParameters(stored);
    // The stored model of a wildcard is a pattern. The list has the models that match it.
    return { ...params, model: deployment.modelGroup.includes('*') ? model : params['model'], ...address };
  }
  return {
    model,
    ...address,
    timeout: timeoutSeconds,
    ...(dropParams ? { drop_params: true } : {}),
    ...priceOverrides,
    ...(deployment.credentialName === undefined ? {} : { litellm_credential_name: deployment.credentialName }),
  };
}

/** A deployment in the reference's format. The catalog supplies what the configuration does not set. */
function infoObject(facts: ModelFacts) {
  const { name, deployment, stored, entry } = facts;
  const { id, provider, priceOverrides, baseModel, accessGroups, teamId } = deployment;
  return {
    model_name: name,
    litellm_params: renderParams(facts),
    model_info: {
      ...UNPRICED,
      litellm_provider: provider,
      ...withConfiguredPrices(entry?.row, priceOverrides),
      ...stored?.info,
      ...priceOverrides,
      id,
      db_model: stored !== null,
      ...(teamId === undefined ? {} : { team_id: teamId, team_public_model_name: deployment.modelGroup }),
      ...(stored === null ? {} : { ...renderAuthors(stored), blocked: stored.blocked }),
      key: entry?.id ?? null,
      ...(baseModel === null ? {} : { base_model: baseModel }),
      ...(accessGroups === undefined ? {} : { access_groups: accessGroups }),
      pricing_overrides: Object.keys(priceOverrides).toSorted(),
      ...accessObject(facts),
    },
  };
}

const accessObject = ({ access }: ModelFacts) =>
  access === undefined
    ? {}
    : {
        direct_access: access.isDirect,
        ...(access.teamIds === null ? {} : { access_via_team_ids: access.teamIds }),
      };

const renderAuthors = (stored: NonNullable<ModelFacts['stored']>) => ({
  created_at: stored.createdAt.toISOString(),
  created_by: stored.createdBy,
  updated_at: stored.updatedAt.toISOString(),
  updated_by: stored.updatedBy,
});

const readPage = queryOf({
  page: integer({ min: 1, defaultValue: 1 }),
  size: integer({ min: 1, max: 1_000, defaultValue: 50 }),
  model: text,
  modelId: text,
  search: text,
  access_group: text,
  wildcard_only: flag,
  user_models_only: flag,
  teamId: text,
  include_team_models: flag,
  sortBy: text,
  sortOrder: text,
});

function parsePage(search: string): ModelPageQuery {
  const parameters = readPage(search);
  const sort = MODEL_SORTS.find((name) => name === parameters.sortBy) ?? null;
  const order = parameters.sortOrder?.toLowerCase() ?? 'asc';
  // Without `sortBy`, the order has no effect and is not checked.
  if (parameters.sortBy !== null && order !== 'asc' && order !== 'desc')
    throw new InvalidInput(`Invalid sortOrder: ${parameters.sortOrder}. Must be 'asc' or 'desc'.`, [], {
      field: 'sortOrder',
    });
  return {
    page: Number(parameters.page),
    size: Number(parameters.size),
    name: parameters.model,
    deploymentId: parameters.modelId,
    search: parameters.search,
    accessGroup: parameters.access_group,
    onlyWildcards: parameters.wildcard_only ?? false,
    onlyOwn: parameters.user_models_only ?? false,
    teamId: parameters.teamId || null,
    withTeams: parameters.include_team_models ?? false,
    sort,
    descending: order === 'desc',
  };
}

const readDeprecations = queryOf({ warn_within_days: integer({ min: 0, max: 3_650, defaultValue: 30 }) });

const deprecationObject = ({ deploymentId, name, provider, upstreamModel, date, daysLeft }: Deprecation) => ({
  model_group: name,
  model: `${provider}/${upstreamModel}`,
  model_id: deploymentId,
  deprecation_date: date,
  days_until_deprecation: daysLeft,
});

/** Prices, limits and capabilities of models. */
export const modelInfoRoutes: readonly RouteRow[] = [
  route({
    name: 'models.info',
    querySchema: textParameters('litellm_model_id', 'healthy_only', 'teamId', 'include_team_models'),
    method: 'GET',
    paths: ['/v1/model/info', '/model/info'],
    surface: 'proxy',
    credential: 'required',
    statuses: [200, 400, 401, 403, 404],
    failureForm: { body: 'detail' },
    bodyLimit: 0,
    parse({ search }) {
      const query = new URLSearchParams(search);
      const isTrue = (name: string): boolean => query.get(name)?.toLowerCase() === 'true';
      return {
        deploymentId: query.get('litellm_model_id'),
        group: null,
        onlyHealthy: isTrue('healthy_only'),
        teamId: query.get('teamId') || null,
        withTeams: isTrue('include_team_models'),
        withAccess: true,
      };
    },
    run: listModelInfo,
    render: (models) => json({ data: models.map(infoObject) }),
  }),
  route({
    name: 'models.page',
    querySchema: readPage.schema,
    method: 'GET',
    paths: ['/v2/model/info'],
    ...MANAGEMENT,
    statuses: [200, 400, 401, 403, 404, 422],
    failureForm: { body: 'text' },
    bodyLimit: 0,
    parse: ({ search }) => parsePage(search),
    run: listModelPage,
    render: ({ models, total, query: { page, size } }) =>
      json({
        data: models.map(infoObject),
        total_count: total,
        current_page: page,
        total_pages: Math.ceil(total / size),
        size,
      }),
  }),
  route({
    name: 'models.groups',
    querySchema: textParameters('model_group'),
    method: 'GET',
    paths: ['/model_group/info'],
    surface: 'proxy',
    credential: 'required',
    statuses: [200, 401],
    bodyLimit: 0,
    parse: ({ search }) => ({
      deploymentId: null,
      group: new URLSearchParams(search).get('model_group'),
      onlyHealthy: false,
      onlyCallable: true,
    }),
    run: listModelInfo,
    render(models) {
      const groups = [...Map.groupBy(models, ({ name }) => name)];
      return json({ data: groups.map(([name, members]) => groupObject(name, members)) });
    },
  }),
  route({
    name: 'models.deprecations',
    querySchema: readDeprecations.schema,
    method: 'GET',
    paths: ['/v1/model/deprecations', '/model/deprecations'],
    ...MANAGEMENT,
    statuses: [200, 401, 422],
    bodyLimit: 0,
    parse: ({ search }) => ({ withinDays: Number(readDeprecations(search).warn_within_days) }),
    run: listDeprecations,
    render: ({ deprecated, imminent, upcoming, withinDays, checkedAt }) =>
      json({
        deprecated: deprecated.map(deprecationObject),
        imminent: imminent.map(deprecationObject),
        upcoming: upcoming.map(deprecationObject),
        warn_within_days: withinDays,
        checked_at: checkedAt.toISOString(),
      }),
  }),
];
