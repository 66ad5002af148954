import {
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';

/** Fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Coerced variables, as graphql passes them to `getArgumentValues`. */
export type Variables = Parameters<typeof getArgumentValues>[2];

/** Whether an operation selects the schema only. Its answer then depends on the text and the variables only. */
export function isIntrospectionOnly(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
): boolean {
  const seen = new Set<string>();
  const selectsSchemaOnly = (set: SelectionSetNode): boolean =>
    set.selections.every((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value.startsWith('__');
      if (selection.kind === Kind.INLINE_FRAGMENT) return selectsSchemaOnly(selection.selectionSet);
      if (seen.has(selection.name.value)) return true;
      seen.add(selection.name.value);
      const fragment = fragments.get(selection.name.value);
      return fragment !== undefined && selectsSchemaOnly(fragment.selectionSet);
    });
  return operation === OperationTypeNode.QUERY && selectsSchemaOnly(selectionSet);
}

/** Depth of the introspection fields of an operation, fragments expanded; 0 without such fields. */
export function introspectionDepth({ selectionSet }: OperationDefinitionNode, fragments: Fragments): number {
  const depths = new Map<SelectionSetNode, number>();

  function depthOf(set: SelectionSetNode, isRoot: boolean): number {
    const cached = depths.get(set);
    if (cached !== undefined) return cached;
    const selectionDepths = set.selections.map((selection) => {
      if (selection.kind === Kind.FIELD) {
        if (isRoot && !selection.name.value.startsWith('__')) return 0;
        return 1 + (selection.selectionSet === undefined ? 0 : depthOf(selection.selectionSet, false));
      }
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
      return inner === undefined ? 0 : depthOf(inner.selectionSet, isRoot);
    });
    const depth = Math.max(0, ...selectionDepths);
    depths.set(set, depth);
    return depth;
  }

  return depthOf(selectionSet, true);
}

/**
 * Number of fields below `__schema` and `__type`. Walks the schema as an executor does, without building an answer.
 * Stops as soon as there are more than `maxFields`. `@skip` and `@include` are ignored: every field counts.
 */
export function countIntrospection(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
  maxFields: number,
): number {
  // The resolvers of introspection fields read no other member of `info`.
  const info = { schema } as unknown as GraphQLResolveInfo;
  let fields = 0;
  /** Cache of the number of fields below an item, by selection set. The same types and fields recur in one answer. */
  const countsBySet = new Map<SelectionSetNode, Map<unknown, number>>();

  function countBelow(set: SelectionSetNode, type: GraphQLObjectType, item: unknown): void {
    const byItem = countsBySet.get(set) ?? new Map<unknown, number>();
    countsBySet.set(set, byItem);
    const cached = byItem.get(item);
    if (cached !== undefined) {
      fields += cached;
      return;
    }
    const fieldsBefore = fields;
    visit(set, type, item, false, new Set());
    byItem.set(item, fields - fieldsBefore);
  }

  function visit(
    set: SelectionSetNode,
    type: GraphQLObjectType,
    value: unknown,
    isRoot: boolean,
    seen: Set<string>,
  ): void {
    for (const selection of set.selections) {
      if (fields > maxFields) return;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value;
        if (condition === undefined || condition === type.name)
          visit(selection.selectionSet, type, value, isRoot, seen);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (fragment?.typeCondition.name.value !== type.name || seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
        visit(fragment.selectionSet, type, value, isRoot, seen);
      } else if (!isRoot || selection.name.value.startsWith('__')) {
        // Fields of the root are part of the cost of the operation.
        if (!isRoot) fields += 1;
        const field = schema.getField(type, selection.name.value);
        const fieldType = field === undefined ? null : getNamedType(field.type);
        if (field === undefined || selection.selectionSet === undefined || !isObjectType(fieldType)) continue;
        const args = field.args.length === 0 ? {} : getArgumentValues(field, selection, variables);
        const result: unknown = field.resolve?.(value, args, {}, info);
        for (const item of Array.isArray(result) ? (result as readonly unknown[]) : [result]) {
          if (fields > maxFields) return;
          if (item !== null && item !== undefined) countBelow(selection.selectionSet, fieldType, item);
        }
      }
    }
  }

  const root = schema.getRootType(operation);
  // Only queries have `__schema` and `__type`.
  if (root && operation === OperationTypeNode.QUERY) visit(selectionSet, root, undefined, true, new Set());
  return fields;
}
