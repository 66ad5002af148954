import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import { GraphQLError } from 'graphql';
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { Work } from './work.ts';

/** What every resolve body sees: the same scope the operations see. */
export interface GraphContext {
  readonly scope: Scope;
  /** What this request, or this event, has done so far. Used by `schema/turns.ts` only. */
  readonly work: Work;
}

/** A field that only frames others costs nothing itself and multiplies nothing. */
const FRAME = { field: 0, multiplier: 1 } as const;

export const builder = new SchemaBuilder<{
  Context: GraphContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    /** Exact decimal text, made by `usdText` or `rateText`. */
    Decimal: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
  };
}>({
  plugins: [ErrorsPlugin, RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  // Counted before anything runs, for subscriptions too: schema/limits.ts. The plugin's own check would
  // come late, at the first event.
  complexity: { disabled: true },
  errors: { defaultTypes: [], directResult: true },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    edgesFieldOptions: { nullable: { list: false, items: false }, description: 'The page.', complexity: FRAME },
    nodeFieldOptions: { nullable: false, description: 'What the edge leads to.' },
    nodesOnConnection: { description: 'The page without its cursors.', complexity: FRAME },
    cursorFieldOptions: { description: 'Where this item is: give it as `after` to continue behind it.' },
    pageInfoFieldOptions: { description: 'Whether there is more, and where.', complexity: FRAME },
    pageInfoTypeOptions: { description: 'Whether a list goes on, and where.' },
    hasNextPageFieldOptions: { description: 'Whether items follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether items come before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first item; null on an empty page.' },
    endCursorFieldOptions: { description: 'Cursor of the last item; null on an empty page.' },
    firstArgOptions: { description: 'At most this many, from the start.' },
    afterArgOptions: { description: 'Only what follows this cursor.' },
    lastArgOptions: { description: 'At most this many, from the end.' },
    beforeArgOptions: { description: 'Only what comes before this cursor.' },
    defaultConnectionTypeOptions: { description: 'One page of a list.' },
    defaultEdgeTypeOptions: { description: 'One item of a list and where it is.' },
  },
});

builder.addScalarType('DateTime', GraphQLDateTime, {
  description: 'An instant, as RFC 3339 text in UTC: `2026-11-21T10:15:30.000Z`.',
});

builder.addScalarType('JSON', GraphQLJSON, { description: 'Any JSON value.', specifiedByURL: null });

builder.scalarType('Decimal', {
  description:
    'An exact decimal as text, without exponent or trailing zeros: `0.000125`. Money is never a float here; ' +
    'read it with a decimal library, or as a number where the last digit does not matter.',
  serialize: (text) => text,
  parseValue(value) {
    if (typeof value === 'string' && /^-?\d{1,30}(\.\d{1,30})?$/.test(value)) return value;
    throw new GraphQLError('A Decimal is text such as "0.25".', { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
  },
});

builder.queryType({ description: 'What can be asked.' });
builder.mutationType({ description: 'What can be done.' });
builder.subscriptionType({ description: 'What can be followed live.' });
