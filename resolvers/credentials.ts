import type { JsonObject } from '../src/domain/json-object.ts';
import {
  credentialOf,
  type KnownCredential,
  knownCredentials,
  newCredential,
  patchedCredential,
  storedCredential,
} from '../src/domain/credentials/credential.ts';
import { type Parameters, revealedParameters } from '../src/domain/deployments/parameters.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { StoredDeploymentPlatform } from './operation/model-platform.ts';
import type { Scope } from './operation/scope.ts';

type CredentialScope = Scope<StoredDeploymentPlatform>;

/** A credential to create: its values, or the id of the model to take them from. */
export interface NewCredential {
  readonly name: string;
  readonly from: { readonly values: JsonObject } | { readonly modelId: string };
  readonly info: JsonObject;
}

const unknownCredential = (name: string): NotFound =>
  new NotFound('credential', name, `Credential not found. Got credential name: ${name}`);

/** Throws InvalidInput for a credential that the configuration file declares. */
function assertNotDeclared({ platform }: CredentialScope, name: string): void {
  if (platform.credentials.declared().some(({ id }) => id === name))
    throw new InvalidInput(
      `The credential '${name}' is set in the configuration file (credential_list). Edit the file to change it, or remove it there.`,
    );
}

/** The public model name of a deployment, and its address and account (`parameters`). Throws NotFound. */
function credentialOfModel(
  { platform }: CredentialScope,
  id: string,
): { readonly model: string; readonly parameters: Parameters } {
  const known = platform.deployments.all().find(({ deployment }) => deployment.id === id);
  if (known === undefined) throw new NotFound('credential', id, `Model not found. Got model id: ${id}`);
  return { model: known.deployment.modelGroup, parameters: credentialOf(known.deployment) };
}

/** Stores a credential. Models can use it immediately. Throws Conflict for a taken name, NotFound and InvalidInput. */
export const createCredential = operation({
  name: 'createCredential',
  access: tenantAdmin,
  async run(scope: CredentialScope, { name, from, info }: NewCredential): Promise<KnownCredential> {
    const { platform } = scope;
    assertNotDeclared(scope, name);
    const values =
      'values' in from ? from.values : revealedParameters(credentialOfModel(scope, from.modelId).parameters);
    const credential = newCredential({ values, info }, { ...authored(scope), id: name });
    await platform.stores.credentials.add(credential);
    await platform.deployments.reload();
    return storedCredential(credential);
  },
});

/** Lists the credentials of the configuration file, then stored ones, the oldest first. */
export const listCredentials = operation({
  name: 'listCredentials',
  access: tenantViewer,
  async run({ platform }: CredentialScope, _input: undefined): Promise<readonly KnownCredential[]> {
    const stored = await platform.stores.credentials.all({ ids: null });
    return knownCredentials(platform.credentials.declared(), stored);
  },
});

/** Reads a credential; null for none. */
export const findCredential = operation({
  name: 'findCredential',
  access: tenantViewer,
  async run({ platform }: CredentialScope, { name }: { readonly name: string }): Promise<KnownCredential | null> {
    const declared = platform.credentials.declared().filter(({ id }) => id === name);
    const stored = await platform.stores.credentials.find(name);
    return knownCredentials(declared, stored === null ? [] : [stored])[0] ?? null;
  },
});

/** As `findCredential`. Throws NotFound. */
export const getCredential = operation({
  name: 'getCredential',
  access: tenantViewer,
  async run(scope: CredentialScope, { name }: { readonly name: string }): Promise<KnownCredential> {
    const found = await findCredential(scope, { name });
    if (found === null) throw unknownCredential(name);
    return found;
  },
});

/** Address and account of a model. Throws NotFound. */
export const getModelCredential = operation({
  name: 'getModelCredential',
  access: tenantViewer,
  run: (scope: CredentialScope, { id }: { readonly id: string }) => ({ id, ...credentialOfModel(scope, id) }),
});

/** Changes a credential. Models use the new values immediately. Throws NotFound, Conflict and InvalidInput. */
export const updateCredential = operation({
  name: 'updateCredential',
  access: tenantAdmin,
  async run(
    scope: CredentialScope,
    { name, values, info }: { readonly name: string; readonly values: JsonObject; readonly info: JsonObject },
  ): Promise<KnownCredential> {
    const { platform } = scope;
    assertNotDeclared(scope, name);
    const authorship = authored(scope);
    const done = await platform.stores.credentials.change(name, (row) =>
      patchedCredential(row, { values, info }, authorship),
    );
    if (done === null) throw unknownCredential(name);
    await platform.deployments.reload();
    return storedCredential(done.after);
  },
});

/** Deletes a credential. Models that use it can no longer be called. Throws NotFound and InvalidInput. */
export const deleteCredential = operation({
  name: 'deleteCredential',
  access: tenantAdmin,
  async run(scope: CredentialScope, { name }: { readonly name: string }): Promise<KnownCredential> {
    const { platform } = scope;
    assertNotDeclared(scope, name);
    const [removed] = await platform.stores.credentials.remove([name]);
    if (removed === undefined) throw unknownCredential(name);
    await platform.deployments.reload();
    return storedCredential(removed);
  },
});
