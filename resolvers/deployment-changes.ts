import type { JsonObject } from '../src/domain/json-object.ts';
import type { BrokenDeployment, KnownDeployment } from '../src/domain/deployments/deployment-source.ts';
import { revealedParameters } from '../src/domain/deployments/parameters.ts';
import { catalogEntryFor } from '../src/domain/deployments/catalog-entry.ts';
import { priceWarning } from '../src/domain/deployments/price-warning.ts';
import { assertTeamParams, MADE_BY_TEAM, teamOfInfo } from '../src/domain/deployments/team-models.ts';
import {
  type DeploymentPatch,
  newStoredDeployment,
  patchedDeployment,
  type StoredDeployment,
} from '../src/domain/deployments/stored-deployment.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { Conflict, Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { isAdmin, modelManager, refuseModels, system, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { StoredDeploymentPlatform } from './operation/model-platform.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { writeWithinRouterLimit } from './operation/router-registration.ts';
import { managedTeam } from './operation/team-views.ts';
import { assertStoresModels } from './operation/stored-models.ts';

type ModelScope = Scope<StoredDeploymentPlatform>;
/** Scope with the stores that contain the administrators of teams. */
type TeamModelScope = Scope<StoredDeploymentPlatform & TeamPlatform>;

/** A deployment to create; an id is generated when it has none. */
export interface NewDeployment extends Omit<DeploymentPatch, 'modelGroup' | 'params'> {
  readonly id: string | null;
  readonly modelGroup: string;
  readonly params: JsonObject;
}

/** The id of a deployment. */
interface NamedDeployment {
  readonly id: string;
}

const knownOf = ({ platform }: ModelScope, id: string): KnownDeployment | null =>
  platform.deployments.all().find(({ deployment }) => deployment.id === id) ?? null;

/**
 * Checks a deployment and returns its row of the price map; empty for none. Throws InvalidInput when the deployment
 * cannot be called, or names an unknown credential. Also throws it for parameters that a model may not have when a team
 * administrator made it.
 */
function checkedPriceMapRow({ platform }: ModelScope, wanted: StoredDeployment): JsonObject {
  const deployment = platform.deploymentReader.read(wanted);
  if (wanted.info[MADE_BY_TEAM] === true) assertTeamParams(revealedParameters(wanted), deployment);
  const { credentialName } = deployment;
  if (credentialName !== undefined && platform.credentials.find(credentialName) === null) {
    const message = `Value error, the credential ${credentialName} does not exist`;
    const path = ['body', 'litellm_params', 'litellm_credential_name'];
    throw new InvalidInput(`The credential ${credentialName} does not exist.`, [
      { path, rule: 'value_error', message },
    ]);
  }
  return catalogEntryFor(deployment, platform.catalog.current())?.row ?? {};
}

/** A deployment after a change. `warning` is about its prices; null for none. */
export interface ChangedDeployment extends StoredDeployment {
  readonly warning: string | null;
}

function withPriceWarning({ platform }: ModelScope, row: StoredDeployment): ChangedDeployment {
  const deployment = platform.deploymentReader.read(row);
  const warning = priceWarning(deployment, catalogEntryFor(deployment, platform.catalog.current()));
  if (warning !== null) platform.modelWarning({ id: row.id, model: row.modelGroup, warning });
  return { ...row, warning };
}

/** Error for an id that no stored deployment has. */
function notStored(scope: ModelScope, id: string): InvalidInput | NotFound {
  if (scope.platform.storesModels && knownOf(scope, id) === null)
    return new NotFound('stored model', id, `Model ${id} not found on proxy.`);
  return new InvalidInput('Model updates only supported for DB-stored models', [], { field: 'stored_model' });
}

async function assertTeam({ platform }: TeamModelScope, teamId: string | null): Promise<void> {
  if (teamId !== null && (await platform.stores.teams.find(teamId)) === null)
    throw new InvalidInput(`Team not found, passed team_id=${teamId}`);
}

