import {
  createTokenMapping,
  deleteTokenMapping,
  findTokenMappings,
  getTokenMapping,
  updateTokenMapping,
} from '../resolvers/token-mappings.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { TokenMapping } from '../src/domain/token-mappings/token-mapping.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { nodesOf } from './base/node-loading.ts';
import { rowOrder } from './base/order.ts';
import { VirtualKeyType } from './base/refs.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const TYPE = 'TokenMapping';
const KEY = 'The virtual key: global id, hash or secret.';
const ACTIVE = 'Whether it is in use. An inactive mapping is ignored.';
const DESCRIPTION = 'Free text.';

const TokenMappingType = builder.objectRef<TokenMapping>(TYPE);

builder.node(TokenMappingType, {
  description: 'A claim value of signed tokens that is mapped to a virtual key.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getTokenMapping(scope, { id })),
  fields: (t) => ({
    mappingId: t.exposeID('id', { description: 'Local id, as in the HTTP API.' }),
    claimName: t.exposeString('claimName', { description: 'Name of the claim.' }),
    claimValue: t.exposeString('claimValue', { description: 'Value of the claim.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: `${DESCRIPTION} Null when none is set.`,
    }),
    active: t.exposeBoolean('active', { description: ACTIVE }),
    key: t.field({
      type: VirtualKeyType,
      nullable: true,
      description: 'The key. Null when the caller may not read it.',
      resolve: ({ keyHash }, _args, { scope }) => scope.loaders.keyByHash.load(keyHash),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the mapping was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the mapping was last changed.' }),
  }),
});

const FilterType = builder.inputType('TokenMappingFilter', {
  description: 'Filter of mappings. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    claimName: t.string({ description: 'Exact name of the claim.' }),
    claimValue: t.string({ description: 'Substring of the value of the claim, case-insensitive.' }),
    keyId: t.id({ description: 'Virtual key: global id or hash.' }),
    active: t.boolean({ description: 'Whether it is in use.' }),
  }),
});

const OrderType = rowOrder(TYPE, 'mappings', {
  CLAIM_VALUE: { value: 'claim_value', description: 'Value of the claim.' },
});

builder.queryField('tokenMappings', (t) =>
  t.connection(
    {
      type: TokenMappingType,
      description:
        'Claim values that are mapped to virtual keys, newest first by default. For proxy administrators with full or read-only access. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All mappings when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readOrderedPage<'claim_value'>(args, args.orderBy);
        const filters = {
          claimName: nullIfBlank(filter?.claimName),
          valuePart: nullIfBlank(filter?.claimValue),
          keyHash: nullIfBlank(localId('VirtualKey', filter?.keyId)),
          active: filter?.active ?? null,
        };
        return rowConnection(await findTokenMappings(scope, { filter: filters, page }), page, (row) =>
          page.sort === 'created_at' ? row : { text: row.claimValue, id: row.id },
        );
      },
    },
    { ...pageType('TokenMapping', 'mappings'), fields: (pageFields) => totalCount(pageFields, 'mappings') },
    edgeType('TokenMapping', 'mapping'),
  ),
);

const CreateInput = builder.inputType('CreateTokenMappingInput', {
  description: 'A new mapping.',
  fields: (t) => ({
    claimName: t.string({ required: true, description: 'Name of the claim.' }),
    claimValue: t.string({
      required: true,
      description: 'Value of the claim, unique among the mappings of the claim.',
    }),
    key: t.id({ required: true, description: KEY }),
    description: t.string({ description: DESCRIPTION }),
    active: t.boolean({ defaultValue: true, description: ACTIVE }),
  }),
});

const UpdateInput = builder.inputType('UpdateTokenMappingInput', {
  description: 'Changes to a mapping. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The mapping: global id or `mappingId`.' }),
    key: t.id({ description: `${KEY} Null changes nothing.` }),
    description: t.string({ description: `${DESCRIPTION} Null removes it.` }),
    active: t.boolean({ description: `${ACTIVE} Null changes nothing.` }),
  }),
});

const DeleteInput = builder.inputType('DeleteTokenMappingInput', {
  description: 'A mapping to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The mapping: global id or `mappingId`.' }) }),
});

builder.mutationFields((t) => ({
  createTokenMapping: t.field({
    type: TokenMappingType,
    description: 'Maps a claim value of signed tokens to a virtual key. For proxy administrators.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The new mapping.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateTokenMappingResult', description: 'The mapping, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) =>
      createTokenMapping(scope, {
        claimName: input.claimName,
        claimValue: input.claimValue,
        key: localId('VirtualKey', input.key),
        description: input.description ?? null,
        active: input.active ?? true,
      }),
  }),
  updateTokenMapping: t.field({
    type: TokenMappingType,
    description: 'Changes a mapping of tokens. For proxy administrators.',
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The mapping and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateTokenMappingResult', description: 'The changed mapping, or why it was not changed.' },
    },
    resolve: (_root, { input: { id, key, description, active } }, { scope }) =>
      updateTokenMapping(scope, {
        id: localId(TYPE, id),
        ...(typeof key === 'string' ? { key: localId('VirtualKey', key) } : {}),
        patch: {
          ...(description === undefined ? {} : { description }),
          ...(typeof active === 'boolean' ? { active } : {}),
        },
      }),
  }),
  deleteTokenMapping: t.field({
    type: TokenMappingType,
    description: 'Deletes a mapping of tokens. The key stays. For proxy administrators.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The mapping to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteTokenMappingResult', description: 'The deleted mapping, or why it was not deleted.' },
    },
    resolve: (_root, { input: { id } }, { scope }) => deleteTokenMapping(scope, { id: localId(TYPE, id) }),
  }),
}));
