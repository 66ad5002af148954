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
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  visit,
  BREAK,
} from 'graphql';
import type { GraphContext } from '../../../schema/builder.ts';
import { weightOf } from '../answers.ts';
import { leafValue } from './leaf-value.ts';
import { fieldsOf, type Fragments, fragmentsOf } from './selections.ts';
import { Unplanned } from './unplanned.ts';

/** Most characters of an answer. Larger ones are bounded and written in pieces elsewhere. */
const MOST_CHARACTERS = 256 * 1024;
/** Characters around a value, about. */
const FRAME_CHARACTERS = 8;

/** Coerced variables, as graphql passes them on. */
export type VariableValues = GraphQLResolveInfo['variableValues'];

/** One execution of a plan. */
interface Run {
  readonly context: GraphContext;
  readonly variables: VariableValues;
  /** Arguments and info by the number of the field. */
  readonly args: (Readonly<Record<string, unknown>> | undefined)[];
  readonly infos: (GraphQLResolveInfo | undefined)[];
  characters: number;
}

type Path = GraphQLResolveInfo['path'] | undefined;
/** The value of a field as it stands in the answer, or a promise of it. Throws, or rejects, for everything that would be an error of the answer. */
type Complete = (value: unknown, run: Run, path: Path) => unknown;

/** A query that is compiled once and run for many requests. */
export interface Plan {
  readonly operation: OperationDefinitionNode;
  /** The JSON of `data`. Rejects when the answer would have errors or is too large. */
  run(context: GraphContext, variables: VariableValues): Promise<string>;
}

/** Null for operations that plans do not support: mutations, introspection, directives, abstract types. */
export function createPlan(schema: GraphQLSchema, document: DocumentNode, operationName: string | null): Plan | null {
  const operation = getOperationAST(document, operationName);
  const root = schema.getQueryType();
  if (!operation || operation.operation !== OperationTypeNode.QUERY || !root) return null;
  if ((operation.directives?.length ?? 0) > 0) return null;
  try {
    const compiler = new Compiler(schema, operation, fragmentsOf(document));
    const complete = compiler.object(root, [operation.selectionSet]);
    return {
      operation,
      async run(context, variables) {
        const run = { context, variables, args: [], infos: [], characters: 0 };
        return JSON.stringify(await complete(undefined, run, undefined));
      },
    };
  } catch (error) {
    if (error instanceof Unplanned) return null;
    throw error;
  }
}

class Compiler {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: Fragments;
  #fields = 0;

  constructor(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments) {
    this.#schema = schema;
    this.#operation = operation;
    this.#fragments = fragments;
  }

  object(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Complete {
    // A type that recognises its values is a member of abstract types, which plans do not have.
    const { isTypeOf } = type;
    const fields = [...fieldsOf(this.#schema, type, sets, this.#fragments)].map(([key, nodes]) => ({
      key,
      complete: this.#field(type, key, nodes),
    }));
    const frame = fields.reduce((sum, { key }) => sum + key.length + FRAME_CHARACTERS, 0);
    return (source, run, path) => {
      if (isTypeOf && isTypeOf(source, run.context, NO_INFO) !== true) throw new Unplanned();
      count(run, frame);
      const data: Record<string, unknown> = {};
      let pending: Promise<void>[] | null = null;
      try {
        for (const { key, complete } of fields) {
          const value = complete(source, run, path);
          if (value instanceof Promise) (pending ??= []).push(placed(value, data, key));
          else data[key] = value;
        }
      } catch (error) {
        leave(pending);
        throw error;
      }
      return pending === null ? data : Promise.all(pending).then(() => data);
    };
  }

