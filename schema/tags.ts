import { createTag, deleteTag, getTags, type TagChange, updateTag } from '../resolvers/tags.ts';
import { findBudgetRow, readWindowSpend } from '../resolvers/owner-nodes.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { Tag } from '../src/domain/tags/tag.ts';
import { builder, type InputFields } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { reloadOwnersAfter } from './base/owner-changes.ts';
import { limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { BudgetType } from './base/refs.ts';
import { usdOrNull } from './base/decimal.ts';

const TagType = builder.objectRef<Tag>('Tag').implement({
  description: 'A label of calls with a budget and limits.',
  fields: (t) => ({
    name: t.exposeID('id', { description: 'Name, as calls have it in `tags`.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Free text. Null when none is set.',
    }),
    models: t.stringList({
      description: 'Public model names of the tag. They do not restrict calls.',
      resolve: ({ models }) => [...models],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tag was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the tag was last changed.' }),
    budget: t.field({
      type: BudgetType,
      nullable: true,
      description: 'Its budget and limits. Null when it has none.',
      resolve: ({ budgetId }, _args, { scope }) => (budgetId === null ? null : findBudgetRow(scope, budgetId)),
    }),
    spendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Exact spend in USD in the current window of its budget. Before the first reset, this is the spend of all time. Null when it could not be read.',
      resolve: async ({ id, budgetId }, _args, { scope }) =>
        usdOrNull(await readWindowSpend(scope, { kind: 'tag', id, budgetId })),
    }),
  }),
});

/** Fields of a new tag and of a change. */
const tagFields = (t: InputFields) => ({
  description: t.string({ description: 'Free text; null removes it.' }),
  models: t.stringList({ description: 'Public model names of the tag. They do not restrict calls.' }),
  limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  budgetId: t.id({
    description: 'Existing budget instead of `limits`: global id or local id. Both together are an error.',
  }),
});

const CreateTagInput = builder.inputType('CreateTagInput', {
  description: 'A new tag.',
  fields: (t) => ({
    name: t.id({ required: true, description: 'Name, at most 100 characters.' }),
    ...tagFields(t),
  }),
});

const UpdateTagInput = builder.inputType('UpdateTagInput', {
  description: 'Changes to a tag, its budget and its limits. Absent fields stay as they are.',
  fields: (t) => ({
    name: t.id({ required: true, description: 'Name of the tag.' }),
    ...tagFields(t),
  }),
});

const DeleteTagInput = builder.inputType('DeleteTagInput', {
  description: 'A tag to delete.',
  fields: (t) => ({ name: t.id({ required: true, description: 'Name of the tag.' }) }),
});

/** Change of a tag. Null `budgetId` and null `limits` change nothing, like absent ones: the tag keeps its budget. */
const changeOf = ({ name, description, models, limits, budgetId }: typeof UpdateTagInput.$inferInput): TagChange => ({
  name,
  patch: {
    ...(description === undefined ? {} : { description }),
    ...(models === undefined ? {} : { models: models ?? [] }),
  },
  budget: { budgetId: localId('Budget', budgetId ?? null), limits: limitsOf(limits) },
});

builder.queryField('tag', (t) =>
  t.field({
    type: TagType,
    nullable: true,
    description: 'A tag by its name. Null when there is none. For proxy administrators with full or read-only access.',
    args: { name: t.arg.id({ required: true, description: 'Name of the tag.' }) },
    resolve: async (_root, { name }, { scope }) => {
      const [found] = await getTags(scope, [name]).catch((error: unknown) => {
        if (error instanceof NotFound) return [];
        throw error;
      });
      return found?.tag ?? null;
    },
  }),
);

// `reloadOwnersAfter` clears the loaders of this request, so that the result shows the changed budget.
builder.mutationFields((t) => ({
  createTag: t.field({
    type: TagType,
    description: 'Creates a tag. For proxy administrators.',
    args: { input: t.arg({ type: CreateTagInput, required: true, description: 'The new tag.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateTagResult', description: 'The tag, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) => reloadOwnersAfter(scope, createTag(scope, changeOf(input))),
  }),
  updateTag: t.field({
    type: TagType,
    description: 'Changes a tag, its budget and its limits. For proxy administrators.',
    args: { input: t.arg({ type: UpdateTagInput, required: true, description: 'The tag and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateTagResult', description: 'The changed tag, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) => reloadOwnersAfter(scope, updateTag(scope, changeOf(input))),
  }),
  deleteTag: t.field({
    type: TagType,
    description: 'Deletes a tag. Its recorded spend is not deleted. For proxy administrators.',
    args: { input: t.arg({ type: DeleteTagInput, required: true, description: 'The tag to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteTagResult', description: 'The deleted tag, or why it was not deleted.' },
    },
    resolve: (_root, { input: { name } }, { scope }) => reloadOwnersAfter(scope, deleteTag(scope, { name })),
  }),
}));
