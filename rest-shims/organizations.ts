import type { JsonObject } from '../src/domain/json-object.ts';
import {
  addOrganizationMembers,
  removeOrganizationMember,
  updateOrganizationMember,
  type WantedOrganizationMember,
} from '../resolvers/organization-members.ts';
import type { OrganizationMemberView, OrganizationView } from '../resolvers/operation/organization-views.ts';
import {
  createOrganization,
  deleteOrganizations,
  getOrganization,
  getOrganizations,
  listOrganizations,
  updateOrganization,
} from '../resolvers/organizations.ts';
import { type Organization, ORGANIZATION_ROLES } from '../src/domain/organizations/organization.ts';
import {
  fields,
  optional,
  members,
  object,
  oneOf,
  parseObject,
  requiredText,
  requiredTexts,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderBudgetTable } from './helpers/answers/limits.ts';
import {
  renamedLimitsSchema,
  BUDGET_MEMBERS,
  metadataMembersOf,
  MODEL_LIMITS,
  budgetFrom,
  withoutUndefined,
  limitsFrom,
  renamedMembers,
} from './helpers/fields/limits.ts';
import { ORGANIZATION_PATCH, parseOrganizationPatch } from './helpers/fields/organization-patch.ts';
import { OBJECT_PERMISSION } from './helpers/fields/object-permission.ts';
import { assertNamesUser } from './helpers/fields/members.ts';
import { teamColumns } from './helpers/answers/teams.ts';
import { renderUserRow } from './helpers/answers/users.ts';
import { usdNumber } from '../src/domain/money.ts';
import { redactedMetadata } from '../src/domain/settings/redaction.ts';
import { merged, objectSchema, requiredParameters, textParameters, oneOrMany } from './helpers/http/schema.ts';
import { missingParameters } from './helpers/http/query.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readFields = members({ models: optional(texts), metadata: optional(object), ...OBJECT_PERMISSION });
const readNew = members({ organization_id: text, organization_alias: requiredText, budget_id: text });
const readChanged = members({ organization_id: requiredText, organization_alias: optional(text) });

function patchOf(input: JsonObject) {
  const { object_permission: objectPermission, ...values } = readFields(input);
  return { ...withoutUndefined({ ...values, objectPermission }), ...metadataMembersOf(input) };
}

function parseNew(body: Uint8Array) {
  const input = parseObject(body);
  const { organization_id: id, organization_alias: alias, budget_id: budgetId } = readNew(input);
  return { id, alias, budgetId, patch: patchOf(input), limits: budgetFrom(input) };
}

function parseChange(body: Uint8Array) {
  const input = parseObject(body);
  const { organization_id: id, organization_alias: alias } = readChanged(input);
  const patch = { ...patchOf(input), ...withoutUndefined({ alias: alias ?? undefined }) };
  return { id, patch, limits: budgetFrom(input) };
}

function parseNamed(search: string) {
  const id = new URLSearchParams(search).get('organization_id');
  if (id !== null) return { id };
  throw missingParameters('organization_id');
}

/** Limits of members of an organization: the name of the field in the body, and the name of the limit. */
const MEMBER_LIMITS = { max_budget_in_organization: 'max_budget' };
const readId = members({ organization_id: requiredText });
const readMember = members({ user_id: text, user_email: text, role: oneOf(ORGANIZATION_ROLES) });
const readOneMember = members({ organization_id: requiredText, user_id: requiredText });
const MEMBER = oneOrMany(readMember.schema);
const readRole = members({ role: oneOf(ORGANIZATION_ROLES) });

function parseAddition(body: Uint8Array) {
  const input = parseObject(body);
  const { member } = input;
  const sentMembers: readonly unknown[] = Array.isArray(member) ? member : [member];
  const additions = sentMembers.map((sent): WantedOrganizationMember => {
    const memberInput: JsonObject = typeof sent === 'object' && sent !== null ? { ...sent } : {};
    assertNamesUser(memberInput, ['body', 'member']);
    const { user_id: userId, user_email: email, role } = readMember(memberInput);
    return { userId, email, role: role ?? 'internal_user' };
  });
  return {
    id: readId(input).organization_id,
    members: additions,
    limits: limitsFrom(renamedMembers(input, MEMBER_LIMITS)),
  };
}

function parseMember(body: Uint8Array) {
  const input = parseObject(body);
  const { organization_id: id, user_id: userId } = readOneMember(input);
  return {
    named: { id, userId },
    role: readRole(input).role,
    limits: limitsFrom(renamedMembers(input, MEMBER_LIMITS)),
  };
}

const renderColumns = (organization: Organization) => ({
  organization_id: organization.id,
  organization_alias: organization.alias,
  budget_id: organization.budgetId,
  models: organization.models,
  metadata: redactedMetadata(organization.metadata),
  model_spend: {},
  object_permission: organization.objectPermission,
  created_at: organization.createdAt.toISOString(),
  created_by: organization.createdBy,
  updated_at: organization.updatedAt.toISOString(),
  updated_by: organization.updatedBy,
});