  /** Resolves a field of its source and completes the value. */
  #field(parent: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): Complete {
    const [node] = nodes;
    const name = node?.name.value ?? '';
    // Assigning this name would change the prototype of the data.
    if (key === '__proto__') throw new Unplanned();
    if (name === '__typename') return () => parent.name;
    const field = parent.getFields()[name];
    if (node === undefined || field === undefined) throw new Unplanned();
    const complete = this.#value(field.type, nodes);
    const number = this.#fields++;
    const argsOf = this.#argsOf(field, node, number);
    const infoOf = this.#infoOf(parent, field, { key, nodes, number });
    const { resolve } = field;
    if (node.selectionSet === undefined && resolve) {
      const plain = plainTypeOf(field.type);
      // Most fields: values that need no conversion, in one step.
      return (source, run) => {
        const value: unknown = resolve(source, argsOf(run), run.context, infoOf(run, undefined));
        if (typeof value !== plain)
          return value instanceof Promise
            ? value.then((settled: unknown) => complete(settled, run, undefined))
            : complete(value, run, undefined);
        if (plain === 'string') count(run, (value as string).length);
        return value;
      };
    }
    return (source, run, above) => {
      const path = { prev: above, key, typename: parent.name };
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
      const complete = this.#present(type.ofType, nodes);
      return (value, run, path) => {
        if (value === null || value === undefined) throw new Unplanned();
        return complete(value, run, path);
      };
    }
    const complete = this.#present(type, nodes);
    return (value, run, path) => (value === null || value === undefined ? null : complete(value, run, path));
  }

  /** Completes values that are not null. */
  #present(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
    if (isLeafType(type)) {
      const valueOf = leafValue(type);
      return (value, run) => {
        if (value instanceof Error) throw value;
        const leaf = valueOf(value);
        if (typeof leaf === 'string') count(run, leaf.length);
        else if (typeof leaf === 'object') count(run, weightOf(leaf, MOST_CHARACTERS));
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

  /** The arguments of a field: those of a run are the same for each of its sources. */
  #argsOf(
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    number: number,
  ): (run: Run) => Readonly<Record<string, unknown>> {
    if (field.args.length === 0) return () => NO_ARGS;
    if (!hasVariables(node)) {
      const args = getArgumentValues(field, node);
      return () => ({ ...args });
    }
    return (run) => (run.args[number] ??= getArgumentValues(field, node, run.variables));
  }

  /**
   * The info of a field. Fields without selections share one per run, because some have hundreds of sources: its path has
   * no parent.
   */
  #infoOf(
    parentType: GraphQLObjectType,
    { name: fieldName, type: returnType }: GraphQLField<unknown, unknown>,
    { key, nodes, number }: { readonly key: string; readonly nodes: readonly FieldNode[]; readonly number: number },
  ): (run: Run, path: Path) => GraphQLResolveInfo {
    const fixed = {
      fieldName,
      fieldNodes: nodes,
      returnType,
      parentType,
      schema: this.#schema,
      // As the executor of Yoga passes them: without wrappers.
      fragments: this.#fragments as unknown as GraphQLResolveInfo['fragments'],
      rootValue: undefined,
      operation: this.#operation,
    };
    const infoFor = (run: Run, path: Path) =>
      ({ ...fixed, path, variableValues: run.variables }) as unknown as GraphQLResolveInfo;
    const own = { prev: undefined, key, typename: parentType.name };
    return (run, path) => (path === undefined ? (run.infos[number] ??= infoFor(run, own)) : infoFor(run, path));
  }
}

/** What `typeof` says of the values of a type that need no conversion; null for other types. */
function plainTypeOf(type: GraphQLOutputType): 'string' | 'boolean' | null {
  const { name } = getNamedType(type);
  if (isListType(getNullableType(type))) return null;
  return name === 'String' || name === 'ID' ? 'string' : name === 'Boolean' ? 'boolean' : null;
}

const NO_ARGS: Readonly<Record<string, unknown>> = Object.freeze({});
/** Types of this schema recognise values by the value alone. */
const NO_INFO = {} as GraphQLResolveInfo;

function hasVariables(node: FieldNode): boolean {
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

/** The value of a field without a resolver. */
function property(
  source: unknown,
  name: string,
  given: () => readonly [unknown, GraphContext, GraphQLResolveInfo],
): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const value: unknown = (source as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).apply(source, [...given()]) : value;
}

/** Counts characters of the answer. Throws when there are too many. */
function count(run: Run, characters: number): void {
  run.characters += characters;
  if (run.characters > MOST_CHARACTERS) throw new Unplanned();
}

type Place = Record<string | number, unknown>;

/** Puts a value in its place when it is there. Null until then, so that the order of names stays. */
function placed(value: Promise<unknown>, data: Place, key: string | number): Promise<void> {
  data[key] = null;
  return value.then((settled) => {
    data[key] = settled;
  });
}

/** After a failure nothing awaits the others: their rejections must not be unhandled. */
function leave(pending: readonly Promise<void>[] | null): void {
  for (const settled of pending ?? []) settled.catch(() => {});
}

/** Whether fields below these nodes have selections, so that they are given a path. */
const haveBranches = (nodes: readonly FieldNode[]): boolean =>
  nodes.some(({ selectionSet }) =>
    selectionSet?.selections.some((selection) => selection.kind !== Kind.FIELD || selection.selectionSet !== undefined),
  );

function listOf(item: Complete, withPaths: boolean): Complete {
  const completed = (value: unknown, run: Run, path: Path): unknown =>
    value instanceof Promise ? value.then((settled: unknown) => item(settled, run, path)) : item(value, run, path);
  const place = (path: Path, key: number): Path => (withPaths ? { prev: path, key, typename: undefined } : path);
  async function ofStream(values: AsyncIterable<unknown>, run: Run, path: Path): Promise<readonly unknown[]> {
    const items: unknown[] = [];
    for await (const value of values) items.push(await completed(value, run, place(path, items.length)));
    return items;
  }
  return (values, run, path) => {
    if (!Array.isArray(values)) {
      if (typeof values === 'object' && values !== null && Symbol.asyncIterator in values)
        return ofStream(values as AsyncIterable<unknown>, run, path);
      throw new Unplanned();
    }
    const items: unknown[] = [];
    let pending: Promise<void>[] | null = null;
    try {
      for (let at = 0; at < values.length; at += 1) {
        const value = completed(values[at], run, place(path, at));
        if (value instanceof Promise) (pending ??= []).push(placed(value, items as unknown as Place, at));
        else items.push(value);
      }
    } catch (error) {
      leave(pending);
      throw error;
    }
    return pending === null ? items : Promise.all(pending).then(() => items);
  };
}
