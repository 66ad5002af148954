import {
  type ChangedGroup,
  createModelAccessGroup,
  deleteModelAccessGroup,
  listModelAccessGroups,
  type ModelAccessGroupDraft,
  updateModelAccessGroup,
} from '../resolvers/model-access-groups.ts';
import type { ModelAccessGroup } from '../src/domain/deployments/model-access-groups.ts';
import { Conflict, InvalidInput, NotFound, Unsupported } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { LIST_LENGTH } from './base/limits.ts';

const GroupType = builder.objectRef<ModelAccessGroup>('ModelAccessGroup').implement({
  description: 'Models that a key or team may call when its `models` contains the name of the group.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    models: t.stringList({ description: 'Public model names.', resolve: ({ models }) => [...models] }),
    deployments: t.exposeInt('deployments', { description: 'Number of its deployments.' }),
    isConfigured: t.exposeBoolean('isConfigured', {
      description: 'Whether the configuration file has some of its deployments, which cannot be changed at run time.',
    }),
  }),
});

const ChangedType = builder.objectRef<Pick<ChangedGroup, 'name' | 'changed'>>('ChangedModelAccessGroup').implement({
  description: 'A changed access group of models.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    changedDeployments: t.exposeInt('changed', {
      description: 'Number of deployments that were written, including those whose groups stay the same.',
    }),
  }),
});

builder.queryField('modelAccessGroups', (t) =>
  t.field({
    type: [GroupType],
    nullable: true,
    description:
      'Access groups of models, in the order of the deployments. For proxy administrators with full or read-only access.',
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: (_root, _args, { scope }) => [...listModelAccessGroups(scope, undefined)],
  }),
);

const GroupInput = builder.inputType('ModelAccessGroupInput', {
  description:
    'An access group and its stored deployments: those of `deploymentIds`, or all deployments of `models` when there are no ids.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the group.' }),
    models: t.stringList({ description: 'Public model names.' }),
    deploymentIds: t.idList({ description: 'Stored deployments: global ids or `deploymentId`.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteModelAccessGroupInput', {
  description: 'The access group to delete.',
  fields: (t) => ({ name: t.string({ required: true, description: 'Name of the group.' }) }),
});

const draftOf = ({ name, models, deploymentIds }: typeof GroupInput.$inferInput): ModelAccessGroupDraft => ({
  name,
  models: models ?? null,
  deploymentIds: deploymentIds?.map((id) => localId('StoredDeployment', id)) ?? null,
});

builder.mutationFields((t) => ({
  createModelAccessGroup: t.field({
    type: ChangedType,
    description: `Puts stored deployments into a new access group. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: GroupInput, required: true, description: 'The group.' }) },
    errors: {
      types: [InvalidInput, Conflict, Unsupported],
      union: { name: 'CreateModelAccessGroupResult', description: 'The group, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) => createModelAccessGroup(scope, draftOf(input)),
  }),
  updateModelAccessGroup: t.field({
    type: ChangedType,
    description: `Replaces the stored deployments of an access group. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: GroupInput, required: true, description: 'The group.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported],
      union: { name: 'UpdateModelAccessGroupResult', description: 'The changed group, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) => updateModelAccessGroup(scope, draftOf(input)),
  }),
  deleteModelAccessGroup: t.field({
    type: ChangedType,
    description: `Removes an access group from its deployments. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The group.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported],
      union: { name: 'DeleteModelAccessGroupResult', description: 'The deleted group, or why it was not deleted.' },
    },
    resolve: (_root, { input: { name } }, { scope }) => deleteModelAccessGroup(scope, { name }),
  }),
}));
