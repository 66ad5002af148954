import type { Budget } from '../src/domain/budgets/budget.ts';
import { Conflict, NotFound } from '../src/domain/errors.ts';
import { newTag, patchedTag, type Tag, type TagPatch } from '../src/domain/tags/tag.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import {
  addWithBudgets,
  budgetsOf,
  changeWithBudget,
  createdBudgets,
  saveBudget,
  type WantedBudget,
} from './operation/owned-budgets.ts';
import type { TagPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** A tag with its budget. */
export interface TagView {
  readonly tag: Tag;
  readonly budget: Budget | null;
}

const unknownTag = (name: string): NotFound => new NotFound('tag', name, `Tag ${name} not found`);

async function viewsOf(scope: Scope<TagPlatform>, tags: readonly Tag[]): Promise<readonly TagView[]> {
  const budgets = await budgetsOf(scope, tags);
  return tags.map((tag) => ({ tag, budget: budgets.get(tag.budgetId ?? '') ?? null }));
}

/** A tag and its settings. */
export interface TagChange {
  readonly name: string;
  readonly patch: TagPatch;
  readonly budget: WantedBudget;
}

/** Creates a tag. Throws Conflict when the name is taken, and InvalidInput. */
export const createTag = operation({
  name: 'createTag',
  access: tenantAdmin,
  async run(scope: Scope<TagPlatform>, { name, patch, budget }: TagChange): Promise<Tag> {
    const { tags } = scope.platform.stores;
    if ((await tags.find(name)) !== null) throw new Conflict(`Tag ${name} already exists`);
    const budgetId = await saveBudget(scope, budget, null);
    const tag = newTag({ ...patch, budgetId }, { ...authored(scope), id: name });
    await addWithBudgets(scope, createdBudgets(budget, budgetId), () => tags.add(tag));
    return tag;
  },
});

/** Reads tags. Throws NotFound for an unknown one. */
export const getTags = operation({
  name: 'getTags',
  access: tenantViewer,
  async run(scope: Scope<TagPlatform>, names: readonly string[]): Promise<readonly TagView[]> {
    const tags = await scope.platform.stores.tags.findMany(names);
    const missing = names.find((name) => !tags.some(({ id }) => id === name));
    if (missing !== undefined) throw unknownTag(missing);
    return viewsOf(scope, tags);
  },
});

/** Lists all tags, the oldest first. */
export const listTags = operation({
  name: 'listTags',
  access: tenantViewer,
  run: async (scope: Scope<TagPlatform>): Promise<readonly TagView[]> =>
    viewsOf(scope, await scope.platform.stores.tags.all({ ids: null })),
});

/** Changes a tag. Throws NotFound and InvalidInput. */
export const updateTag = operation({
  name: 'updateTag',
  access: tenantAdmin,
  async run(scope: Scope<TagPlatform>, { name, patch, budget }: TagChange): Promise<Tag> {
    const { tags } = scope.platform.stores;
    const authorship = authored(scope);
    const current = await tags.find(name);
    if (current === null) throw unknownTag(name);
    const done = await changeWithBudget(scope, tags, current, {
      wanted: budget,
      budgetOf: ({ budgetId }) => budgetId,
      change: (row, budgetId) => patchedTag(row, { ...patch, budgetId }, authorship),
    });
    if (done === null) throw unknownTag(name);
    return done.after;
  },
});

/** Deletes a tag. Throws NotFound. */
export const deleteTag = operation({
  name: 'deleteTag',
  access: tenantAdmin,
  async run(scope: Scope<TagPlatform>, { name }: { readonly name: string }): Promise<Tag> {
    const [removed] = await scope.platform.stores.tags.remove([name]);
    if (removed === undefined) throw unknownTag(name);
    return removed;
  },
});
