import type { JsonObject } from '../json-object.ts';
import { assertStorable } from '../budgets/limits.ts';
import { mergedMetadata } from '../keys/key-settings.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** A part of a team with its own models and budget. */
export interface Project extends Stamps {
  readonly id: string;
  readonly alias: string | null;
  readonly description: string | null;
  readonly teamId: string;
  readonly budgetId: string | null;
  readonly models: readonly string[];
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
  readonly blocked: boolean;
}

/** Changes to a project. An absent member is unchanged, null clears it. */
export interface ProjectPatch {
  readonly alias?: string | null;
  readonly description?: string | null;
  readonly teamId?: string;
  readonly budgetId?: string | null;
  readonly models?: readonly string[];
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
  /** Members to set in the metadata; a null removes the member. */
  readonly metadataMembers?: JsonObject;
  readonly blocked?: boolean;
}

/** Filter of a list of projects. All conditions that are neither null nor absent must match. */
export interface ProjectFilter {
  readonly teamIds: readonly string[] | null;
  readonly teamId?: string | null;
  /** Text that the alias contains, ignoring letter case. */
  readonly aliasPart?: string | null;
  readonly blocked?: boolean | null;
}

export type ProjectSort = 'created_at' | 'project_alias';

export type ProjectStore = RowStore<Project, ProjectFilter, ProjectSort>;

/** A new project. Throws InvalidInput. */
export function newProject(
  patch: ProjectPatch,
  about: Authored & { readonly id: string; readonly teamId: string },
): Project {
  const { id, teamId } = about;
  const empty = { alias: null, description: null, budgetId: null, models: [], tags: [], metadata: {}, blocked: false };
  return patchedProject({ id, teamId, ...empty, ...newStamps(about) }, patch, about);
}

/** A project with a patch applied. Throws InvalidInput. */
export function patchedProject(
  project: Project,
  { metadataMembers, ...patch }: ProjectPatch,
  { now, by }: Authored,
): Project {
  const { alias, description, teamId } = patch;
  assertStorable({ project_id: project.id, project_alias: alias, description, team_id: teamId });
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  const metadata =
    metadataMembers === undefined
      ? {}
      : { metadata: mergedMetadata(patch.metadata ?? project.metadata, metadataMembers) };
  return { ...project, ...(Object.fromEntries(changes) as ProjectPatch), ...metadata, updatedAt: now, updatedBy: by };
}
