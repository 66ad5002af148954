import type { BrokenDeployment, KnownDeployment } from '../src/domain/deployments/deployment-source.ts';
import { entryFor } from '../src/domain/deployments/priced-by.ts';
import {
  type DeploymentPatch,
  newStoredDeployment,
  patchedDeployment,
  type StoredDeployment,
} from '../src/domain/deployments/stored-deployment.ts';
import { Conflict, InvalidInput, NotFound, Unsupported } from '../src/domain/errors.ts';
import { modelAdmin, system, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { StoredDeploymentPlatform } from './operation/model-platform.ts';
import type { Scope } from './operation/scope.ts';

type ModelScope = Scope<StoredDeploymentPlatform>;

/** A deployment to create; an id is generated where none is given. */
export interface NewDeployment extends Omit<DeploymentPatch, 'modelGroup' | 'params'> {
  readonly id: string | null;
  readonly modelGroup: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Which deployment to change. */
interface Chosen {
  readonly id: string;
}

/** Refuses changes where models are not stored. */
export function assertStoresModels({ platform }: Scope<Pick<StoredDeploymentPlatform, 'storesModels'>>): void {
  if (!platform.storesModels)
    throw new Unsupported("Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature.");
}

const knownOf = ({ platform }: ModelScope, id: string): KnownDeployment | null =>
  platform.deployments.all().find(({ deployment }) => deployment.id === id) ?? null;

/** Row of the price map for a deployment; empty for none. Throws InvalidInput where it cannot be called. */
function pricedRow({ platform }: ModelScope, row: StoredDeployment): Readonly<Record<string, unknown>> {
  const deployment = platform.deploymentReader.read(row);
  const { credentialName } = deployment;
  if (credentialName !== undefined && platform.credentials.find(credentialName) === null) {
    const message = `Value error, the credential ${credentialName} does not exist`;
    const path = ['body', 'litellm_params', 'litellm_credential_name'];
    throw new InvalidInput(`The credential ${credentialName} does not exist.`, [
      { path, rule: 'value_error', message },
    ]);
  }
  return entryFor(deployment, platform.catalog.current())?.row ?? {};
}

/** The refusal of an id that no stored deployment has. */
function notStored(scope: ModelScope, id: string): InvalidInput | NotFound {
  if (scope.platform.storesModels && knownOf(scope, id) === null)
    return new NotFound('stored model', id, `Model ${id} not found on proxy.`);
  return new InvalidInput('Model updates only supported for DB-stored models', [], { field: 'stored_model' });
}

/** Creates a deployment, which is called from then on. Throws Unsupported, Conflict for a taken id, and InvalidInput. */
export const createDeployment = operation({
  name: 'createDeployment',
  access: modelAdmin,
  async run(scope: ModelScope, { id, ...draft }: NewDeployment): Promise<StoredDeployment> {
    assertStoresModels(scope);
    const { platform } = scope;
    const about = { ...authored(scope), id: id ?? platform.ids.uuid() };
    if (knownOf(scope, about.id) !== null) throw new Conflict(`A model with the id ${about.id} already exists.`);
    const row = pricedRow(scope, newStoredDeployment(draft, { ...about, row: {} }));
    const made = newStoredDeployment(draft, { ...about, row });
    await platform.stores.deployments.add(made);
    await platform.deployments.reload();
    return made;
  },
});

async function change(scope: ModelScope, id: string, patch: DeploymentPatch): Promise<StoredDeployment | null> {
  const { platform } = scope;
  const about = authored(scope);
  const done = await platform.stores.deployments.change(id, (before) => {
    const row = pricedRow(scope, patchedDeployment(before, patch, { ...about, row: {} }));
    return patchedDeployment(before, patch, { ...about, row });
  });
  if (done !== null) await platform.deployments.reload();
  return done?.after ?? null;
}

/** Changes a deployment by the id in its facts. Throws NotFound, InvalidInput and Conflict. */
export const updateDeployment = operation({
  name: 'updateDeployment',
  access: modelAdmin,
  async run(
    scope: ModelScope,
    { id, ...patch }: DeploymentPatch & { readonly id: string | null },
  ): Promise<StoredDeployment> {
    if (id === null) throw new InvalidInput('Authentication Error, model_info not provided');
    const changed = scope.platform.storesModels ? await change(scope, id, patch) : null;
    if (changed !== null) return changed;
    if (knownOf(scope, id) !== null) throw new InvalidInput("Can't edit model. Model in config.");
    throw new NotFound('stored model', id, 'Authentication Error, model not found');
  },
});

/** As `updateDeployment`, with the id beside the change. */
export const patchDeployment = operation({
  name: 'patchDeployment',
  access: modelAdmin,
  async run(scope: ModelScope, { id, ...patch }: DeploymentPatch & Chosen): Promise<StoredDeployment> {
    const changed = scope.platform.storesModels ? await change(scope, id, patch) : null;
    if (changed === null) throw notStored(scope, id);
    return changed;
  },
});

/** Deletes a stored deployment. Throws Unsupported, and NotFound for another one. */
export const deleteDeployment = operation({
  name: 'deleteDeployment',
  access: modelAdmin,
  async run(scope: ModelScope, { id }: Chosen): Promise<StoredDeployment> {
    assertStoresModels(scope);
    const { platform } = scope;
    const [gone] = await platform.stores.deployments.remove([id]);
    if (gone === undefined) throw new NotFound('stored model', id, `Model with id=${id} not found in db`);
    await platform.deployments.reload();
    return gone;
  },
});

/** Lists stored deployments, blocked and misconfigured ones too, the oldest first. */
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
  run: ({ platform }: ModelScope, { id }: Chosen): Promise<StoredDeployment | null> =>
    platform.stores.deployments.find(id),
});

/** Lists deployments of the configuration and of the database that cannot be called, with the reason. */
export const listBrokenDeployments = operation({
  name: 'listBrokenDeployments',
  access: tenantViewer,
  run: ({ platform }: ModelScope, _input: undefined): readonly BrokenDeployment[] => platform.deployments.broken(),
});

/** Takes over what other processes changed. */
export const refreshDeployments = operation({
  name: 'refreshDeployments',
  access: system,
  async run({ platform }: ModelScope, _input: undefined): Promise<void> {
    await platform.deployments.refresh();
  },
});
