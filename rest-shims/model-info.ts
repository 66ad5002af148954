import { type KnownModel, listModelInfo } from '../resolvers/models.ts';
import { publicAddress } from '../src/domain/deployments/public-address.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { json, route, type RouteRow } from './http/route.ts';

/** Prices of a deployment without a price: unknown, not free. */
const UNPRICED = { input_cost_per_token: null, output_cost_per_token: null };

/** A deployment in the reference's format. The catalog supplies what the configuration does not set. */
function infoObject({ name, deployment, entry, seesAddress }: KnownModel): object {
  const { id, provider, upstreamModel, apiBase, timeoutSeconds, dropParams, priceOverrides, baseModel } = deployment;
  return {
    model_name: name,
    litellm_params: {
      model: `${provider}/${upstreamModel}`,
      ...(seesAddress && apiBase !== null ? { api_base: publicAddress(apiBase) } : {}),
      timeout: timeoutSeconds,
      ...(dropParams ? { drop_params: true } : {}),
      ...priceOverrides,
    },
    model_info: {
      ...UNPRICED,
      litellm_provider: provider,
      ...entry?.row,
      ...priceOverrides,
      id,
      db_model: false,
      key: entry?.id ?? null,
      ...(baseModel === null ? {} : { base_model: baseModel }),
      pricing_overrides: Object.keys(priceOverrides),
    },
  };
}

/** Capabilities of a group: true when every deployment has them. */
const ABILITIES = [
  'supports_function_calling',
  'supports_parallel_function_calling',
  'supports_vision',
  'supports_reasoning',
  'supports_web_search',
] as const;

function groupObject(name: string, members: readonly KnownModel[]): object {
  const rows = members.map(({ entry, deployment }): Readonly<Record<string, unknown>> => {
    return { ...entry?.row, ...deployment.priceOverrides };
  });
  const greatest = (member: string): number | null => {
    const values = rows.flatMap((row) => (typeof row[member] === 'number' ? [row[member]] : []));
    return values.length === 0 ? null : Math.max(...values);
  };
  return {
    model_group: name,
    providers: [...new Set(members.map(({ deployment }) => deployment.provider))],
    mode: members[0]?.entry?.mode ?? null,
    max_input_tokens: greatest('max_input_tokens'),
    max_output_tokens: greatest('max_output_tokens'),
    input_cost_per_token: greatest('input_cost_per_token'),
    output_cost_per_token: greatest('output_cost_per_token'),
    ...Object.fromEntries(ABILITIES.map((ability) => [ability, rows.every((row) => row[ability] === true)])),
  };
}

/** Query parameters for models of teams, which do not exist here. */
const OF_TEAMS = ['teamId', 'include_team_models'];

function onlyKnown(query: URLSearchParams): void {
  const refused = OF_TEAMS.find((name) => !['', 'false'].includes(query.get(name)?.toLowerCase() ?? ''));
  if (refused === undefined) return;
  const message = `/model/info: The parameter '${refused}' cannot be honoured: no team has models of its own.`;
  throw new InvalidInput(message, [{ path: ['query', refused], rule: 'unsupported', message }]);
}

/** Prices, limits and capabilities of the callable models. */
export const modelInfoRoutes: readonly RouteRow[] = [
  route({
    name: 'models.info',
    method: 'GET',
    paths: ['/v1/model/info', '/model/info'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 400, 401],
    bodyLimit: 0,
    parse({ search }) {
      const query = new URLSearchParams(search);
      onlyKnown(query);
      const onlyHealthy = query.get('healthy_only')?.toLowerCase() === 'true';
      return { deploymentId: query.get('litellm_model_id'), group: null, onlyHealthy };
    },
    run: listModelInfo,
    render: (models) => json({ data: models.map(infoObject) }),
  }),
  route({
    name: 'models.groups',
    method: 'GET',
    paths: ['/model_group/info'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 401],
    bodyLimit: 0,
    parse: ({ search }) => ({
      deploymentId: null,
      group: new URLSearchParams(search).get('model_group'),
      onlyHealthy: false,
    }),
    run: listModelInfo,
    render(models) {
      const groups = [...Map.groupBy(models, ({ name }) => name)];
      return json({ data: groups.map(([name, members]) => groupObject(name, members)) });
    },
  }),
];
