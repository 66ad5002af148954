import {
  createVectorStore,
  deleteVectorStore,
  getVectorStore,
  listVectorStores,
  updateVectorStore,
} from '../resolvers/vector-stores.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import type { VectorStore, VectorStorePatch } from '../src/domain/vector-stores/vector-store.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'VectorStore';
const STORE_ID = 'The vector store: global id or `vectorStoreId`.';
const PROVIDER = 'Provider that has the store, such as `openai`.';
const METADATA = 'Free-form information: an object.';
const CREDENTIAL = 'Name of the stored credential with the account at the provider.';
const TEAM = 'Team whose keys may use the store: global id or local id.';

const VectorStoreType = builder.objectRef<VectorStore>(TYPE);

builder.node(VectorStoreType, {
  description: 'A registered vector store of a provider.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getVectorStore(scope, { id })),
  fields: (t) => ({
    vectorStoreId: t.exposeString('id', { description: 'Its id at the provider, as in the HTTP API.' }),
    provider: t.exposeString('provider', { description: PROVIDER }),
    name: t.string({ nullable: true, description: 'Its name. Null without one.', resolve: ({ name }) => name }),
    description: t.string({
      nullable: true,
      description: 'What it contains. Null without a description.',
      resolve: ({ description }) => description,
    }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: `${METADATA} Null when none is set.`,
      resolve: ({ metadata }) => metadata,
    }),
    credentialName: t.string({
      nullable: true,
      description: `${CREDENTIAL} Null without one.`,
      resolve: ({ credentialName }) => credentialName,
    }),
    params: t.field({
      type: 'JSON',
      description:
        'Settings of the provider, as `litellm_params` in the HTTP API. Secrets are `REDACTED`. Empty for callers who are not administrators.',
      resolve: ({ params }) => redacted('litellm_params', params, 'admin') as VectorStore['params'],
    }),
    teamId: t.string({
      nullable: true,
      description: 'Local id of the team whose keys may use it. Null when every key may.',
      resolve: ({ teamId }) => teamId,
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was registered. Null for a store of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last changed. Null for a store of the configuration file.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const VectorStoreFilterType = builder.inputType('VectorStoreFilter', {
  description: 'Filter of vector stores. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    provider: t.string({ description: 'Exact provider.' }),
    teamId: t.id({ description: TEAM }),
  }),
});

const VectorStoreOrderType = valueOrder('VectorStore', 'vector stores', {
  NAME: { value: 'name', description: 'Name.' },
  PROVIDER: { value: 'provider', description: 'Provider.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When it was registered; stores of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  name: (row: VectorStore) => row.name ?? '',
  provider: (row: VectorStore) => row.provider,
  created_at: (row: VectorStore) => row.createdAt?.getTime() ?? 0,
};

type VectorStoreFilter = typeof VectorStoreFilterType.$inferInput | null | undefined;

const matches = ({ name, provider, teamId }: VectorStore, filter: VectorStoreFilter): boolean =>
  containsText(name ?? '', filter?.name) &&
  matchesValue(provider, filter?.provider) &&
  matchesValue(teamId, localId('Team', filter?.teamId));

const idOf = ({ id }: VectorStore) => id;

builder.queryField('vectorStores', (t) =>
  t.connection(
    {
      type: VectorStoreType,
      description:
        'Registered vector stores, by default those of the configuration file first. Administrators see all, other keys those of their team.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: VectorStoreFilterType, description: 'All vector stores when absent.' }),
        orderBy: t.arg({
          type: VectorStoreOrderType,
          description: 'Stores of the configuration file first when absent.',
        }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listVectorStores(scope, undefined).filter((row) => matches(row, filter));
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('VectorStore', 'vector stores'), fields: (pageFields) => totalCount(pageFields, 'vector stores') },
    edgeType('VectorStore', 'vector store'),
  ),
);

const CreateInput = builder.inputType('CreateVectorStoreInput', {
  description: 'A vector store to register. Nothing is created at the provider.',
  fields: (t) => ({
    vectorStoreId: t.string({ required: true, description: 'Its id at the provider. Unique.' }),
    provider: t.string({ required: true, description: PROVIDER }),
    name: t.string({ description: 'Its name.' }),
    description: t.string({ description: 'What it contains.' }),
    metadata: t.field({ type: 'JSON', description: METADATA }),
    credentialName: t.string({ description: CREDENTIAL }),
    params: t.field({
      type: 'JSON',
      description: 'Settings of the provider: an object, with `api_base` and `api_key`. They are stored encrypted.',
    }),
    teamId: t.string({ description: TEAM }),
  }),
});

const UpdateInput = builder.inputType('UpdateVectorStoreInput', {
  description: 'Changes to the registration of a vector store. Absent members stay as they are.',
  fields: (t) => ({
    vectorStore: t.id({ required: true, description: STORE_ID }),
    provider: t.string({ description: PROVIDER }),
    name: t.string({ description: 'Its name. Null removes it.' }),
    description: t.string({ description: 'What it contains. Null removes the description.' }),
    metadata: t.field({ type: 'JSON', description: `${METADATA} Null removes it.` }),
    credentialName: t.string({ description: `${CREDENTIAL} Null removes it.` }),
    params: t.field({
      type: 'JSON',
      description: 'All settings of the provider; null removes them. `REDACTED` leaves a secret unchanged.',
    }),
    teamId: t.string({ description: `${TEAM} Null opens it to every key.` }),
  }),
});

const DeleteInput = builder.inputType('DeleteVectorStoreInput', {
  description: 'The vector store whose registration is removed. It stays at its provider.',
  fields: (t) => ({ vectorStore: t.id({ required: true, description: STORE_ID }) }),
});

const objectOrNull = (input: unknown, member: string): VectorStore['metadata'] =>
  input === null || input === undefined ? null : readObject(input, member);

function patchOf(input: typeof UpdateInput.$inferInput): VectorStorePatch {
  const { provider, name, description, metadata, credentialName, params, teamId } = input;
  return {
    ...(provider === null || provider === undefined ? {} : { provider }),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: objectOrNull(metadata, 'metadata') }),
    ...(credentialName === undefined ? {} : { credentialName }),
    ...(params === undefined ? {} : { params: objectOrNull(params, 'params') ?? {} }),
    ...(teamId === undefined ? {} : { teamId: localId('Team', teamId) }),
  };
}

builder.mutationFields((t) => ({
  createVectorStore: t.field({
    type: VectorStoreType,
    description: `Registers a vector store. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The vector store.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateVectorStoreResult', description: 'The vector store, or why it was not registered.' },
    },
    resolve: (_root, { input }, { scope }) =>
      createVectorStore(scope, {
        id: input.vectorStoreId,
        provider: input.provider,
        name: input.name ?? null,
        description: input.description ?? null,
        metadata: objectOrNull(input.metadata, 'metadata'),
        credentialName: input.credentialName ?? null,
        params: objectOrNull(input.params, 'params') ?? {},
        teamId: localId('Team', input.teamId ?? null),
      }),
  }),
  updateVectorStore: t.field({
    type: VectorStoreType,
    description: `Changes the registration of a vector store. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The vector store and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateVectorStoreResult', description: 'The changed vector store, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      updateVectorStore(scope, { id: localId(TYPE, input.vectorStore), patch: patchOf(input) }),
  }),
  deleteVectorStore: t.field({
    type: VectorStoreType,
    description: `Removes the registration of a vector store. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The vector store.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'DeleteVectorStoreResult', description: 'The removed vector store, or why it was not removed.' },
    },
    resolve: (_root, { input }, { scope }) => deleteVectorStore(scope, { id: localId(TYPE, input.vectorStore) }),
  }),
}));
