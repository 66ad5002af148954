import {
  type AccessGroupView,
  createAccessGroup,
  deleteAccessGroup,
  getAccessGroup,
  listAccessGroups,
  updateAccessGroup,
} from '../resolvers/access-groups.ts';
import type { AccessGroupPatch } from '../src/domain/access-groups/access-group.ts';
import { SUCCESS } from './errors.ts';
import { optional, members, parseObject, requiredText, text, texts } from './helpers/http/body-fields.ts';
import { emptyAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { withoutUndefined } from './helpers/fields/limits.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const LISTS = {
  access_model_names: optional(texts),
  access_mcp_server_ids: optional(texts),
  access_agent_ids: optional(texts),
  assigned_team_ids: optional(texts),
  assigned_key_ids: optional(texts),
};
const readNew = members({ access_group_name: requiredText, description: optional(text), ...LISTS });
const readChange = members({ access_group_name: optional(requiredText), description: optional(text), ...LISTS });

const patchOf = (values: Omit<ReturnType<typeof readChange>, 'access_group_name'>): AccessGroupPatch =>
  withoutUndefined({
    description: values.description,
    models: values.access_model_names,
    mcpServerIds: values.access_mcp_server_ids,
    agentIds: values.access_agent_ids,
    teamIds: values.assigned_team_ids,
    keyIds: values.assigned_key_ids,
  });

function parseNew(body: Uint8Array) {
  const values = readNew(parseObject(body));
  return { ...patchOf(values), name: values.access_group_name };
}

function parseChange({ body, params }: HttpRequest) {
  const values = readChange(parseObject(body));
  return {
    id: params['group'] ?? '',
    patch: { ...patchOf(values), ...withoutUndefined({ name: values.access_group_name }) },
  };
}

const renderGroup = ({ group, teams, keys }: AccessGroupView) => ({
  access_group_id: group.id,
  access_group_name: group.name,
  description: group.description,
  access_model_names: group.models,
  access_mcp_server_ids: group.mcpServerIds,
  access_agent_ids: group.agentIds,
  assigned_team_ids: group.teamIds,
  assigned_key_ids: group.keyIds,
  access_mcp_servers: [],
  access_agents: [],
  assigned_teams: teams.map(({ id, alias }) => ({ team_id: id, team_alias: alias })),
  assigned_keys: keys.map(({ hash, alias, name }) => ({ token: hash, key_alias: alias, key_name: name })),
  created_at: group.createdAt.toISOString(),
  created_by: group.createdBy,
  updated_at: group.updatedAt.toISOString(),
  updated_by: group.updatedBy,
});

const COMMON = {
  ...MANAGEMENT,
  failureForm: { body: 'text', conflictAs: 'conflict' },
  bodyLimit: 1024 * 1024,
} as const;

const GROUPS = ['/v1/access_group', '/v1/unified_access_group'] as const;
const GROUP = ['/v1/access_group/:group', '/v1/unified_access_group/:group'] as const;

/** Access groups: models that teams and keys may call in addition to those of their own lists. */
export const accessGroupRoutes: readonly RouteRow[] = [
  route({
    ...COMMON,
    method: 'POST',
    name: 'accessGroups.create',
    bodySchema: readNew.schema,
    paths: GROUPS,
    statuses: [201, 400, 401, 403, 409, 422],
    parse: ({ body }) => parseNew(body),
    run: createAccessGroup,
    render: (view) => ({ ...json(renderGroup(view)), status: SUCCESS.created }),
  }),
  route({
    ...COMMON,
    method: 'GET',
    name: 'accessGroups.list',
    paths: GROUPS,
    statuses: [200, 401],
    bodyLimit: 0,
    parse: () => undefined,
    run: listAccessGroups,
    render: (views) => json(views.map(renderGroup)),
  }),
  route({
    ...COMMON,
    method: 'GET',
    name: 'accessGroups.info',
    paths: GROUP,
    statuses: [200, 401, 404],
    bodyLimit: 0,
    parse: ({ params }) => ({ id: params['group'] ?? '' }),
    run: getAccessGroup,
    render: (view) => json(renderGroup(view)),
  }),
  route({
    ...COMMON,
    method: 'PUT',
    name: 'accessGroups.update',
    bodySchema: readChange.schema,
    paths: GROUP,
    statuses: [200, 400, 401, 403, 404, 409, 422],
    parse: parseChange,
    run: updateAccessGroup,
    render: (view) => json(renderGroup(view)),
  }),
  route({
    ...COMMON,
    method: 'DELETE',
    name: 'accessGroups.delete',
    paths: GROUP,
    statuses: [204, 401, 403, 404],
    bodyLimit: 0,
    parse: ({ params }) => ({ id: params['group'] ?? '' }),
    run: deleteAccessGroup,
    render: () => emptyAnswer(SUCCESS.noContent),
  }),
];