const renderMember = ({ member, budget }: OrganizationMemberView) => ({
  user_id: member.userId,
  organization_id: member.organizationId,
  user_role: member.role,
  budget_id: member.budgetId,
  litellm_budget_table: renderBudgetTable(budget),
  created_at: member.createdAt.toISOString(),
  updated_at: member.updatedAt.toISOString(),
});

const renderOrganization = ({ organization, budget, members: memberViews, teams, spend }: OrganizationView) => ({
  ...renderColumns(organization),
  spend: usdNumber(spend),
  litellm_budget_table: renderBudgetTable(budget),
  members: memberViews.map(renderMember),
  teams: teams.map(teamColumns),
});

const ROW = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 422],
  failureForm: { body: 'detail' },
} as const;
const READING = { ...ROW, method: 'GET', statuses: [200, 401], bodyLimit: 0 } as const;
/** Statuses of rows that change a named organization: 404 for an unknown id. */
const STATUSES_WITH_ID = [200, 400, 401, 403, 404, 422] as const;

const readIds = fields({ organization_ids: requiredTexts });
const readOrganizations = fields({ organizations: requiredTexts });

/** Organizations and their members. */
export const organizationRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...ROW,
    name: 'organizations.create',
    bodySchema: merged(readFields, MODEL_LIMITS, BUDGET_MEMBERS, readNew),
    paths: ['/organization/new'],
    parse: ({ body }) => parseNew(body),
    run: createOrganization,
    render: (view) => json(renderOrganization(view)),
  }),
  route({
    ...READING,
    name: 'organizations.info',
    querySchema: requiredParameters('organization_id'),
    paths: ['/organization/info'],
    statuses: [200, 401, 404, 422],
    parse: ({ search }) => parseNamed(search),
    run: getOrganization,
    render: (view) => json(renderOrganization(view)),
  }),
  route({
    ...ROW,
    name: 'organizations.infos',
    bodySchema: readOrganizations.schema,
    paths: ['/organization/info'],
    statuses: [200, 401, 422],
    parse: ({ body }) => readOrganizations(body).organizations,
    run: getOrganizations,
    render: (views) => json(views.map(renderOrganization)),
  }),
  route({
    ...READING,
    name: 'organizations.list',
    querySchema: textParameters('org_id', 'org_alias'),
    paths: ['/organization/list'],
    parse({ search }) {
      const parameters = new URLSearchParams(search);
      return { id: parameters.get('org_id'), aliasPart: parameters.get('org_alias') };
    },
    run: listOrganizations,
    render: (views) => json(views.map(renderOrganization)),
  }),
  route({
    ...ROW,
    name: 'organizations.update',
    bodySchema: merged(readFields, MODEL_LIMITS, BUDGET_MEMBERS, readChanged),
    method: 'PATCH',
    paths: ['/organization/update'],
    statuses: STATUSES_WITH_ID,
    parse: ({ body }) => parseChange(body),
    run: updateOrganization,
    render: (view) => json(renderOrganization(view)),
  }),
  route({
    ...ROW,
    name: 'organizations.patch',
    bodySchema: ORGANIZATION_PATCH,
    method: 'PATCH',
    paths: ['/v2/organization/:organization'],
    statuses: [200, 401, 403, 404, 422],
    parse: ({ body, params }) => ({ id: params['organization'] ?? '', ...parseOrganizationPatch(body) }),
    run: updateOrganization,
    render: (view) => json(renderOrganization(view)),
  }),
  route({
    ...ROW,
    name: 'organizations.delete',
    bodySchema: readIds.schema,
    method: 'DELETE',
    paths: ['/organization/delete'],
    statuses: STATUSES_WITH_ID,
    parse: ({ body }) => readIds(body).organization_ids,
    run: deleteOrganizations,
    render: (removed) => json(removed.map(renderColumns)),
  }),
  route({
    ...ROW,
    name: 'organizationMembers.add',
    bodySchema: merged(readId, renamedLimitsSchema(MEMBER_LIMITS), objectSchema({ member: MEMBER }, ['member'])),
    paths: ['/organization/member_add'],
    statuses: STATUSES_WITH_ID,
    parse: ({ body }) => parseAddition(body),
    run: addOrganizationMembers,
    render: ({ users, members: added }, { body }) =>
      json({
        organization_id: parseAddition(body).id,
        updated_users: users.map(renderUserRow),
        updated_organization_memberships: added.map(renderMember),
      }),
  }),
  route({
    ...ROW,
    name: 'organizationMembers.update',
    bodySchema: merged(readOneMember, readRole, renamedLimitsSchema(MEMBER_LIMITS)),
    method: 'PATCH',
    paths: ['/organization/member_update'],
    statuses: STATUSES_WITH_ID,
    parse: ({ body }) => parseMember(body),
    run: updateOrganizationMember,
    render: (view) => json(renderMember(view)),
  }),
  route({
    ...ROW,
    name: 'organizationMembers.remove',
    bodySchema: readOneMember.schema,
    method: 'DELETE',
    paths: ['/organization/member_delete'],
    statuses: STATUSES_WITH_ID,
    parse: ({ body }) => parseMember(body).named,
    run: removeOrganizationMember,
    render: (view) => json(renderMember(view)),
  }),
]);
