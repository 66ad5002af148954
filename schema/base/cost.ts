import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type FieldNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Fragments, Variables } from './introspection.ts';

/** Maximum number of fields in the result of a selection, weighted by their costs, and the depth of the selection. */
interface Cost {
  readonly fields: number;
  readonly depth: number;
}

/**
 * The `complexity` of a field in Pothos: its own cost as a number, or with a multiplier for the cost of its selection.
 */
type Complexity = number | { readonly field?: number; readonly multiplier?: number };

/** Multiplier of a list whose complexity states none: its assumed length. */
const DEFAULT_LIST_MULTIPLIER = 10;

/**
 * Cost of an operation by the complexities of its fields. A page is assumed to have as many items as were requested.
 * The cost of a fragment is computed once for each type. Fields below `__schema` and `__type` are counted by
 * `countIntrospection`. The formula is that of `@pothos/plugin-complexity`, whose own check would coerce all variables
 * again.
 */
export function costOf(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): Cost {
  const costsBySet = new Map<SelectionSetNode, Map<GraphQLNamedType, Cost>>();

  function complexityOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Complexity {
    const { complexity } = field.extensions as { readonly complexity?: unknown };
    if (typeof complexity !== 'function') return (complexity as Complexity | undefined) ?? {};
    return (complexity as (args: object) => Complexity)(getArgumentValues(field, node, variables));
  }

  function costOfField(node: FieldNode, type: GraphQLNamedType): Cost {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    // `__typename`, `__schema` and `__type` are not among the fields of a type.
    if (field === undefined) return { fields: 1, depth: 1 };
    const complexity = complexityOf(field, node);
    const stated = typeof complexity === 'number' ? { field: complexity } : complexity;
    const { field: ownCost = 1, multiplier = isListType(getNullableType(field.type)) ? DEFAULT_LIST_MULTIPLIER : 1 } =
      stated;
    if (node.selectionSet === undefined) return { fields: ownCost, depth: 1 };
    const below = costOfSet(node.selectionSet, getNamedType(field.type));
    return { fields: ownCost + below.fields * Math.max(multiplier, 0), depth: below.depth + 1 };
  }

  function costOfSet(set: SelectionSetNode, type: GraphQLNamedType): Cost {
    const byType = costsBySet.get(set) ?? new Map<GraphQLNamedType, Cost>();
    costsBySet.set(set, byType);
    const cached = byType.get(type);
    if (cached !== undefined) return cached;
    let fields = 0;
    let depth = 0;
    for (const selection of set.selections) {
      const cost = costOfSelection(selection, type);
      fields += cost.fields;
      depth = Math.max(depth, cost.depth);
    }
    byType.set(type, { fields, depth });
    return { fields, depth };
  }

  function costOfSelection(selection: SelectionSetNode['selections'][number], type: GraphQLNamedType): Cost {
    if (selection.kind === Kind.FIELD) return costOfField(selection, type);
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
    if (fragment === undefined) return { fields: 0, depth: 0 };
    const { typeCondition } = fragment;
    return costOfSet(
      fragment.selectionSet,
      typeCondition === undefined ? type : (schema.getType(typeCondition.name.value) ?? type),
    );
  }

  const root = schema.getRootType(operation);
  return root ? costOfSet(selectionSet, root) : { fields: 0, depth: 0 };
}
