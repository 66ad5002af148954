import { addTeamMembers, removeTeamMember, resetMemberSpend, updateTeamMember } from '../resolvers/team-members.ts';
import { deleteTeams } from '../resolvers/team-removal.ts';
import { blockTeam, createTeam, updateTeam } from '../resolvers/teams.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { usdFrom } from '../src/domain/money.ts';
import type { TeamPatch } from '../src/domain/teams/team.ts';
import { builder, type InputFields } from './base/builder.ts';
import { localId, localIds } from './base/global-id.ts';
import { KeyBudgetWindowInput, windowsOf } from './base/key-settings.ts';
import { reloadOwnersAfter, DeletedOwnersType } from './base/owner-changes.ts';
import { increaseOf, limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { PERMISSION_INPUT, permissionOf } from './base/object-permission.ts';
import { readObject, readTexts } from './base/json-inputs.ts';
import { MemberRoleType, TeamMemberType } from './owners.ts';
import { TeamType } from './base/refs.ts';

const TeamMemberInput = builder.inputType('TeamMemberInput', {
  description: 'A new member of a team: a user by id, otherwise by email.',
  fields: (t) => ({
    userId: t.id({ description: 'User by its global id or local id.' }),
    email: t.string({ description: 'User by its email. A user that does not exist is created.' }),
    role: t.field({ type: MemberRoleType, description: '`USER` when absent.' }),
    limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  }),
});

/** Fields of a new team and of a change. */
const teamFields = (t: InputFields) => ({
  alias: t.string({ description: 'Display name; null removes it.' }),
  organizationId: t.id({ description: 'Organization of the team: global id or local id; null removes it.' }),
  models: t.stringList({ description: 'Public model names that its keys may call; empty for all.' }),
  metadata: t.field({ type: 'JSON', description: 'Client data: an object that replaces the old one.' }),
  modelAliases: t.field({
    type: 'JSON',
    description: 'Public model names by the alias that its keys use: an object of texts.',
  }),
  limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  objectPermission: t.field({ type: 'JSON', description: PERMISSION_INPUT }),
  budgetLimits: t.field({
    type: [KeyBudgetWindowInput],
    description: 'Budgets of windows in addition to the budget of `limits`. All apply. Null removes them.',
  }),
  memberLimits: t.field({ type: OwnerLimitsInput, description: 'Limits of members that have no limits of their own.' }),
});

const CreateTeamInput = builder.inputType('CreateTeamInput', {
  description: 'A new team.',
  fields: (t) => ({
    id: t.id({ description: 'Local id; generated when absent.' }),
    ...teamFields(t),
    members: t.field({
      type: [TeamMemberInput],
      description:
        'First members. `createTeam` also adds the user who creates the team, unless the list contains this user.',
    }),
  }),
});

const UpdateTeamInput = builder.inputType('UpdateTeamInput', {
  description: 'Changes to a team. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    ...teamFields(t),
  }),
});

const TeamIdInput = builder.inputType('TeamIdInput', {
  description: 'A team.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
  }),
});

const DeleteTeamsInput = builder.inputType('DeleteTeamsInput', {
  description: 'Teams to delete.',
  fields: (t) => ({
    ids: t.idList({ required: true, description: 'Teams: global ids or local ids.' }),
  }),
});

const AddTeamMembersInput = builder.inputType('AddTeamMembersInput', {
  description: 'New members of a team.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    members: t.field({ type: [TeamMemberInput], required: true, description: 'The members.' }),
  }),
});

const RemoveTeamMemberInput = builder.inputType('RemoveTeamMemberInput', {
  description: 'A member to remove.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    userId: t.id({ required: true, description: 'User of the member: global id or local id.' }),
  }),
});

