import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars';
import { BIG_INT, DECIMAL } from './scalars.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { FROM_SOURCE } from './answer-basis.ts';
import type { Work } from './work.ts';

/** Context of every resolver: the scope that operations take. */
export interface GraphContext {
  readonly scope: Scope;
  /** Work of this request, or of this event of a subscription: its limits and its turns of the event loop. */
  readonly work: Work;
}

/** Cost of a field that only contains other fields: 0 for itself, and the cost of its selection once. */
const FRAME = { field: 0, multiplier: 1 } as const;

export const builder = new SchemaBuilder<{
  Context: GraphContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    BigInt: { Input: never; Output: bigint | number };
    /** Exact decimal text, made by `usdText` or `rateText`. */
    Decimal: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
  };
}>({
  plugins: [ErrorsPlugin, RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  // `schema/base/limits.ts` checks the cost before execution. The plugin's own check runs too late for a subscription:
  // at its first event.
  complexity: { disabled: true },
  errors: { defaultTypes: [], directResult: true },
  relay: {
    // `schema/node.ts` declares `node` and `nodes`: malformed ids are null, and the number of ids is limited.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { description: 'An object with a global id, by which `node(id)` reads it.' },
    idFieldOptions: {
      description: 'Global id: opaque, unique across all types, and stable. Pass it to `node(id)`.',
      extensions: FROM_SOURCE,
    },
    cursorType: 'String',
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'Items of the page with their cursors.',
      complexity: FRAME,
      extensions: FROM_SOURCE,
    },
    nodeFieldOptions: { nullable: false, description: 'The item.', extensions: FROM_SOURCE },
    nodesOnConnection: { description: 'Items of the page.', complexity: FRAME, extensions: FROM_SOURCE },
    cursorFieldOptions: {
      description: 'Position of the item. Pass it as `after` or `before`.',
      extensions: FROM_SOURCE,
    },
    pageInfoFieldOptions: {
      description: 'Position of the page in the list.',
      complexity: FRAME,
      extensions: FROM_SOURCE,
    },
    pageInfoTypeOptions: { description: 'Position of a page in its list.' },
    hasNextPageFieldOptions: { description: 'Whether items follow this page.', extensions: FROM_SOURCE },
    hasPreviousPageFieldOptions: {
      description: 'Whether items precede this page. Some lists that only page forwards always return false.',
      extensions: FROM_SOURCE,
    },
    startCursorFieldOptions: {
      description: 'Cursor of the first item; null on an empty page.',
      extensions: FROM_SOURCE,
    },
    endCursorFieldOptions: { description: 'Cursor of the last item; null on an empty page.', extensions: FROM_SOURCE },
    firstArgOptions: { description: 'Page size, counted from the start.' },
    afterArgOptions: { description: 'Returns items after this cursor.' },
    lastArgOptions: { description: 'Page size, counted from the end.' },
    beforeArgOptions: { description: 'Returns items before this cursor.' },
    defaultConnectionTypeOptions: { description: 'One page of a list.' },
    defaultEdgeTypeOptions: { description: 'One item of a page and its cursor.' },
  },
});

/** Builder of the fields of an object type whose values are of this type. */
export type FieldsOf<Value> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Value>;

/** Builder of the fields of an input type. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

builder.addScalarType('DateTime', GraphQLDateTime, {
  description: 'An instant as RFC 3339 text in UTC, to the millisecond: `2026-11-21T10:15:30.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
});

builder.addScalarType('JSON', GraphQLJSON, {
  description: 'Any JSON value.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
});

builder.scalarType('BigInt', BIG_INT);
builder.scalarType('Decimal', DECIMAL);

builder.queryType({ description: 'Reads.' });
builder.mutationType({
  description: 'Changes and model calls. Failures that a caller can act on are members of the result union.',
});
builder.subscriptionType({ description: 'Live events, over server-sent events or a WebSocket.' });
