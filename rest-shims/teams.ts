import type { JsonObject } from '../src/domain/json-object.ts';
import { deleteTeams } from '../resolvers/team-removal.ts';
import {
  blockTeam,
  changeTeamModels,
  createTeam,
  getTeam,
  listAvailableTeams,
  listCountedTeams,
  listTeams,
  updateTeam,
  type TeamDraft,
  type TeamQuery,
} from '../resolvers/teams.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { KEY_PERMISSIONS } from '../src/domain/teams/permissions.ts';
import { ALL_TEAMS, TEAM_SORTS, type TeamPatch } from '../src/domain/teams/team.ts';
import {
  fields,
  flag,
  optional,
  listOf,
  members,
  object,
  parseObject,
  recordOf,
  requiredText,
  requiredTexts,
  text,
  texts,
  wholeNumber,
} from './helpers/http/body-fields.ts';
import { integer, query, text as queryText, rowsBefore } from './helpers/http/query.ts';
import { GUARDRAIL_READERS, INDEX_READER } from './helpers/fields/key-metadata.ts';
import { budgetWindow } from './helpers/fields/budget-windows.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import {
  LIMITS_SCHEMA,
  renamedLimitsSchema,
  withoutUndefined,
  limitsFrom,
  renamedMembers,
  withMetadataMembers,
} from './helpers/fields/limits.ts';
import { OBJECT_PERMISSION } from './helpers/fields/object-permission.ts';
import { wantedMembers, MEMBER_OR_LIST } from './helpers/fields/members.ts';
import {
  renderCountedTeam,
  renderListedTeam,
  renderTeam,
  renderTeamInfo,
  renderTeamTable,
} from './helpers/answers/teams.ts';
import { merged, objectSchema, requiredParameters, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

/** Limits of team members: the name of the field in the body of a team, and the name of the limit. */
const MEMBER_LIMITS = {
  team_member_budget: 'max_budget',
  team_member_budget_duration: 'budget_duration',
  team_member_rpm_limit: 'rpm_limit',
  team_member_tpm_limit: 'tpm_limit',
};

const readFields = members({
  team_alias: optional(text),
  organization_id: optional(text),
  models: optional(texts),
  model_aliases: optional(recordOf(text)),
  metadata: optional(object),
  blocked: optional(flag),
  team_member_permissions: optional(texts),
  router_settings: optional(object),
  budget_limits: optional(listOf(budgetWindow)),
  ...OBJECT_PERMISSION,
});

/** Fields of the metadata that a request may also send outside `metadata`. */
const METADATA = {
  tags: optional(texts),
  model_rpm_limit: optional(recordOf(wholeNumber)),
  model_tpm_limit: optional(recordOf(wholeNumber)),
  ...GUARDRAIL_READERS,
  ...INDEX_READER,
  allow_team_guardrail_config: optional(flag),
};
const readMetadata = members<JsonObject>(METADATA);

function patchOf(input: JsonObject): TeamPatch {
  const values = readFields(input);
  return {
    ...limitsFrom(input),
    ...withoutUndefined({
      alias: values.team_alias,
      organizationId: values.organization_id,
      models: values.models,
      modelAliases: values.model_aliases === null ? {} : values.model_aliases,
      metadata: values.metadata,
      ...withMetadataMembers(readMetadata(input)),
      blocked: values.blocked ?? undefined,
      memberPermissions: values.team_member_permissions,
      routerSettings: values.router_settings,
      budgetLimits: values.budget_limits,
      objectPermission: values.object_permission,
    }),
  };
}

const TEAM = merged(readFields, readMetadata, LIMITS_SCHEMA, renamedLimitsSchema(MEMBER_LIMITS));
const readNew = members({ team_id: text });

function parseNew(body: Uint8Array): TeamDraft {
  const input = parseObject(body);
  return {
    id: readNew(input).team_id,
    patch: patchOf(input),
    members: wantedMembers(input['members_with_roles'] ?? [], 'members_with_roles', {}),
    memberLimits: limitsFrom(renamedMembers(input, MEMBER_LIMITS)),
  };
}

const readNamed = members({ team_id: requiredText });

function parseChange(input: JsonObject) {
  const { team_id: id } = readNamed(input);
  return { id, patch: patchOf(input), memberLimits: limitsFrom(renamedMembers(input, MEMBER_LIMITS)) };
}

const readPage = query({
  user_id: queryText,
  organization_id: queryText,
  team_id: queryText,
  team_alias: queryText,
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: 100, defaultValue: 10 }),
  sort_by: queryText,
  sort_order: queryText,
});

