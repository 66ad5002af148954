import { createMemory, deleteMemory, getMemories, listMemory, putMemory } from '../resolvers/memory.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { Memory } from '../src/domain/memory/memory.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { rowOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const TYPE = 'Memory';
const NAME = 'Name of the entry: `key` in the HTTP API.';
const USER = 'User that owns the entry: global id or local id. Null names an entry of the team.';
const TEAM = 'Team that owns an entry without a user: global id or local id.';
const USER_OF_CALLER =
  'When absent, the user of the key, or no user when a proxy administrator names a team. Only proxy administrators may name another user.';
const TEAM_OF_CALLER = 'When absent, the team of the key. Only proxy administrators may name another team.';

const MemoryType = builder.objectRef<Memory>(TYPE);

builder.node(MemoryType, {
  description: 'A text that a client stores for a user or a team, by a name.',
  id: { resolve: ({ id }) => id },
  async loadMany(ids, { scope }) {
    const byId = new Map((await getMemories(scope, { ids })).map((one) => [one.id, one]));
    return ids.map((id) => byId.get(id) ?? null);
  },
  fields: (t) => ({
    memoryId: t.exposeID('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.exposeString('name', { description: NAME }),
    value: t.exposeString('value', { description: 'The text.' }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Any JSON value. Null without one.',
      resolve: ({ metadata }) => metadata as never,
    }),
    userId: t.exposeString('userId', {
      nullable: true,
      description: 'Local id of the user that owns the entry. Null for an entry of a team.',
    }),
    teamId: t.exposeString('teamId', {
      nullable: true,
      description:
        'Local id of the team that owns the entry. For an entry of a user, the team of the key that created the entry. Null without a team.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the entry was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the entry was last changed.' }),
  }),
});

const FilterType = builder.inputType('MemoryFilter', {
  description: 'Filter of entries. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Exact name.' }),
    namePrefix: t.string({ description: 'Beginning of the name.' }),
  }),
});

const OrderType = rowOrder(TYPE, 'entries', { NAME: { value: 'name', description: 'Name.' } });

builder.queryField('memories', (t) =>
  t.connection(
    {
      type: MemoryType,
      description:
        'Entries of the user and of the team of the key, newest first by default, at most 100 a page. Administrators see the entries of all owners.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All entries when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readOrderedPage<'name'>(args, args.orderBy);
        const conditions = {
          name: nullIfBlank(filter?.name),
          namePrefix: nullIfBlank(filter?.namePrefix),
          search: null,
        };
        return rowConnection(await listMemory(scope, { filter: conditions, page }), page, (row) =>
          page.sort === 'created_at' ? row : { text: row.name, id: row.id },
        );
      },
    },
    { ...pageType(TYPE, 'entries'), fields: (pageFields) => totalCount(pageFields, 'entries') },
    edgeType(TYPE, 'entry'),
  ),
);

const CreateInput = builder.inputType('CreateMemoryInput', {
  description: 'A new entry.',
  fields: (t) => ({
    name: t.string({ required: true, description: `${NAME} Unique among the entries of the owner.` }),
    value: t.string({ required: true, description: 'The text, of at most 262,144 characters.' }),
    metadata: t.field({ type: 'JSON', description: 'Any JSON value, of at most 65,536 characters.' }),
    userId: t.id({ description: `${USER} ${USER_OF_CALLER}` }),
    teamId: t.id({ description: `${TEAM} ${TEAM_OF_CALLER}` }),
  }),
});

const PutInput = builder.inputType('PutMemoryInput', {
  description:
    'An entry to change. Without an owner: the entry of the user of the key, else of the team. It is created when there is none.',
  fields: (t) => ({
    name: t.string({ required: true, description: NAME }),
    value: t.string({ description: 'The text; unchanged when absent. Required for a new entry.' }),
    metadata: t.field({ type: 'JSON', description: 'Any JSON value; unchanged when absent. Null removes it.' }),
    userId: t.id({ description: `${USER} ${USER_OF_CALLER}` }),
    teamId: t.id({ description: `${TEAM} ${TEAM_OF_CALLER}` }),
  }),
});

const DeleteInput = builder.inputType('DeleteMemoryInput', {
  description:
    'An entry to remove. Without an owner: the entry of the user of the key, else of the team. Proxy administrators also remove an entry of another owner, when only one owner has the name.',
  fields: (t) => ({
    name: t.string({ required: true, description: NAME }),
    userId: t.id({ description: `${USER} ${USER_OF_CALLER}` }),
    teamId: t.id({ description: `${TEAM} ${TEAM_OF_CALLER}` }),
  }),
});

/** The owner that an input names. */
function ownerIn({ userId, teamId }: Pick<typeof DeleteInput.$inferInput, 'userId' | 'teamId'>) {
  return {
    ...(userId === undefined ? {} : { userId: userId === null ? null : localId('User', userId) }),
    ...(teamId === undefined ? {} : { teamId: teamId === null ? null : localId('Team', teamId) }),
  };
}

builder.mutationFields((t) => ({
  createMemory: t.field({
    type: MemoryType,
    description: 'Stores a text for a user or a team.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The new entry.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateMemoryResult', description: 'The entry, or why it was not stored.' },
    },
    resolve: (_root, { input }, { scope }) =>
      createMemory(scope, {
        name: input.name,
        value: input.value,
        metadata: input.metadata ?? null,
        ...ownerIn(input),
      }),
  }),
  putMemory: t.field({
    type: MemoryType,
    description: 'Changes an entry, or stores a new one.',
    args: { input: t.arg({ type: PutInput, required: true, description: 'The entry and its changes.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'PutMemoryResult', description: 'The entry, or why it was not stored.' },
    },
    resolve: (_root, { input }, { scope }) =>
      putMemory(scope, {
        name: input.name,
        ...ownerIn(input),
        patch: {
          ...(typeof input.value === 'string' ? { value: input.value } : {}),
          ...(input.metadata === undefined ? {} : { metadata: input.metadata }),
        },
      }),
  }),
  deleteMemory: t.field({
    type: MemoryType,
    description: 'Removes an entry.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The entry.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'DeleteMemoryResult', description: 'The removed entry, or why it was not removed.' },
    },
    resolve: (_root, { input }, { scope }) => deleteMemory(scope, { name: input.name, ...ownerIn(input) }),
  }),
}));
