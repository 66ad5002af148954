import type { KnownDeployment } from '../src/domain/deployments/deployment-source.ts';
import { type ModelAccessGroup, modelAccessGroups } from '../src/domain/deployments/model-access-groups.ts';
import { patchedDeployment } from '../src/domain/deployments/stored-deployment.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { modelAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { StoredDeploymentPlatform } from './operation/model-platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertStoresModels } from './operation/stored-models.ts';

type GroupScope = Scope<StoredDeploymentPlatform>;

/** An access group and its stored deployments: those with the ids or, without ids, all deployments of the models. */
export interface ModelAccessGroupDraft {
  readonly name: string;
  readonly models: readonly string[] | null;
  readonly deploymentIds: readonly string[] | null;
}

/** An access group after a change. */
export interface ChangedGroup extends ModelAccessGroupDraft {
  /** Number of deployments that were changed. */
  readonly changed: number;
}

const unknownGroup = (name: string): NotFound =>
  new NotFound('model access group', name, `Access group '${name}' not found`);

/** Deployments without a team. A deployment of a team is for the whole team; groups do not apply to it. */
const deploymentsWithoutTeam = ({ platform }: GroupScope): readonly KnownDeployment[] =>
  platform.deployments.all().filter(({ deployment }) => deployment.teamId === undefined);

const groupNamed = (scope: GroupScope, name: string): ModelAccessGroup | null =>
  modelAccessGroups(deploymentsWithoutTeam(scope)).find((group) => group.name === name) ?? null;

const groupsOf = ({ deployment }: KnownDeployment): readonly string[] => deployment.accessGroups ?? [];

/**
 * Stored deployments that a draft names. Throws InvalidInput for a blank group name, and when the draft names no
 * deployment, an unknown one, or one of the configuration.
 */
function deploymentsOf(scope: GroupScope, { name, models, deploymentIds }: ModelAccessGroupDraft) {
  if (name.trim() === '') throw new InvalidInput('access_group must not be blank.');
  const byId = deploymentIds !== null && deploymentIds.length > 0;
  const names = [...new Set(byId ? deploymentIds : (models ?? []))];
  if (names.length === 0) throw new InvalidInput('model_names or model_ids must name a model.');
  const all = deploymentsWithoutTeam(scope);
  const nameOf = ({ deployment }: KnownDeployment): string => (byId ? deployment.id : deployment.modelGroup);
  const missing = names.filter((one) => !all.some((known) => nameOf(known) === one));
  if (missing.length > 0)
    throw new InvalidInput(`${byId ? 'Model id(s)' : 'Model(s)'} not found: ${missing.join(', ')}`);
  const stored = all.filter((known) => known.stored !== null && names.includes(nameOf(known)));
  const fromFile = names.filter((one) => !stored.some((known) => nameOf(known) === one));
  if (fromFile.length > 0)
    throw new InvalidInput(`Models of the configuration file cannot be changed: ${fromFile.join(', ')}`);
  return stored;
}

/**
 * Writes the access groups of stored deployments. `change` makes the new list from the stored one. Returns the number
 * of changed deployments; deleted deployments are skipped.
 */
async function writeGroups(
  scope: GroupScope,
  changes: readonly { readonly known: KnownDeployment; readonly change: (groups: readonly string[]) => string[] }[],
): Promise<number> {
  const { platform } = scope;
  // The row of the price map is not needed, because only `access_groups` changes.
  const authorship = { ...authored(scope), row: {} };
  let changed = 0;
  for (const { known, change } of changes) {
    const done = await platform.stores.deployments.change(known.deployment.id, (before) => {
      const { access_groups: current } = before.info;
      const groups = change(Array.isArray(current) ? current.filter((one) => typeof one === 'string') : []);
      return patchedDeployment(before, { info: { access_groups: groups.length === 0 ? null : groups } }, authorship);
    });
    if (done !== null) changed += 1;
  }
  await platform.deployments.reload();
  return changed;
}

const withGroup = (name: string) => (groups: readonly string[]) => [...new Set([...groups, name])];
const withoutGroup = (name: string) => (groups: readonly string[]) => groups.filter((one) => one !== name);

/** Creates an access group of stored deployments. Throws Unsupported, Conflict for a taken name, and InvalidInput. */
export const createModelAccessGroup = operation({
  name: 'createModelAccessGroup',
  access: modelAdmin,
  async run(scope: GroupScope, draft: ModelAccessGroupDraft): Promise<ChangedGroup> {
    assertStoresModels(scope);
    const members = deploymentsOf(scope, draft);
    if (groupNamed(scope, draft.name) !== null) throw new Conflict(`Access group '${draft.name}' already exists`);
    const changed = await writeGroups(
      scope,
      members.map((known) => ({ known, change: withGroup(draft.name) })),
    );
    return { ...draft, changed };
  },
});

/** Replaces the stored deployments of an access group. Throws Unsupported, NotFound and InvalidInput. */
export const updateModelAccessGroup = operation({
  name: 'updateModelAccessGroup',
  access: modelAdmin,
  async run(scope: GroupScope, draft: ModelAccessGroupDraft): Promise<ChangedGroup> {
    assertStoresModels(scope);
    const { name } = draft;
    if (groupNamed(scope, name) === null) throw unknownGroup(name);
    const members = deploymentsOf(scope, draft);
    const removed = deploymentsWithoutTeam(scope).filter(
      (known) => known.stored !== null && groupsOf(known).includes(name) && !members.includes(known),
    );
    const changed = await writeGroups(scope, [
      ...removed.map((known) => ({ known, change: withoutGroup(name) })),
      ...members.map((known) => ({ known, change: withGroup(name) })),
    ]);
    return { ...draft, changed };
  },
});

/** Lists the access groups of models, in the order of the deployments. */
export const listModelAccessGroups = operation({
  name: 'listModelAccessGroups',
  access: tenantViewer,
  run: (scope: GroupScope, _input: undefined): readonly ModelAccessGroup[] =>
    modelAccessGroups(deploymentsWithoutTeam(scope)),
});

/** Reads an access group of models. Throws NotFound. */
export const getModelAccessGroup = operation({
  name: 'getModelAccessGroup',
  access: tenantViewer,
  run(scope: GroupScope, { name }: { readonly name: string }): ModelAccessGroup {
    const group = groupNamed(scope, name);
    if (group === null) throw unknownGroup(name);
    return group;
  },
});

/**
 * Removes an access group from its deployments. Throws Unsupported, NotFound, and InvalidInput when the configuration
 * file has models of the group.
 */
export const deleteModelAccessGroup = operation({
  name: 'deleteModelAccessGroup',
  access: modelAdmin,
  async run(
    scope: GroupScope,
    { name }: { readonly name: string },
  ): Promise<{ readonly name: string; readonly changed: number }> {
    assertStoresModels(scope);
    const group = groupNamed(scope, name);
    if (group === null) throw unknownGroup(name);
    if (group.isConfigured)
      throw new InvalidInput(`The configuration file has models of the access group '${name}'. It cannot be deleted.`);
    const members = deploymentsWithoutTeam(scope).filter((known) => groupsOf(known).includes(name));
    const changed = await writeGroups(
      scope,
      members.map((known) => ({ known, change: withoutGroup(name) })),
    );
    return { name, changed };
  },
});
