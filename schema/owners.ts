import {
  findBudgetRow,
  findOrganizationRow,
  findProjectRow,
  findTeamRow,
  findUserRow,
  listOrganizationMembers,
  listTeamMembers,
  listTeamProjects,
  listUserTeams,
  readTotalSpend,
} from '../resolvers/owner-nodes.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { Spender } from '../src/domain/admission/counters.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { OrganizationMember } from '../src/domain/organizations/organization.ts';
import type { TeamMember } from '../src/domain/teams/member.ts';
import { PERMISSION_OUTPUT } from './base/object-permission.ts';
import { builder } from './base/builder.ts';
import { RoleType } from './keys.ts';
import { LIST_LENGTH } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { OwnerLimitsType } from './base/owner-limits.ts';
import { BudgetType, OrganizationType, ProjectType, TeamType, UserType, VirtualKeyType, teamOf } from './base/refs.ts';
import { ownedSpendArgs, SpendRowConnectionType, spendPageCost, spendRowsOf } from './spend-rows.ts';
import { usdOrNull } from './base/decimal.ts';
import { redactedMetadata } from '../src/domain/settings/redaction.ts';

const WHOLE_LIST = { field: 1, multiplier: LIST_LENGTH } as const;

const totalSpend = async (scope: Scope, kind: Spender, id: string): Promise<string | null> =>
  usdOrNull(await readTotalSpend(scope, { kind, id }));

const TOTAL = 'Spend of all time in USD, exact. Null when the caller may not see it.';
export const UNREADABLE = 'Null when the team is not stored, and when the caller may not read it.';

export const MemberRoleType = builder.enumType('TeamMemberRole', {
  description: 'Role of a member in its team.',
  values: {
    ADMIN: { value: 'admin', description: 'Manages the members and keys of the team.' },
    USER: { value: 'user', description: 'A member without the rights of an administrator.' },
  } as const,
});

export const OrganizationRoleType = builder.enumType('OrganizationRole', {
  description: 'Role of a member in its organization.',
  values: {
    ORG_ADMIN: {
      value: 'org_admin',
      description: 'Manages the teams, their keys, and the members of the organization.',
    },
    INTERNAL_USER: { value: 'internal_user', description: 'A member without the rights of an administrator.' },
    INTERNAL_USER_VIEWER: { value: 'internal_user_viewer', description: 'Same rights as `INTERNAL_USER`.' },
  } as const,
});

export const TeamMemberType = builder.objectRef<TeamMember>('TeamMember').implement({
  description: 'A user in a team.',
  fields: (t) => ({
    role: t.expose('role', { type: MemberRoleType, description: 'Role in the team.' }),
    userId: t.exposeID('userId', { description: 'Local id of the user.' }),
    user: t.field({
      type: UserType,
      nullable: true,
      description: 'The user. Null when the caller may not read it.',
      resolve: ({ userId }, _args, { scope }) => findUserRow(scope, userId),
    }),
    team: t.field({ type: TeamType, description: 'The team.', resolve: ({ teamId }) => ({ id: teamId }) }),
    budget: t.field({
      type: BudgetType,
      nullable: true,
      description:
        'Budget of the member. Null when the member has no budget of its own, and for callers who are not administrators.',
      resolve: ({ budgetId }, _args, { scope }) => (budgetId === null ? null : findBudgetRow(scope, budgetId)),
    }),
  }),
});

export const OrganizationMemberType = builder.objectRef<OrganizationMember>('OrganizationMember').implement({
  description: 'A user in an organization.',
  fields: (t) => ({
    role: t.expose('role', { type: OrganizationRoleType, description: 'Role in the organization.' }),
    userId: t.exposeID('userId', { description: 'Local id of the user.' }),
    user: t.field({
      type: UserType,
      nullable: true,
      description: 'The user. Null when the caller may not read it.',
      resolve: ({ userId }, _args, { scope }) => findUserRow(scope, userId),
    }),
  }),
});

