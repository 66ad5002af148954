import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  getNullableType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Turns } from '../../src/domain/event-loop-turns.ts';
import type { GraphContext } from './builder.ts';
import type { ConcurrencyLimit, Work } from './work.ts';

/** Shorter lists are completed without yielding: their cost is bounded statically. */
const SHORT_LIST = 64;
/**
 * Minimum own cost of an expensive (heavy) field. A field whose cost depends on its arguments does not count as
 * expensive.
 */
const HEAVY_COST = 50;

/**
 * Weight of one list item: its number of fields, by its selection set. Documents are cached, so their selection sets
 * recur.
 */
type Weights = WeakMap<SelectionSetNode, number>;
type Resolve = GraphQLFieldResolver<unknown, GraphContext>;
type Field = GraphQLField<unknown, GraphContext>;

/**
 * Makes a schema yield to the event loop. Root fields and expensive fields wait while the current turn has no time
 * left. Long lists are completed in slices. Modifies the schema.
 */
export function runInTurns(schema: GraphQLSchema): GraphQLSchema {
  const weights: Weights = new WeakMap();
  const roots = new Set<unknown>([schema.getQueryType(), schema.getMutationType()]);
  for (const type of Object.values(schema.getTypeMap())) {
    // Subscription events are resolved synchronously, so that subscribers can share the result.
    if (!isObjectType(type) || isIntrospectionType(type) || type === schema.getSubscriptionType()) continue;
    for (const field of Object.values(type.getFields())) {
      const resolve: Resolve = field.resolve ?? defaultFieldResolver;
      const slicedResolve = isListType(getNullableType(field.type)) ? sliceResult(resolve, weights) : resolve;
      if (isHeavy(field)) field.resolve = limited(slicedResolve, ({ heavy }) => heavy);
      else if (roots.has(type)) field.resolve = limited(slicedResolve, ({ ordinary }) => ordinary);
      else if (slicedResolve !== resolve) field.resolve = slicedResolve;
    }
  }
  return schema;
}

function isHeavy({ extensions }: Field): boolean {
  const { complexity } = extensions as { readonly complexity?: unknown };
  if (typeof complexity === 'number') return complexity >= HEAVY_COST;
  if (typeof complexity !== 'object' || complexity === null) return false;
  return 'field' in complexity && typeof complexity.field === 'number' && complexity.field >= HEAVY_COST;
}

function limited(resolve: Resolve, limitOf: (work: Work) => ConcurrencyLimit): Resolve {
  return (source, args, context, info) => limitOf(context.work).start(() => resolve(source, args, context, info));
}

function sliceResult(resolve: Resolve, weights: Weights): Resolve {
  return (source, args, context, info) => {
    const result: unknown = resolve(source, args, context, info);
    if (result instanceof Promise)
      return result.then((items: unknown) => sliced(items, context.work, () => weightOf(info, weights)));
    return sliced(result, context.work, () => weightOf(info, weights));
  };
}

function sliced(items: unknown, work: Work, weight: () => number): unknown {
  if (!Array.isArray(items)) return items;
  work.count(items.length * weight());
  return items.length < SHORT_LIST ? items : inSlices(items as readonly unknown[], work.turns);
}

/** Yields items, and waits for the next turn of the event loop when the current turn has no time left. */
function inSlices(items: readonly unknown[], turns: Turns): AsyncIterable<unknown> {
  let index = 0;
  const step = (): IteratorResult<unknown> => {
    if (index >= items.length) return { done: true, value: undefined };
    const value = items[index];
    index += 1;
    return { done: false, value };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => turns.due()?.then(step) ?? Promise.resolve(step()),
    }),
  };
}

/** Number of fields of one item, and 1 for the item itself. A nested list counts as one item. */
const weightOf = ({ fieldNodes, fragments }: GraphQLResolveInfo, weights: Weights): number =>
  fieldNodes.reduce((sum, node) => sum + weightBelow(node, fragments, weights), 0);

function weightBelow(
  { selectionSet }: Pick<FieldNode, 'selectionSet'>,
  fragments: GraphQLResolveInfo['fragments'],
  weights: Weights,
): number {
  if (selectionSet === undefined) return 1;
  const cached = weights.get(selectionSet);
  if (cached !== undefined) return cached;
  const weight = selectionSet.selections.reduce((sum, selection) => {
    const selected = selection.kind === Kind.FRAGMENT_SPREAD ? fragmentOf(selection.name.value, fragments) : selection;
    return sum + weightBelow(selected, fragments, weights);
  }, 1);
  weights.set(selectionSet, weight);
  return weight;
}

/** The fragment with this name. graphql wraps its definition in an object, Yoga's executor does not. */
function fragmentOf(
  name: string,
  fragments: GraphQLResolveInfo['fragments'],
): Pick<FragmentDefinitionNode, 'selectionSet'> {
  const fragment: unknown = fragments[name];
  const found = fragment as FragmentDefinitionNode | { readonly definition: FragmentDefinitionNode };
  return 'definition' in found ? found.definition : found;
}
