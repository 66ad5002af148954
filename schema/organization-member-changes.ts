import {
  addOrganizationMembers,
  removeOrganizationMember,
  updateOrganizationMember,
} from '../resolvers/organization-members.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { OrganizationMember } from '../src/domain/organizations/organization.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { reloadOwnersAfter } from './base/owner-changes.ts';
import { limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { OrganizationMemberType, OrganizationRoleType } from './owners.ts';

const OrganizationMemberInput = builder.inputType('OrganizationMemberInput', {
  description: 'A new member of an organization: a user by id, else by email.',
  fields: (t) => ({
    userId: t.id({ description: 'User by its global id or local id.' }),
    email: t.string({ description: 'User by its email. A user that does not exist is created.' }),
    role: t.field({ type: OrganizationRoleType, description: '`INTERNAL_USER` when absent.' }),
  }),
});

const AddOrganizationMembersInput = builder.inputType('AddOrganizationMembersInput', {
  description: 'New members of an organization.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Organization: global id or local id.' }),
    members: t.field({ type: [OrganizationMemberInput], required: true, description: 'The members.' }),
    limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits of each member.' }),
  }),
});

const UpdateOrganizationMemberInput = builder.inputType('UpdateOrganizationMemberInput', {
  description: 'Changes to a member of an organization. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Organization: global id or local id.' }),
    userId: t.id({ required: true, description: 'User: global id or local id.' }),
    role: t.field({ type: OrganizationRoleType, description: 'Role; null changes nothing.' }),
    limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  }),
});

const RemoveOrganizationMemberInput = builder.inputType('RemoveOrganizationMemberInput', {
  description: 'A member to remove from an organization.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Organization: global id or local id.' }),
    userId: t.id({ required: true, description: 'User: global id or local id.' }),
  }),
});

const AddedMembersType = builder.objectRef<readonly OrganizationMember[]>('AddedOrganizationMembers').implement({
  description: 'Users that joined an organization.',
  fields: (t) => ({
    members: t.field({
      type: [OrganizationMemberType],
      description: 'The new members.',
      resolve: (added) => [...added],
    }),
  }),
});

const namedBy = ({ id, userId }: { readonly id: string; readonly userId: string }) => ({
  id: localId('Organization', id),
  userId: localId('User', userId),
});

const MANAGERS = 'For proxy administrators and administrators of the organization.';

builder.mutationFields((t) => ({
  addOrganizationMembers: t.field({
    type: AddedMembersType,
    description: `Adds members to an organization, in order. After a failure, earlier members of the list stay added. ${MANAGERS}`,
    args: { input: t.arg({ type: AddOrganizationMembersInput, required: true, description: 'The new members.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'AddOrganizationMembersResult', description: 'The new members, or why not all were added.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const members = input.members.map(({ userId, email, role }) => ({
        userId: localId('User', userId ?? null),
        email: email ?? null,
        role: role ?? ('internal_user' as const),
      }));
      const draft = { id: localId('Organization', input.id), members, limits: limitsOf(input.limits) };
      const joined = await reloadOwnersAfter(scope, addOrganizationMembers(scope, draft));
      return joined.members.map(({ member }) => member);
    },
  }),
  updateOrganizationMember: t.field({
    type: OrganizationMemberType,
    description: `Changes a member of an organization. ${MANAGERS}`,
    args: {
      input: t.arg({ type: UpdateOrganizationMemberInput, required: true, description: 'The member and its changes.' }),
    },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateOrganizationMemberResult', description: 'The changed member, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const change = { named: namedBy(input), role: input.role ?? null, limits: limitsOf(input.limits) };
      return (await reloadOwnersAfter(scope, updateOrganizationMember(scope, change))).member;
    },
  }),
  removeOrganizationMember: t.field({
    type: OrganizationMemberType,
    description: `Removes a member from an organization. ${MANAGERS}`,
    args: {
      input: t.arg({ type: RemoveOrganizationMemberInput, required: true, description: 'The member to remove.' }),
    },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'RemoveOrganizationMemberResult', description: 'The removed member, or why it was not removed.' },
    },
    resolve: async (_root, { input }, { scope }) =>
      (await reloadOwnersAfter(scope, removeOrganizationMember(scope, namedBy(input)))).member,
  }),
}));