builder.objectFields(TeamType, (t) => ({
  alias: t.string({
    nullable: true,
    description:
      'Display name. Null when none is set, when the team is not stored, and when the caller may not read it.',
    resolve: async ({ id }, _args, { scope }) => (await findTeamRow(scope, id))?.alias,
  }),
  blocked: t.boolean({
    nullable: true,
    description: `Whether the keys of the team are refused. ${UNREADABLE}`,
    resolve: async ({ id }, _args, { scope }) => (await findTeamRow(scope, id))?.blocked,
  }),
  models: t.stringList({
    nullable: true,
    description: `Public model names that its keys may call; empty for all. ${UNREADABLE}`,
    resolve: async ({ id }, _args, { scope }) => (await findTeamRow(scope, id))?.models,
  }),
  metadata: t.field({
    type: 'JSON',
    nullable: true,
    description: `Client data: an object. ${UNREADABLE}`,
    resolve: async ({ id }, _args, { scope }) => redactedMetadata((await findTeamRow(scope, id))?.metadata),
  }),
  objectPermission: t.field({
    type: 'JSON',
    nullable: true,
    description: `${PERMISSION_OUTPUT} ${UNREADABLE}`,
    resolve: async ({ id }, _args, { scope }) => (await findTeamRow(scope, id))?.objectPermission,
  }),
  limits: t.field({
    type: OwnerLimitsType,
    nullable: true,
    description: `Budget and limits, shared by its keys. ${UNREADABLE}`,
    resolve: ({ id }, _args, { scope }) => findTeamRow(scope, id),
  }),
  createdAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: `When the team was created. ${UNREADABLE}`,
    resolve: async ({ id }, _args, { scope }) => (await findTeamRow(scope, id))?.createdAt,
  }),
  organization: t.field({
    type: OrganizationType,
    nullable: true,
    description: 'Organization of the team. Null when it has none that the caller may read.',
    resolve: async ({ id }, _args, { scope }) => {
      const organizationId = (await findTeamRow(scope, id))?.organizationId ?? null;
      return organizationId === null ? null : findOrganizationRow(scope, organizationId);
    },
  }),
  members: t.field({
    type: [TeamMemberType],
    nullable: true,
    complexity: WHOLE_LIST,
    description:
      'Members, the oldest first. Empty when the caller may not read the team. Null when they could not be read.',
    resolve: async ({ id }, _args, { scope }) => [...(await listTeamMembers(scope, id))],
  }),
  projects: t.field({
    type: [ProjectType],
    nullable: true,
    complexity: WHOLE_LIST,
    description:
      'Projects, the oldest first. Empty when the caller may not read the team. Null when they could not be read.',
    resolve: async ({ id }, _args, { scope }) => [...(await listTeamProjects(scope, id))],
  }),
  totalSpendUsd: t.field({
    type: 'Decimal',
    nullable: true,
    description: TOTAL,
    resolve: ({ id }, _args, { scope }) => totalSpend(scope, 'team', id),
  }),
  spendRows: t.field({
    type: SpendRowConnectionType,
    nullable: true,
    complexity: spendPageCost,
    description: 'Calls of the team that the caller may read, newest first by default.',
    args: ownedSpendArgs(),
    resolve: ({ id }, args, { scope }) => spendRowsOf(scope, args, { team: [id] }),
  }),
}));

builder.node(UserType, {
  description: 'A person or a service that owns keys and is a member of teams.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findUserRow(scope, id)),
  fields: (t) => ({
    userId: t.exposeID('id', { description: 'Local id, as keys and filters have it.' }),
    alias: t.exposeString('alias', { nullable: true, description: 'Display name. Null when none is set.' }),
    email: t.exposeString('email', { nullable: true, description: 'Email. Null when none is set.' }),
    role: t.expose('role', {
      type: RoleType,
      nullable: true,
      description: 'Rights of its keys. When null, the roles of the keys apply.',
    }),
    models: t.stringList({
      description: 'Public model names that its keys without a team may call; empty for all.',
      resolve: ({ models }) => [...models],
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'Client data: an object.',
      resolve: ({ metadata }) => redactedMetadata(metadata),
    }),
    limits: t.field({
      type: OwnerLimitsType,
      description: 'Rate limits of all its keys, and budget of its keys without a team.',
      resolve: (user) => user,
    }),
    objectPermission: t.field({
      type: 'JSON',
      nullable: true,
      description: PERMISSION_OUTPUT,
      resolve: ({ objectPermission }) => objectPermission,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the user was last changed.' }),
    teams: t.field({
      type: [TeamMemberType],
      nullable: true,
      complexity: WHOLE_LIST,
      description: 'Memberships in teams, the oldest first. Null when they could not be read.',
      resolve: async ({ id }, _args, { scope }) => [...(await listUserTeams(scope, id))],
    }),
    totalSpendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: TOTAL,
      resolve: ({ id }, _args, { scope }) => totalSpend(scope, 'user', id),
    }),
    spendRows: t.field({
      type: SpendRowConnectionType,
      nullable: true,
      complexity: spendPageCost,
      description: 'Calls of the user, newest first by default.',
      args: ownedSpendArgs(),
      resolve: ({ id }, args, { scope }) => spendRowsOf(scope, args, { user: [id] }),
    }),
  }),
});

