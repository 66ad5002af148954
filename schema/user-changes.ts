import { createUser, deleteUsers, updateUser } from '../resolvers/users.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { UserPatch } from '../src/domain/users/user.ts';
import { builder, type InputFields } from './base/builder.ts';
import { localId, localIds } from './base/global-id.ts';
import { reloadOwnersAfter, DeletedOwnersType } from './base/owner-changes.ts';
import { RoleType } from './keys.ts';
import { limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { PERMISSION_INPUT, permissionOf } from './base/object-permission.ts';
import { readObject } from './base/json-inputs.ts';
import { UserType } from './base/refs.ts';

/** Fields of a new user and of a change. */
const userFields = (t: InputFields) => ({
  alias: t.string({ description: 'Display name; null removes it.' }),
  email: t.string({ description: 'Email, unique regardless of letter case; null removes it.' }),
  role: t.field({ type: RoleType, description: 'Rights of its keys. When null, the roles of the keys apply.' }),
  models: t.stringList({ description: 'Public model names that its keys without a team may call; empty for all.' }),
  metadata: t.field({ type: 'JSON', description: 'Client data: an object that replaces the old one.' }),
  limits: t.field({
    type: OwnerLimitsInput,
    description: 'Rate limits of all its keys, and budget of its keys without a team.',
  }),
  objectPermission: t.field({ type: 'JSON', description: PERMISSION_INPUT }),
});

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'A new user. It has no key: create one with `generateKey`.',
  fields: (t) => ({
    id: t.id({ description: 'Local id; generated when absent.' }),
    ...userFields(t),
    teamIds: t.idList({
      description:
        'Teams that the user joins: global ids or local ids. Unknown ones are ignored. The default teams when absent or empty.',
    }),
  }),
});

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'Changes to a user. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'User: global id or local id.' }),
    ...userFields(t),
  }),
});

const DeleteUsersInput = builder.inputType('DeleteUsersInput', {
  description: 'Users to delete.',
  fields: (t) => ({
    ids: t.idList({ required: true, description: 'Users: global ids or local ids.' }),
  }),
});

type Fields = Omit<typeof UpdateUserInput.$inferInput, 'id'>;

function patchOf({ alias, email, role, models, metadata, limits, ...further }: Fields): UserPatch {
  return {
    ...limitsOf(limits),
    ...(alias === undefined ? {} : { alias }),
    ...(email === undefined ? {} : { email }),
    ...(role === undefined ? {} : { role }),
    ...(models === undefined ? {} : { models: models ?? [] }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, 'metadata') }),
    ...permissionOf(further),
  };
}

builder.mutationFields((t) => ({
  createUser: t.field({
    type: UserType,
    description: 'Creates a user without a key. For proxy administrators.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'The new user.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateUserResult', description: 'The user, or why it was not created.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, teamIds, ...fields } = input;
      const draft = {
        id: id ?? null,
        patch: patchOf(fields),
        teamIds: localIds('Team', teamIds ?? []),
        key: null,
      };
      return (await reloadOwnersAfter(scope, createUser(scope, draft))).user;
    },
  }),
  updateUser: t.field({
    type: UserType,
    description:
      'Changes a user. For proxy administrators, who also create a user that does not exist. Users may change only their own alias, email and metadata.',
    args: { input: t.arg({ type: UpdateUserInput, required: true, description: 'The user and its changes.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'UpdateUserResult', description: 'The changed user, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, ...fields } = input;
      const named = { id: localId('User', id), email: null };
      return (await reloadOwnersAfter(scope, updateUser(scope, { named, patch: patchOf(fields) }))).user;
    },
  }),
  deleteUsers: t.field({
    type: DeletedOwnersType,
    description: 'Deletes users with their keys, memberships and invitations. For proxy administrators.',
    args: { input: t.arg({ type: DeleteUsersInput, required: true, description: 'The users to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteUsersResult', description: 'The deleted users, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const ids = localIds('User', input.ids);
      await reloadOwnersAfter(scope, deleteUsers(scope, ids));
      return { ids };
    },
  }),
}));