/** True for an administrator of the team, false for a proxy administrator. Throws Forbidden for other callers. */
async function isTeamAdmin(scope: TeamModelScope, teamId: string | null): Promise<boolean> {
  if (isAdmin(callerOf(scope))) return false;
  if (teamId === null) throw refuseModels();
  await managedTeam(scope, teamId).catch((error: unknown) => {
    throw error instanceof Forbidden ? refuseModels() : error;
  });
  return true;
}

/**
 * Creates a deployment. It takes calls immediately: of every key, or of the keys of the team in its `info`. Throws
 * Unsupported, Conflict for an id that exists, InvalidInput and Forbidden.
 */
export const createDeployment = operation({
  name: 'createDeployment',
  access: modelManager,
  async run(scope: TeamModelScope, { id, ...draft }: NewDeployment): Promise<ChangedDeployment> {
    const teamId = teamOfInfo(draft.info ?? {});
    const byTeam = await isTeamAdmin(scope, teamId);
    if (byTeam && isSwitchedOn(scope.platform.configuration, 'disable_model_add_for_internal_users'))
      throw new Forbidden('Adding models is disabled for internal users by your administrator.', 'model_admin');
    assertStoresModels(scope);
    await assertTeam(scope, teamId);
    const { platform } = scope;
    const identity = { ...authored(scope), id: id ?? platform.ids.uuid(), byTeam };
    if (knownOf(scope, identity.id) !== null) throw new Conflict(`A model with the id ${identity.id} already exists.`);
    // The row of the price map is found by a version of the deployment that does not have the row yet.
    const row = checkedPriceMapRow(scope, newStoredDeployment(draft, { ...identity, row: {} }));
    const made = newStoredDeployment(draft, { ...identity, row });
    await writeWithinRouterLimit(scope, made, () => platform.stores.deployments.add(made));
    await platform.deployments.reload();
    return withPriceWarning(scope, made);
  },
});

/**
 * Checks a change of a stored deployment. Administrators of a team may change only models that an administrator of a
 * team created. Other models may have a credential of the operator, which a changed address would receive. `teamId` is
 * the team after the change. Throws Forbidden and InvalidInput.
 */
async function assertMayChange(
  scope: TeamModelScope,
  stored: StoredDeployment | null,
  teamId: string | null,
): Promise<void> {
  const before = teamOfInfo(stored?.info ?? {});
  const byTeam = await isTeamAdmin(scope, teamId);
  // Throws when the caller does not administer the team that the model leaves.
  if (byTeam && teamId !== before) await isTeamAdmin(scope, before);
  if (byTeam && stored?.info[MADE_BY_TEAM] !== true) throw refuseModels();
  if (teamId !== before) await assertTeam(scope, teamId);
}

async function changeDeployment(
  scope: TeamModelScope,
  id: string,
  patch: DeploymentPatch,
): Promise<ChangedDeployment | null> {
  const { platform } = scope;
  const stored = await platform.stores.deployments.find(id);
  const teamId = teamOfInfo(patch.info?.['team_id'] === undefined ? (stored?.info ?? {}) : patch.info);
  await assertMayChange(scope, stored, teamId);
  if (stored === null) return null;
  const authorship = authored(scope);
  const patched = (before: StoredDeployment): StoredDeployment => {
    const row = checkedPriceMapRow(scope, patchedDeployment(before, patch, { ...authorship, row: {} }));
    return patchedDeployment(before, patch, { ...authorship, row });
  };
  const write = () =>
    platform.stores.deployments.change(id, (before) => {
      if (teamOfInfo(before.info) !== teamOfInfo(stored.info))
        throw new Conflict(`The model ${id} was moved to another team by a concurrent request. Try again.`);
      return patched(before);
    });
  // Only a change of the parameters can make a router of another classifier.
  const done = await (patch.params === undefined ? write() : writeWithinRouterLimit(scope, patched(stored), write));
  if (done === null) return null;
  await platform.deployments.reload();
  return withPriceWarning(scope, done.after);
}

