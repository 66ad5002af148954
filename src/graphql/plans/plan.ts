import {
  type DocumentNode,
  type FieldNode,
  getArgumentValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import type { GraphContext } from '../../../schema/base/builder.ts';
import { weightOf } from '../answers.ts';
import type { AnswerTexts } from './answer-texts.ts';
import {
  type Complete,
  countCharacters,
  leafValue,
  ignoreRejections,
  listOf,
  MAX_CHARACTERS,
  type Path,
  setWhenResolved,
  type PlanRun,
  Unplanned,
  type VariableValues,
} from './completion.ts';
import { fieldsOf, type Fragments, fragmentsOf, hasVariables, haveBranches } from './selections.ts';

/** Approximate number of characters around a value: quotes, colon and comma. */
const FRAME_CHARACTERS = 8;

/** A query that is compiled once and run for many requests. */
export interface Plan {
  readonly operation: OperationDefinitionNode;
  /**
   * The JSON of `data`. Rejects when the answer would have errors or is too large. `variablesKey` identifies the
   * variables; null disables the cache.
   */
  run(context: GraphContext, variables: VariableValues, variablesKey: string | null): Promise<string>;
}

/**
 * Compiles an operation. Null where plans do not support it, for example for mutations, subscriptions, introspection,
 * directives and abstract types.
 */
export function createPlan(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null,
  texts: AnswerTexts,
): Plan | null {
  const operation = getOperationAST(document, operationName);
  const root = schema.getQueryType();
  if (!operation || operation.operation !== OperationTypeNode.QUERY || !root) return null;
  if ((operation.directives?.length ?? 0) > 0) return null;
  try {
    const compiler = new Compiler(schema, operation, fragmentsOf(document), texts);
    const textOf = compiler.root(root, operation.selectionSet);
    return {
      operation,
      run: async (context, variables, variablesKey) =>
        textOf({ context, variables, variablesKey, args: [], infos: [], characters: 0 }),
    };
  } catch (error) {
    if (error instanceof Unplanned) return null;
    throw error;
  }
}

/** A value that is JSON already. */
class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

class Compiler {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: Fragments;
  readonly #texts: AnswerTexts;
  #fieldCount = 0;

  constructor(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments, texts: AnswerTexts) {
    this.#schema = schema;
    this.#operation = operation;
    this.#fragments = fragments;
    this.#texts = texts;
  }

  /** The JSON of the root. Fields are resolved concurrently, and written in the order of the selection. */
  root(type: GraphQLObjectType, set: SelectionSetNode): (run: PlanRun) => Promise<string> {
    const fields = [...fieldsOf(this.#schema, type, [set], this.#fragments)].map(([key, nodes]) => ({
      name: JSON.stringify(key),
      complete: this.#field(type, key, nodes, this.#cachedText(type, nodes)),
    }));
    return async (run) => {
      const values = await Promise.all(fields.map(async ({ complete }) => complete(undefined, run, undefined)));
      const texts = values.map((value) => (value instanceof JsonText ? value.text : JSON.stringify(value)));
      return `{${texts.map((text, at) => `${fields[at]?.name}:${text}`).join(',')}}`;
    };
  }

  /**
   * Returns a function that adds the cache of texts to the completion of a root field; null if the text cannot be
   * cached.
   */
  #cachedText(type: GraphQLObjectType, nodes: readonly FieldNode[]): ((complete: Complete) => Complete) | null {
    const field = type.getFields()[nodes[0]?.name.value ?? ''];
    const basisOf = field?.extensions['answerBasis'] as ((value: unknown) => object) | undefined;
    if (field === undefined || basisOf === undefined || !this.#areFromSource(field.type, nodes)) return null;
    const number = this.#texts.nextField();
    return (complete) => (value, run, path) => {
      if (run.variablesKey === null) return complete(value, run, path);
      const basis = basisOf(value);
      const key = `${number}/${run.variablesKey}`;
      const known = this.#texts.get(key, basis);
      if (known !== undefined) {
        countCharacters(run, known.length);
        return new JsonText(known);
      }
      const data = complete(value, run, path);
      if (data instanceof Promise) return data;
      const text = JSON.stringify(data);
      this.#texts.set(key, basis, text);
      return new JsonText(text);
    };
  }

  /** Whether all selected fields below a field depend on its value alone. */
  #areFromSource(type: GraphQLOutputType, nodes: readonly FieldNode[]): boolean {
    const named = getNamedType(type);
    if (isLeafType(named)) return true;
    if (!isObjectType(named)) return false;
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return [...fieldsOf(this.#schema, named, sets, this.#fragments).values()].every((below) => {
      const name = below[0]?.name.value ?? '';
      if (name === '__typename') return true;
      const field = named.getFields()[name];
      return field?.extensions['fromSource'] === true && this.#areFromSource(field.type, below);
    });
  }

  object(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Complete {
    // Types that belong to an interface or a union have `isTypeOf`. The executor also checks it for fields whose type
    // is the object type itself.
    const { isTypeOf } = type;
    const fields = [...fieldsOf(this.#schema, type, sets, this.#fragments)].map(([key, nodes]) => ({
      key,
      complete: this.#field(type, key, nodes),
    }));
    const frameCharacters = fields.reduce((sum, { key }) => sum + key.length + FRAME_CHARACTERS, 0);
    return (source, run, path) => {
      if (isTypeOf && isTypeOf(source, run.context, NO_INFO) !== true) throw new Unplanned();
      countCharacters(run, frameCharacters);
      const data: Record<string, unknown> = {};
      let pending: Promise<void>[] | null = null;
      try {
        for (const { key, complete } of fields) {
          const value = complete(source, run, path);
          if (value instanceof Promise) {
            pending ??= [];
            pending.push(setWhenResolved(value, data, key));
          } else data[key] = value;
        }
      } catch (error) {
        ignoreRejections(pending);
        throw error;
      }
      return pending === null ? data : Promise.all(pending).then(() => data);
    };
  }

  /** Resolves a field of a source object and completes the value. */
  #field(
    parent: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
    wrap: ((complete: Complete) => Complete) | null = null,
  ): Complete {
    const [node] = nodes;
    const name = node?.name.value ?? '';
    // Assigning this name would change the prototype of the data.
    if (key === '__proto__') throw new Unplanned();
    if (name === '__typename') return () => parent.name;
    const field = parent.getFields()[name];
    if (node === undefined || field === undefined) throw new Unplanned();
    const plainComplete = this.#value(field.type, nodes);
    const complete = wrap === null ? plainComplete : wrap(plainComplete);
    const number = this.#fieldCount;
    this.#fieldCount += 1;
    const argsOf = this.#argsOf(field, node, number);
    const infoOf = this.#infoOf(parent, field, { key, nodes, number });
    const { resolve } = field;
    if (node.selectionSet === undefined && resolve) {
      const plainType = plainTypeOf(field.type);
      // The values of most fields need no conversion. They are checked here, without `complete`.
      return (source, run) => {
        const value: unknown = resolve(source, argsOf(run), run.context, infoOf(run, undefined));
        if (typeof value !== plainType)
          return value instanceof Promise
            ? value.then((settled: unknown) => complete(settled, run, undefined))
            : complete(value, run, undefined);
        if (plainType === 'string') countCharacters(run, (value as string).length);
        return value;
      };
    }
    return (source, run, parentPath) => {
      const path = { prev: parentPath, key, typename: parent.name };
      const value: unknown = resolve
        ? resolve(source, argsOf(run), run.context, infoOf(run, path))
        : property(source, name, () => [argsOf(run), run.context, infoOf(run, path)]);
      return value instanceof Promise
        ? value.then((settled: unknown) => complete(settled, run, path))
        : complete(value, run, path);
    };
  }

  #value(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
    if (isNonNullType(type)) {
      const complete = this.#nonNull(type.ofType, nodes);
      return (value, run, path) => {
        if (value === null || value === undefined) throw new Unplanned();
        return complete(value, run, path);
      };
    }
    const complete = this.#nonNull(type, nodes);
    return (value, run, path) => (value === null || value === undefined ? null : complete(value, run, path));
  }

  /** Completes values that are not null. */
  #nonNull(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
    if (isLeafType(type)) {
      const valueOf = leafValue(type);
      return (value, run) => {
        if (value instanceof Error) throw value;
        const leaf = valueOf(value);
        if (typeof leaf === 'string') countCharacters(run, leaf.length);
        else if (typeof leaf === 'object') countCharacters(run, weightOf(leaf, MAX_CHARACTERS));
        return leaf;
      };
    }
    if (isListType(type)) return listOf(this.#value(type.ofType, nodes), haveBranches(nodes));
    if (!isObjectType(type)) throw new Unplanned();
    const complete = this.object(
      type,
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    );
    return (value, run, path) => {
      if (value instanceof Error) throw value;
      return complete(value, run, path);
    };
  }

  /** The arguments of a field. Arguments with variables are computed once per run, for all sources of the field. */
  #argsOf(
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    number: number,
  ): (run: PlanRun) => Readonly<Record<string, unknown>> {
    if (field.args.length === 0) return () => NO_ARGS;
    if (!hasVariables(node)) {
      const args = getArgumentValues(field, node);
      return () => ({ ...args });
    }
    return (run) => {
      run.args[number] ??= getArgumentValues(field, node, run.variables);
      return run.args[number];
    };
  }

  /**
   * The info of a field. A field without selections has one info per run, because some have hundreds of sources. The
   * path of this info has no parent.
   */
  #infoOf(
    parentType: GraphQLObjectType,
    { name: fieldName, type: returnType }: GraphQLField<unknown, unknown>,
    { key, nodes, number }: { readonly key: string; readonly nodes: readonly FieldNode[]; readonly number: number },
  ): (run: PlanRun, path: Path) => GraphQLResolveInfo {
    const fixed = {
      fieldName,
      fieldNodes: nodes,
      returnType,
      parentType,
      schema: this.#schema,
      // Definitions without wrappers, as the executor of Yoga passes them.
      fragments: this.#fragments as unknown as GraphQLResolveInfo['fragments'],
      rootValue: undefined,
      operation: this.#operation,
    };
    const infoFor = (run: PlanRun, path: Path) =>
      ({ ...fixed, path, variableValues: run.variables }) as unknown as GraphQLResolveInfo;
    const pathWithoutParent = { prev: undefined, key, typename: parentType.name };
    return (run, path) => {
      if (path !== undefined) return infoFor(run, path);
      run.infos[number] ??= infoFor(run, pathWithoutParent);
      return run.infos[number];
    };
  }
}

/** Result of `typeof` for values of a type that need no conversion; null for other types. */
function plainTypeOf(type: GraphQLOutputType): 'string' | 'boolean' | null {
  const { name } = getNamedType(type);
  if (isListType(getNullableType(type))) return null;
  if (name === 'String' || name === 'ID') return 'string';
  return name === 'Boolean' ? 'boolean' : null;
}

const NO_ARGS: Readonly<Record<string, unknown>> = Object.freeze({});
/** `isTypeOf` of the types of this schema reads only the value. */
const NO_INFO = {} as GraphQLResolveInfo;

/** The value of a field without a resolver. */
function property(
  source: unknown,
  name: string,
  argsOf: () => readonly [unknown, GraphContext, GraphQLResolveInfo],
): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const value: unknown = (source as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).apply(source, [...argsOf()]) : value;
}
