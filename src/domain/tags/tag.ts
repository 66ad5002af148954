import { assertStorable } from '../budgets/limits.ts';
import { assertLabel } from '../spend/label.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** A label of calls, with a budget and a list of models. Its id is its name. */
export interface Tag extends Stamps {
  readonly id: string;
  readonly description: string | null;
  readonly models: readonly string[];
  readonly budgetId: string | null;
}

/** Changes to a tag. An absent member is unchanged, null clears it. */
export interface TagPatch {
  readonly description?: string | null;
  readonly models?: readonly string[];
  readonly budgetId?: string | null;
}

/** Filter of a list of tags: null lists all. */
interface TagFilter {
  readonly ids: readonly string[] | null;
}

export type TagStore = RowStore<Tag, TagFilter>;

/** A new tag. Throws InvalidInput. */
export function newTag(patch: TagPatch, about: Authored & { readonly id: string }): Tag {
  assertLabel('name', about.id);
  return patchedTag({ id: about.id, description: null, models: [], budgetId: null, ...newStamps(about) }, patch, about);
}

/** A tag with a patch applied. Throws InvalidInput. */
export function patchedTag(tag: Tag, patch: TagPatch, { now, by }: Authored): Tag {
  assertStorable({ name: tag.id, description: patch.description });
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...tag, ...(Object.fromEntries(changes) as TagPatch), updatedAt: now, updatedBy: by };
}