/** As `changeDeployment`; null when no stored deployment has the id, or models are not stored. Throws Forbidden. */
function changeStored(scope: TeamModelScope, id: string, patch: DeploymentPatch): Promise<ChangedDeployment | null> {
  if (!scope.platform.storesModels && !isAdmin(callerOf(scope))) throw refuseModels();
  return scope.platform.storesModels ? changeDeployment(scope, id, patch) : Promise.resolve(null);
}

/** Changes a deployment by the id in its `info`. Throws NotFound, InvalidInput, Conflict and Forbidden. */
export const updateDeployment = operation({
  name: 'updateDeployment',
  access: modelManager,
  async run(
    scope: TeamModelScope,
    { id, ...patch }: DeploymentPatch & { readonly id: string | null },
  ): Promise<ChangedDeployment> {
    if (id === null && !isAdmin(callerOf(scope))) throw refuseModels();
    if (id === null) throw new InvalidInput('Authentication Error, model_info not provided');
    const changed = await changeStored(scope, id, patch);
    if (changed !== null) return changed;
    if (knownOf(scope, id) !== null) throw new InvalidInput("Can't edit model. Model in config.");
    throw new NotFound('stored model', id, 'Authentication Error, model not found');
  },
});

/** As `updateDeployment`, with the id outside of the patch. */
export const patchDeployment = operation({
  name: 'patchDeployment',
  access: modelManager,
  async run(scope: TeamModelScope, { id, ...patch }: DeploymentPatch & NamedDeployment): Promise<ChangedDeployment> {
    const changed = await changeStored(scope, id, patch);
    if (changed === null) throw notStored(scope, id);
    return changed;
  },
});

/** Deletes a stored deployment. Throws Unsupported, Forbidden, and NotFound when no stored deployment has the id. */
export const deleteDeployment = operation({
  name: 'deleteDeployment',
  access: modelManager,
  async run(scope: TeamModelScope, { id }: NamedDeployment): Promise<StoredDeployment> {
    const { platform } = scope;
    const stored = await platform.stores.deployments.find(id);
    if (!isAdmin(callerOf(scope))) await assertMayChange(scope, stored, teamOfInfo(stored?.info ?? {}));
    if (stored !== null) assertStoresModels(scope);
    const [removed] = await platform.stores.deployments.remove([id]);
    if (removed === undefined) throw new NotFound('stored model', id, `Model with id=${id} not found in db`);
    await platform.deployments.reload();
    return removed;
  },
});

/** Lists stored deployments, including blocked and misconfigured ones, the oldest first. */
export const listStoredDeployments = operation({
  name: 'listStoredDeployments',
  access: tenantViewer,
  run: ({ platform }: ModelScope, _input: undefined): Promise<readonly StoredDeployment[]> =>
    platform.stores.deployments.all({ ids: null }),
});

/** Reads a stored deployment; null for none. */
export const findStoredDeployment = operation({
  name: 'findStoredDeployment',
  access: tenantViewer,
  run: ({ platform }: ModelScope, { id }: NamedDeployment): Promise<StoredDeployment | null> =>
    platform.stores.deployments.find(id),
});

/** Lists deployments of the configuration file and the database that cannot be called, with the reason. */
export const listBrokenDeployments = operation({
  name: 'listBrokenDeployments',
  access: tenantViewer,
  run: ({ platform }: ModelScope, _input: undefined): readonly BrokenDeployment[] => platform.deployments.broken(),
});

/** Applies changes of stored deployments by other processes. */
export const refreshDeployments = operation({
  name: 'refreshDeployments',
  access: system,
  async run({ platform }: ModelScope, _input: undefined): Promise<void> {
    await platform.deployments.refresh();
  },
});