const UpdateTeamMemberInput = builder.inputType('UpdateTeamMemberInput', {
  description: 'Changes to a member of a team. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    userId: t.id({ required: true, description: 'User of the member: global id or local id.' }),
    role: t.field({ type: MemberRoleType, description: 'Role in the team; null changes nothing.' }),
    limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits of the member in the team.' }),
    allowedModels: t.stringList({ description: 'Models that the member may call; empty for all of the team.' }),
    temporaryIncreaseUsd: t.field({
      type: 'Decimal',
      description:
        'Amount that is added to the budget of the member until the increase expires. If the member has no budget, the amount is added to the budget that the team sets for its members. Null ends the increase.',
    }),
    temporaryIncreaseExpiresAt: t.field({
      type: 'DateTime',
      description: 'When the temporary increase expires. Null ends it; without an expiry nothing is added.',
    }),
  }),
});

const ResetMemberSpendInput = builder.inputType('ResetMemberSpendInput', {
  description: 'A new spend of a member of a team.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Team: global id or local id.' }),
    userId: t.id({ required: true, description: 'User of the member: global id or local id.' }),
    resetToUsd: t.field({
      type: 'Decimal',
      required: true,
      description: 'The new spend in USD: from zero to the current spend of the member.',
    }),
  }),
});

type Fields = Omit<typeof UpdateTeamInput.$inferInput, 'id'>;

function patchOf({
  alias,
  organizationId,
  models,
  metadata,
  modelAliases,
  limits,
  budgetLimits,
  ...further
}: Fields): TeamPatch {
  const windows = windowsOf(budgetLimits);
  return {
    ...limitsOf(limits),
    ...(windows === undefined ? {} : { budgetLimits: windows }),
    ...(alias === undefined ? {} : { alias }),
    ...(organizationId === undefined ? {} : { organizationId: localId('Organization', organizationId) }),
    ...(models === undefined ? {} : { models: models ?? [] }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, 'metadata') }),
    ...(modelAliases === undefined ? {} : { modelAliases: readTexts(modelAliases, 'modelAliases') }),
    ...permissionOf(further),
  };
}

const membersOf = (members: readonly (typeof TeamMemberInput.$inferInput)[]) =>
  members.map(({ userId, email, role, limits }) => ({
    userId: localId('User', userId ?? null),
    email: email ?? null,
    role: role ?? ('user' as const),
    limits: limitsOf(limits),
  }));

const teamIdOf = (input: { readonly id: string }): string => localId('Team', input.id);