function parsePage(search: string): TeamQuery {
  const parameters = readPage(search);
  const [page, size] = [Number(parameters.page), Number(parameters.page_size)];
  const teamId = nullIfBlank(parameters.team_id);
  // As in the reference, an unknown `sort_by` is ignored, and the newest teams are first.
  const sort = TEAM_SORTS.find((name) => name === parameters.sort_by);
  return {
    filter: {
      ids: teamId === null ? null : [teamId],
      organizationId: nullIfBlank(parameters.organization_id),
      aliasPart: nullIfBlank(parameters.team_alias),
    },
    userId: parameters.user_id,
    sort: sort ?? 'created_at',
    descending: sort === undefined || parameters.sort_order?.toLowerCase() === 'desc',
    limit: size,
    from: rowsBefore(page, size),
  };
}

function parseList(search: string): TeamQuery {
  const parameters = new URLSearchParams(search);
  return {
    filter: { ...ALL_TEAMS, organizationId: nullIfBlank(parameters.get('organization_id')) },
    userId: parameters.get('user_id'),
    sort: 'created_at',
    descending: false,
    limit: null,
    from: 0,
  };
}

/** The team id of a query. Throws InvalidInput without one. */
function parseTeam(search: string): { readonly id: string } {
  const id = nullIfBlank(new URLSearchParams(search).get('team_id'));
  const message = 'Malformed request. No team id passed in.';
  if (id === null) throw new InvalidInput(message, [{ path: ['query', 'team_id'], rule: 'missing', message }]);
  return { id };
}

const CHANGING = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 401, 403, 404, 422],
  failureForm: { body: 'detail' },
} as const;
const READING = { ...CHANGING, method: 'GET', bodyLimit: 0 } as const;

const readTeam = fields({ team_id: requiredText });
const readTeams = fields({ team_ids: requiredTexts });
const readModels = fields({ team_id: requiredText, models: requiredTexts });
const readPermissions = fields({ team_id: requiredText, team_member_permissions: requiredTexts });

const modelsRow = (verb: 'add' | 'remove', path: string): RouteRow =>
  route({
    ...CHANGING,
    name: `teams.${verb}Models`,
    bodySchema: readModels.schema,
    paths: [path],
    parse({ body }) {
      const { team_id: id, models: input } = readModels(body);
      return { id, add: verb === 'add' ? input : [], remove: verb === 'remove' ? input : [] };
    },
    run: changeTeamModels,
    render: (view) => json(renderTeamTable(view)),
  });

const blockRow = (verb: 'block' | 'unblock'): RouteRow =>
  route({
    ...CHANGING,
    name: verb === 'block' ? 'teams.block' : 'teams.unblock',
    bodySchema: readTeam.schema,
    paths: [`/team/${verb}`],
    parse: ({ body }) => ({ id: readTeam(body).team_id, blocked: verb === 'block' }),
    run: blockTeam,
    render: (view) => json(renderTeamTable(view)),
  });

