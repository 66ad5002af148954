import { type GraphQLNamedType, type GraphQLSchema, isObjectType } from 'graphql';
import { resolveNodes } from '@pothos/plugin-relay';
import { InvalidInput } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { readGlobalId } from './base/global-id.ts';
import { NODE_COST } from './base/limits.ts';

/** Maximum number of ids of one `nodes` field. */
const MAX_NODES = 100;

/** The address of a global id; null for malformed text, and for a type that is not a node. */
function nodeAddressOf(globalId: string, schema: GraphQLSchema) {
  const address = readGlobalId(globalId);
  return address !== null && isNodeType(schema.getType(address.typename)) ? address : null;
}

const isNodeType = (type: GraphQLNamedType | undefined): boolean =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');

/** Cost of `count` nodes, each with its selection. */
const nodeCost = (count: number) => ({ field: NODE_COST * count, multiplier: count });

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    complexity: NODE_COST,
    description:
      'The object with this global id. Null for a malformed id, an unknown id, and an object that the caller may not read.',
    args: { id: t.arg.id({ required: true, description: 'Global id: `id` of any object.' }) },
    resolve: async (_root, { id }, context, info) => {
      const [node] = await resolveNodes(builder, context, info, [nodeAddressOf(id, info.schema)]);
      return node;
    },
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    complexity: ({ ids }) => nodeCost(ids.length),
    description: `The objects with these global ids, in the same order, with null as in \`node\`. At most ${MAX_NODES}.`,
    args: { ids: t.arg.idList({ required: true, description: `Global ids, at most ${MAX_NODES}.` }) },
    resolve: async (_root, { ids }, context, info) => {
      assertNodeCount(ids.length);
      const addresses = ids.map((id) => nodeAddressOf(id, info.schema));
      return (await resolveNodes(builder, context, info, addresses)) as (object | null)[];
    },
  }),
}));

function assertNodeCount(count: number): void {
  if (count <= MAX_NODES) return;
  const message = `must have at most ${MAX_NODES} ids`;
  throw new InvalidInput(`\`ids\` ${message}.`, [{ path: ['ids'], rule: 'range', message, input: count }]);
}
