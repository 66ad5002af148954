import {
  createVectorStoreIndex,
  deleteVectorStoreIndex,
  getVectorStoreIndex,
  listVectorStoreIndexes,
  type ShownIndex,
} from '../resolvers/vector-store-indexes.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'VectorStoreIndex';
const STORE = 'Id of the vector store at its provider.';
const ACCOUNT = 'Name of the registered vector store whose provider and account are used.';
const HIDDEN = 'Null for callers who are not administrators.';

const VectorStoreIndexType = builder.objectRef<ShownIndex>(TYPE);

builder.node(VectorStoreIndexType, {
  description: 'A name for a vector store of a provider. Requests use it in place of the id of the store.',
  id: { resolve: ({ name }) => name },
  loadMany: nodesOf((name, { scope }) => getVectorStoreIndex(scope, { name })),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name. Unique.' }),
    storeId: t.string({ nullable: true, description: `${STORE} ${HIDDEN}`, resolve: ({ storeId }) => storeId }),
    accountName: t.string({
      nullable: true,
      description: `${ACCOUNT} ${HIDDEN}`,
      resolve: ({ accountName }) => accountName,
    }),
    info: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Free-form information: an object. Null when none is set.',
      resolve: ({ info }) => info,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ createdAt }) => createdAt,
    }),
  }),
});

const IndexFilterType = builder.inputType('VectorStoreIndexFilter', {
  description: 'Filter of indexes. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
  }),
});

const IndexOrderType = valueOrder('VectorStoreIndex', 'indexes', {
  NAME: { value: 'name', description: 'Name.' },
  CREATED_AT: { value: 'created_at', description: 'When it was created.' },
});

const ORDER_VALUES = {
  name: (row: ShownIndex) => row.name,
  created_at: (row: ShownIndex) => row.createdAt.getTime(),
};

const nameOf = ({ name }: ShownIndex) => name;

builder.queryField('vectorStoreIndexes', (t) =>
  t.connection(
    {
      type: VectorStoreIndexType,
      description:
        'Names for vector stores, by default the oldest first. Administrators see all, other keys those that they may read.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: IndexFilterType, description: 'All indexes when absent.' }),
        orderBy: t.arg({ type: IndexOrderType, description: 'The oldest first when absent.' }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listVectorStoreIndexes(scope, undefined).filter(({ name }) => containsText(name, filter?.name));
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, nameOf), args, nameOf);
      },
    },
    { ...pageType('VectorStoreIndex', 'indexes'), fields: (pageFields) => totalCount(pageFields, 'indexes') },
    edgeType('VectorStoreIndex', 'index'),
  ),
);

const CreateInput = builder.inputType('CreateVectorStoreIndexInput', {
  description: 'A name for a vector store. Nothing is created at the provider.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name. Unique, and no id of a registered vector store.' }),
    storeId: t.string({ required: true, description: STORE }),
    accountName: t.string({ required: true, description: ACCOUNT }),
    info: t.field({ type: 'JSON', description: 'Free-form information: an object.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteVectorStoreIndexInput', {
  description: 'The index to remove. The vector store stays at its provider.',
  fields: (t) => ({ index: t.id({ required: true, description: 'The index: global id or name.' }) }),
});

builder.mutationFields((t) => ({
  createVectorStoreIndex: t.field({
    type: VectorStoreIndexType,
    description: `Creates a name for a vector store. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The index.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateVectorStoreIndexResult', description: 'The index, or why it was not created.' },
    },
    resolve: (_root, { input: { name, storeId, accountName, info } }, { scope }) =>
      createVectorStoreIndex(scope, {
        name,
        storeId,
        accountName,
        info: info === null || info === undefined ? null : readObject(info, 'info'),
      }),
  }),
  deleteVectorStoreIndex: t.field({
    type: VectorStoreIndexType,
    description: `Removes a name for a vector store. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The index.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteVectorStoreIndexResult', description: 'The removed index, or why it was not removed.' },
    },
    resolve: (_root, { input }, { scope }) => deleteVectorStoreIndex(scope, { name: localId(TYPE, input.index) }),
  }),
}));