builder.mutationFields((t) => ({
  createTeam: t.field({
    type: TeamType,
    description:
      'Creates a team. The user who creates it becomes an administrator of the team, unless `members` names this user. With `disable_auto_add_proxy_admin_to_teams`, proxy administrators are not added. For proxy and organization administrators.',
    args: { input: t.arg({ type: CreateTeamInput, required: true, description: 'The new team.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'CreateTeamResult', description: 'The team, or why it was not created.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, members, memberLimits, ...fields } = input;
      const draft = {
        id: id ?? null,
        patch: patchOf(fields),
        members: membersOf(members ?? []),
        memberLimits: limitsOf(memberLimits),
      };
      const { team } = await reloadOwnersAfter(scope, createTeam(scope, draft));
      return { id: team.id };
    },
  }),
  updateTeam: t.field({
    type: TeamType,
    description:
      'Changes a team. For proxy administrators. Administrators of the team and of its organization may only change alias, metadata, model aliases and member limits.',
    args: { input: t.arg({ type: UpdateTeamInput, required: true, description: 'The team and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateTeamResult', description: 'The changed team, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id: _id, memberLimits, ...fields } = input;
      const change = { id: teamIdOf(input), patch: patchOf(fields), memberLimits: limitsOf(memberLimits) };
      const { team } = await reloadOwnersAfter(scope, updateTeam(scope, change));
      return { id: team.id };
    },
  }),
  blockTeam: t.field({
    type: TeamType,
    description: 'Blocks a team, so that its keys are refused. For proxy administrators.',
    args: { input: t.arg({ type: TeamIdInput, required: true, description: 'The team to block.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'BlockTeamResult', description: 'The blocked team, or why it was not blocked.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { team } = await reloadOwnersAfter(scope, blockTeam(scope, { id: teamIdOf(input), blocked: true }));
      return { id: team.id };
    },
  }),
  unblockTeam: t.field({
    type: TeamType,
    description: 'Unblocks a team, so that its keys are accepted again. For proxy administrators.',
    args: { input: t.arg({ type: TeamIdInput, required: true, description: 'The team to unblock.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UnblockTeamResult', description: 'The unblocked team, or why it was not unblocked.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { team } = await reloadOwnersAfter(scope, blockTeam(scope, { id: teamIdOf(input), blocked: false }));
      return { id: team.id };
    },
  }),
  deleteTeams: t.field({
    type: DeletedOwnersType,
    description:
      'Deletes teams that have no projects, with their keys, memberships and models. For proxy administrators.',
    args: { input: t.arg({ type: DeleteTeamsInput, required: true, description: 'The teams to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteTeamsResult', description: 'The deleted teams, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      return { ids: await reloadOwnersAfter(scope, deleteTeams(scope, localIds('Team', input.ids))) };
    },
  }),
  addTeamMembers: t.field({
    type: TeamType,
    description:
      'Adds members to a team. For proxy, organization and team administrators; users may add themselves to a team that the setting `available_teams` lists.',
    args: { input: t.arg({ type: AddTeamMembersInput, required: true, description: 'The new members.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'AddTeamMembersResult', description: 'The team, or why no member was added.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const members = membersOf(input.members);
      const { team } = await reloadOwnersAfter(scope, addTeamMembers(scope, { teamId: teamIdOf(input), members }));
      return { id: team.id };
    },
  }),
  updateTeamMember: t.field({
    type: TeamMemberType,
    description:
      'Changes the role, limits and temporary budget increase of a member. For proxy, organization and team administrators.',
    args: { input: t.arg({ type: UpdateTeamMemberInput, required: true, description: 'The member and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateTeamMemberResult', description: 'The changed member, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { allowedModels } = input;
      const { member } = await reloadOwnersAfter(
        scope,
        updateTeamMember(scope, {
          named: { teamId: teamIdOf(input), userId: localId('User', input.userId), email: null },
          role: input.role ?? null,
          limits: {
            ...limitsOf(input.limits),
            ...increaseOf(input),
            ...(allowedModels === undefined ? {} : { allowedModels: allowedModels ?? [] }),
          },
        }),
      );
      return member;
    },
  }),
  resetMemberSpend: t.field({
    type: TeamMemberType,
    description:
      'Sets the spend of a member to an amount from zero to its current spend. Its budget then counts from this amount. For proxy, organization and team administrators, not for their own spend.',
    args: {
      input: t.arg({ type: ResetMemberSpendInput, required: true, description: 'The member and its new spend.' }),
    },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'ResetMemberSpendResult', description: 'The member, or why its spend was not set.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const resetTo = usdFrom(input.resetToUsd);
      if (resetTo === null) throw new InvalidInput('resetToUsd is out of range.', [], { field: 'resetToUsd' });
      const named = { teamId: teamIdOf(input), userId: localId('User', input.userId) };
      return (await reloadOwnersAfter(scope, resetMemberSpend(scope, { ...named, resetTo }))).view.member;
    },
  }),
  removeTeamMember: t.field({
    type: TeamType,
    description:
      'Removes a member from a team, and deletes the keys of this member in the team. For proxy, organization and team administrators.',
    args: { input: t.arg({ type: RemoveTeamMemberInput, required: true, description: 'The member to remove.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'RemoveTeamMemberResult', description: 'The team, or why the member was not removed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const named = { teamId: teamIdOf(input), userId: localId('User', input.userId), email: null };
      const { team } = await reloadOwnersAfter(scope, removeTeamMember(scope, named));
      return { id: team.id };
    },
  }),
}));
