import {
  BREAK,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { Unplanned } from './completion.ts';

export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  Object.fromEntries(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  );

/**
 * The fields of an object type by response name, in the order of the selection. The document must be valid. Throws
 * Unplanned for directives, whose effect depends on variables.
 */
export function fieldsOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  fragments: Fragments,
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visitedFragments = new Set<string>();

  function applies(condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = schema.getType(condition);
    return named !== undefined && isAbstractType(named) && schema.isSubType(named, type);
  }

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if ((selection.directives?.length ?? 0) > 0) throw new Unplanned();
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const known = fields.get(name);
        if (known === undefined) fields.set(name, [selection]);
        else known.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (applies(selection.typeCondition?.name.value)) collect(selection.selectionSet);
      } else {
        const { value } = selection.name;
        const fragment = fragments[value];
        if (fragment === undefined) throw new Unplanned();
        if (visitedFragments.has(value)) continue;
        visitedFragments.add(value);
        if (applies(fragment.typeCondition.name.value)) collect(fragment.selectionSet);
      }
    }
  }

  for (const set of sets) collect(set);
  return fields;
}

/** Whether the arguments of a field contain variables. */
export function hasVariables(node: FieldNode): boolean {
  let found = false;
  for (const argument of node.arguments ?? [])
    visit(argument, {
      [Kind.VARIABLE]() {
        found = true;
        return BREAK;
      },
    });
  return found;
}

/** Whether fields below these nodes have selections, so that they need a path. */
export const haveBranches = (nodes: readonly FieldNode[]): boolean =>
  nodes.some(({ selectionSet }) =>
    selectionSet?.selections.some((selection) => selection.kind !== Kind.FIELD || selection.selectionSet !== undefined),
  );
