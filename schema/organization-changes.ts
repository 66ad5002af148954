import { createOrganization, deleteOrganizations, updateOrganization } from '../resolvers/organizations.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { OrganizationPatch } from '../src/domain/organizations/organization.ts';
import { builder, type InputFields } from './base/builder.ts';
import { localId, localIds } from './base/global-id.ts';
import { reloadOwnersAfter, DeletedOwnersType } from './base/owner-changes.ts';
import { limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { PERMISSION_INPUT, permissionOf } from './base/object-permission.ts';
import { readObject } from './base/json-inputs.ts';
import { OrganizationType } from './base/refs.ts';

/** Fields of a new organization and of a change. */
const organizationFields = (t: InputFields) => ({
  models: t.stringList({
    description:
      'Public model names that its keys may call, and that the `models` of its teams may contain; empty for all.',
  }),
  metadata: t.field({ type: 'JSON', description: 'Client data: an object that replaces the old one.' }),
  limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  objectPermission: t.field({ type: 'JSON', description: PERMISSION_INPUT }),
});

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'A new organization.',
  fields: (t) => ({
    id: t.id({ description: 'Local id; generated when absent.' }),
    alias: t.string({ required: true, description: 'Display name.' }),
    ...organizationFields(t),
    budgetId: t.id({
      description: 'Existing budget instead of `limits`: global id or local id. Both together are an error.',
    }),
  }),
});

const UpdateOrganizationInput = builder.inputType('UpdateOrganizationInput', {
  description: 'Changes to an organization and its budget. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Organization: global id or local id.' }),
    alias: t.string({ description: 'Display name; null changes nothing.' }),
    ...organizationFields(t),
  }),
});

const DeleteOrganizationsInput = builder.inputType('DeleteOrganizationsInput', {
  description: 'Organizations to delete.',
  fields: (t) => ({
    ids: t.idList({ required: true, description: 'Organizations: global ids or local ids.' }),
  }),
});

type Fields = Omit<typeof UpdateOrganizationInput.$inferInput, 'id' | 'limits'>;

function patchOf({ alias, models, metadata, ...further }: Fields): OrganizationPatch {
  return {
    ...(alias === undefined || alias === null ? {} : { alias }),
    ...(models === undefined ? {} : { models: models ?? [] }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, 'metadata') }),
    ...permissionOf(further),
  };
}

builder.mutationFields((t) => ({
  createOrganization: t.field({
    type: OrganizationType,
    description: 'Creates an organization with a budget. For proxy administrators.',
    args: { input: t.arg({ type: CreateOrganizationInput, required: true, description: 'The new organization.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateOrganizationResult', description: 'The organization, or why it was not created.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, alias, budgetId, limits, ...fields } = input;
      const draft = {
        id: id ?? null,
        alias,
        patch: patchOf(fields),
        budgetId: localId('Budget', budgetId ?? null),
        limits: limitsOf(limits),
      };
      return (await reloadOwnersAfter(scope, createOrganization(scope, draft))).organization;
    },
  }),
  updateOrganization: t.field({
    type: OrganizationType,
    description: 'Changes an organization and its budget. For proxy administrators.',
    args: {
      input: t.arg({ type: UpdateOrganizationInput, required: true, description: 'The organization and its changes.' }),
    },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateOrganizationResult', description: 'The changed organization, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, limits, ...fields } = input;
      const change = { id: localId('Organization', id), patch: patchOf(fields), limits: limitsOf(limits) };
      return (await reloadOwnersAfter(scope, updateOrganization(scope, change))).organization;
    },
  }),
  deleteOrganizations: t.field({
    type: DeletedOwnersType,
    description: 'Deletes organizations that have no teams. For proxy administrators.',
    args: {
      input: t.arg({ type: DeleteOrganizationsInput, required: true, description: 'The organizations to delete.' }),
    },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteOrganizationsResult', description: 'The deleted organizations, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const removed = await reloadOwnersAfter(scope, deleteOrganizations(scope, localIds('Organization', input.ids)));
      return { ids: removed.map(({ id }) => id) };
    },
  }),
}));