/** Teams: creation, changes, lists, models and permissions. */
export const teamRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...CHANGING,
    name: 'teams.create',
    bodySchema: merged(TEAM, readNew, objectSchema({ members_with_roles: MEMBER_OR_LIST })),
    paths: ['/team/new'],
    statuses: [200, 400, 401, 403, 422],
    failureForm: { body: 'rule' },
    parse: ({ body }) => parseNew(body),
    run: createTeam,
    render: (view) => json(renderTeam(view)),
  }),
  route({
    ...READING,
    name: 'teams.info',
    querySchema: requiredParameters('team_id'),
    paths: ['/team/info'],
    failureForm: { body: 'auth' },
    parse: ({ search }) => parseTeam(search),
    run: getTeam,
    render: (view) => json(renderTeamInfo(view)),
  }),
  route({
    ...READING,
    name: 'teams.list',
    querySchema: textParameters('user_id', 'organization_id'),
    paths: ['/team/list'],
    statuses: [200, 401],
    parse: ({ search }) => parseList(search),
    run: listTeams,
    render: ({ teams }) => json(teams.map(renderListedTeam)),
  }),
  route({
    ...READING,
    name: 'teams.available',
    paths: ['/team/available'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listAvailableTeams,
    render: (views) => json(views.map(renderTeamTable)),
  }),
  route({
    ...READING,
    name: 'teams.page',
    querySchema: readPage.schema,
    paths: ['/v2/team/list'],
    statuses: [200, 401, 422],
    parse: ({ search }) => parsePage(search),
    run: listCountedTeams,
    render: ({ teams, totalCount }, { search }) => {
      const { page, page_size: size } = readPage(search);
      return json({
        teams: teams.map(renderCountedTeam),
        total: totalCount,
        page: Number(page),
        page_size: Number(size),
        total_pages: Math.ceil(totalCount / Number(size)),
      });
    },
  }),
  route({
    ...CHANGING,
    name: 'teams.update',
    bodySchema: merged(TEAM, readNamed),
    paths: ['/team/update'],
    statuses: [200, 400, 401, 403, 404, 422],
    failureForm: { body: 'rule' },
    parse: ({ body }) => parseChange(parseObject(body)),
    run: updateTeam,
    render: (view) => json({ team_id: view.team.id, data: renderTeamTable(view) }),
  }),
  route({
    ...CHANGING,
    name: 'teams.patch',
    bodySchema: TEAM,
    method: 'PATCH',
    paths: ['/team/:team'],
    statuses: [200, 400, 401, 403, 404, 422],
    failureForm: { body: 'rule' },
    parse: ({ body, params }) => parseChange({ ...parseObject(body), team_id: params['team'] }),
    run: updateTeam,
    render: (view) => json(renderTeam(view)),
  }),
  route({
    ...CHANGING,
    name: 'teams.delete',
    bodySchema: readTeams.schema,
    paths: ['/team/delete'],
    parse: ({ body }) => readTeams(body).team_ids,
    run: deleteTeams,
    render: (ids) => json({ deleted_teams: ids }),
  }),
  blockRow('block'),
  blockRow('unblock'),
  modelsRow('add', '/team/model/add'),
  modelsRow('remove', '/team/model/delete'),
  route({
    ...READING,
    name: 'teams.permissions',
    querySchema: requiredParameters('team_id'),
    paths: ['/team/permissions_list'],
    failureForm: { body: 'auth' },
    parse: ({ search }) => parseTeam(search),
    run: getTeam,
    render: ({ team }) =>
      json({
        team_id: team.id,
        team_member_permissions: team.memberPermissions,
        all_available_permissions: KEY_PERMISSIONS,
      }),
  }),
  route({
    ...CHANGING,
    name: 'teams.updatePermissions',
    bodySchema: readPermissions.schema,
    paths: ['/team/permissions_update'],
    parse({ body }) {
      const { team_id: id, team_member_permissions: memberPermissions } = readPermissions(body);
      return { id, patch: { memberPermissions }, memberLimits: {} };
    },
    run: updateTeam,
    render: (view) => json(renderTeam(view)),
  }),
]);