builder.node(OrganizationType, {
  description: 'A group of teams with a budget.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findOrganizationRow(scope, id)),
  fields: (t) => ({
    organizationId: t.exposeID('id', { description: 'Local id, as teams and filters have it.' }),
    alias: t.exposeString('alias', { description: 'Display name.' }),
    models: t.stringList({
      description:
        'Public model names that its keys may call, and that the `models` of its teams may contain; empty for all.',
      resolve: ({ models }) => [...models],
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'Client data: an object.',
      resolve: ({ metadata }) => redactedMetadata(metadata),
    }),
    objectPermission: t.field({
      type: 'JSON',
      nullable: true,
      description: PERMISSION_OUTPUT,
      resolve: ({ objectPermission }) => objectPermission,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the organization was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the organization was last changed.' }),
    budget: t.field({
      type: BudgetType,
      nullable: true,
      description: 'Its budget. Null when it was deleted, and for callers who are not administrators.',
      resolve: ({ budgetId }, _args, { scope }) => findBudgetRow(scope, budgetId),
    }),
    members: t.field({
      type: [OrganizationMemberType],
      nullable: true,
      complexity: WHOLE_LIST,
      description: 'Members, the oldest first. Null when they could not be read.',
      resolve: async ({ id }, _args, { scope }) => [...(await listOrganizationMembers(scope, id))],
    }),
    totalSpendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: TOTAL,
      resolve: ({ id }, _args, { scope }) => totalSpend(scope, 'organization', id),
    }),
  }),
});

builder.node(ProjectType, {
  description: 'A part of a team with its own models and budget.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findProjectRow(scope, id)),
  fields: (t) => ({
    projectId: t.exposeID('id', { description: 'Local id, as keys and filters have it.' }),
    alias: t.exposeString('alias', { nullable: true, description: 'Display name. Null when none is set.' }),
    description: t.exposeString('description', { nullable: true, description: 'Purpose. Null when none is set.' }),
    team: t.field({ type: TeamType, description: 'Team of the project.', resolve: ({ teamId }) => ({ id: teamId }) }),
    models: t.stringList({
      description: 'Public model names that its keys may call; empty for all of the team.',
      resolve: ({ models }) => [...models],
    }),
    tags: t.stringList({ description: 'Tags.', resolve: ({ tags }) => [...tags] }),
    metadata: t.field({
      type: 'JSON',
      description: 'Client data: an object.',
      resolve: ({ metadata }) => redactedMetadata(metadata),
    }),
    blocked: t.exposeBoolean('blocked', { description: 'Whether its keys are refused.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the project was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the project was last changed.' }),
    budget: t.field({
      type: BudgetType,
      nullable: true,
      description: 'Its budget. Null when it has none, and for callers who are not administrators.',
      resolve: ({ budgetId }, _args, { scope }) => (budgetId === null ? null : findBudgetRow(scope, budgetId)),
    }),
    totalSpendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: TOTAL,
      resolve: ({ id }, _args, { scope }) => totalSpend(scope, 'project', id),
    }),
  }),
});

builder.objectFields(VirtualKeyType, (t) => ({
  team: t.field({
    type: TeamType,
    nullable: true,
    description: 'Team of the key. Null when it has none.',
    resolve: ({ teamId }) => teamOf(teamId),
  }),
  user: t.field({
    type: UserType,
    nullable: true,
    description: 'User of the key. Null when it has none that the caller may read.',
    resolve: ({ userId }, _args, { scope }) => {
      const user = nullIfBlank(userId);
      return user === null ? null : findUserRow(scope, user);
    },
  }),
  totalSpendUsd: t.field({
    type: 'Decimal',
    nullable: true,
    description: TOTAL,
    resolve: ({ hash }, _args, { scope }) => totalSpend(scope, 'key', hash),
  }),
  spendRows: t.field({
    type: SpendRowConnectionType,
    nullable: true,
    complexity: spendPageCost,
    description:
      'Calls of the key, newest first by default. Null for callers without a user, unless they are administrators or have the permission `get_spend_routes`.',
    args: ownedSpendArgs(),
    resolve: ({ hash }, args, { scope }) => spendRowsOf(scope, args, { key: [hash] }),
  }),
}));
