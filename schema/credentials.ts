import {
  createCredential,
  deleteCredential,
  findCredential,
  listCredentials,
  updateCredential,
} from '../resolvers/credentials.ts';
import type { KnownCredential } from '../src/domain/credentials/credential.ts';
import { maskedParameters } from '../src/domain/deployments/parameters.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, rowOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'Credential';
const CREDENTIAL_ID = 'The credential: global id or name.';
const VALUES = 'Values by name, e.g. `api_key` and `api_base`. They are encrypted.';
const CredentialType = builder.objectRef<KnownCredential>(TYPE);

builder.node(CredentialType, {
  description:
    'A credential of a provider, from the configuration file or the database. Deployments use it by its name.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((name, { scope }) => findCredential(scope, { name })),
  fields: (t) => ({
    name: t.exposeString('id', { description: 'Its name.' }),
    values: t.field({ type: 'JSON', description: 'Its values. Secrets are masked.', resolve: maskedParameters }),
    info: t.field({ type: 'JSON', description: 'Facts without secrets: an object.', resolve: ({ info }) => info }),
    isConfigured: t.boolean({
      description: 'Whether the configuration file declares it. Such a credential cannot be changed at run time.',
      resolve: ({ stored }) => stored === null,
    }),
    isStoredIgnored: t.exposeBoolean('isStoredIgnored', {
      description:
        'Whether a stored credential of the same name is ignored, because the credential of the configuration file takes precedence.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was stored. Null for a credential of the configuration file.',
      resolve: ({ stored }) => stored?.createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last changed. Null for a credential of the configuration file.',
      resolve: ({ stored }) => stored?.updatedAt,
    }),
  }),
});

const CredentialFilterType = builder.inputType('CredentialFilter', {
  description: 'Filter of credentials. Blank text is ignored.',
  fields: (t) => ({ name: t.string({ description: 'Text that the name contains; letter case is ignored.' }) }),
});

const CredentialOrderType = rowOrder('Credential', 'credentials', {
  NAME: { value: 'name', description: 'Name.' },
});

const idOf = ({ id }: KnownCredential) => id;

builder.queryField('credentials', (t) =>
  t.connection(
    {
      type: CredentialType,
      description:
        'Credentials of the configuration file, then stored ones, the oldest first by default. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: CredentialFilterType, description: 'All credentials when absent.' }),
        orderBy: t.arg({ type: CredentialOrderType, description: 'The oldest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = (await listCredentials(scope, undefined)).filter(({ id }) => containsText(id, filter?.name));
        const values = {
          // Credentials of the configuration file have no time and count as the oldest.
          created_at: (row: KnownCredential) => row.stored?.createdAt.getTime() ?? 0,
          name: (row: KnownCredential) => row.id,
        };
        return pageOf(inOrder(found, orderBy, values, idOf), args, idOf);
      },
    },
    { ...pageType('Credential', 'credentials'), fields: (pageFields) => totalCount(pageFields, 'credentials') },
    edgeType('Credential', 'credential'),
  ),
);

const CreateInput = builder.inputType('CreateCredentialInput', {
  description: 'A credential to store, with its values, or with the access parameters of a deployment.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique name.' }),
    values: t.field({ type: 'JSON', description: VALUES }),
    deploymentId: t.id({
      description:
        'Deployment whose `api_key` and other access parameters are stored when `values` is absent or empty: global id or `deploymentId`.',
    }),
    info: t.field({ type: 'JSON', description: 'Facts without secrets: an object.' }),
  }),
});

const UpdateInput = builder.inputType('UpdateCredentialInput', {
  description:
    'Changes to a credential. Absent members stay as they are. In `values`, null removes a value; in `info`, null is stored.',
  fields: (t) => ({
    credential: t.id({ required: true, description: CREDENTIAL_ID }),
    values: t.field({ type: 'JSON', description: VALUES }),
    info: t.field({ type: 'JSON', description: 'Facts without secrets: an object.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteCredentialInput', {
  description: 'The credential to delete.',
  fields: (t) => ({ credential: t.id({ required: true, description: CREDENTIAL_ID }) }),
});

/** The values of a new credential, or as `modelId` the deployment that they are copied from. Throws InvalidInput. */
function sourceOf(values: unknown, deploymentId: string | null | undefined) {
  const inputValues = readObject(values, 'values');
  if (Object.keys(inputValues).length > 0) return { values: inputValues };
  if (deploymentId !== null && deploymentId !== undefined) return { modelId: localId('Deployment', deploymentId) };
  throw new InvalidInput('Either `values` or `deploymentId` must be given.', [
    { path: ['input', 'values'], rule: 'missing', message: 'must be given, or `deploymentId`' },
  ]);
}

builder.mutationFields((t) => ({
  createCredential: t.field({
    type: CredentialType,
    description: `Stores a credential. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The credential.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'CreateCredentialResult', description: 'The credential, or why it was not stored.' },
    },
    resolve(_root, { input: { name, values, deploymentId, info } }, { scope }) {
      return createCredential(scope, { name, from: sourceOf(values, deploymentId), info: readObject(info, 'info') });
    },
  }),
  updateCredential: t.field({
    type: CredentialType,
    description: `Changes a credential. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The credential and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateCredentialResult', description: 'The changed credential, or why it was not changed.' },
    },
    resolve: (_root, { input: { credential, values, info } }, { scope }) =>
      updateCredential(scope, {
        name: localId(TYPE, credential),
        values: readObject(values, 'values'),
        info: readObject(info, 'info'),
      }),
  }),
  deleteCredential: t.field({
    type: CredentialType,
    description: `Deletes a credential. Deployments that use it can no longer be called. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The credential.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteCredentialResult', description: 'The deleted credential, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteCredential(scope, { name: localId(TYPE, input.credential) }),
  }),
}));
