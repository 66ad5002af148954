import {
  type DocumentNode,
  type FieldNode,
  getArgumentValues,
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
import { leafText } from './leaf-text.ts';
import { fieldsOf, type Fragments, fragmentsOf } from './selections.ts';
import { Unplanned } from './unplanned.ts';

/** Most characters of an answer. Larger ones are bounded and written in pieces elsewhere. */
const MOST_CHARACTERS = 256 * 1024;

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
type MaybeText = string | Promise<string>;
/** The JSON of the value of a field. Throws, or rejects, for everything that would be an error of the answer. */
type Complete = (value: unknown, run: Run, path: Path) => MaybeText;

/** A query that is compiled once and run for many requests. */
export interface Plan {
  readonly operation: OperationDefinitionNode;
  /** The JSON of `data`. Throws, or rejects, when the answer would have errors or is too large. */
  run(context: GraphContext, variables: VariableValues): MaybeText;
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
      run: (context, variables) =>
        complete(undefined, { context, variables, args: [], infos: [], characters: 0 }, undefined),
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
    const fields = [...fieldsOf(this.#schema, type, sets, this.#fragments)].map(([name, nodes], at) => ({
      prefix: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`,
      complete: this.#field(type, name, nodes),
    }));
    return (source, run, path) => {
      if (isTypeOf && isTypeOf(source, run.context, NO_INFO) !== true) throw new Unplanned();
      const before = run.characters;
      const parts = new Parts();
      try {
        for (const { prefix, complete } of fields) {
          parts.texts.push(prefix);
          parts.add(complete(source, run, path));
        }
      } catch (error) {
        parts.leave();
        throw error;
      }
      parts.texts.push('}');
      const text = parts.joined('');
      return typeof text === 'string'
        ? counted(text, before, run)
        : text.then((settled) => counted(settled, before, run));
    };
  }

  /** Resolves a field of its source and completes the value. */
  #field(parent: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): Complete {
    const [node] = nodes;
    const name = node?.name.value ?? '';
    if (name === '__typename') {
      const text = JSON.stringify(parent.name);
      return () => text;
    }
    const field = parent.getFields()[name];
    if (node === undefined || field === undefined) throw new Unplanned();
    const complete = this.#value(field.type, nodes);
    const number = this.#fields++;
    const argsOf = this.#argsOf(field, node, number);
    const infoOf = this.#infoOf(parent, field, { key, nodes, number });
    const { resolve } = field;
    const isLeaf = node.selectionSet === undefined;
    return (source, run, above) => {
      const path = isLeaf ? undefined : { prev: above, key, typename: parent.name };
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
    return (value, run, path) => (value === null || value === undefined ? 'null' : complete(value, run, path));
  }

  /** Completes values that are not null. */
  #present(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
    if (isLeafType(type)) {
      const textOf = leafText(type);
      return (value) => {
        if (value instanceof Error) throw value;
        return textOf(value);
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

/** Counts the characters of a text once, with those inside of it. Throws when the answer has too many. */
function counted(text: string, before: number, run: Run): string {
  run.characters = Math.max(run.characters, before + text.length);
  if (run.characters > MOST_CHARACTERS) throw new Unplanned();
  return text;
}

/** The parts of a JSON text. One join makes it flat: adding up would make a tree of texts, which is slow to write. */
class Parts {
  readonly texts: string[] = [];
  #pending: Promise<void>[] | null = null;

  add(part: MaybeText): void {
    if (typeof part === 'string') {
      this.texts.push(part);
      return;
    }
    const at = this.texts.push('') - 1;
    const settled = part.then((text) => {
      this.texts[at] = text;
    });
    (this.#pending ??= []).push(settled);
  }

  joined(separator: string): MaybeText {
    if (this.#pending === null) return this.texts.join(separator);
    return Promise.all(this.#pending).then(() => this.texts.join(separator));
  }

  /** After a failure the others are not awaited: their rejections must not be unhandled. */
  leave(): void {
    for (const settled of this.#pending ?? []) settled.catch(() => {});
  }
}

/** Whether fields below these nodes have selections, so that they are given a path. */
const haveBranches = (nodes: readonly FieldNode[]): boolean =>
  nodes.some(({ selectionSet }) =>
    selectionSet?.selections.some((selection) => selection.kind !== Kind.FIELD || selection.selectionSet !== undefined),
  );

function listOf(item: Complete, withPaths: boolean): Complete {
  const completed = (value: unknown, run: Run, path: Path): MaybeText =>
    value instanceof Promise ? value.then((settled: unknown) => item(settled, run, path)) : item(value, run, path);
  const place = (path: Path, key: number): Path => (withPaths ? { prev: path, key, typename: undefined } : path);
  async function ofStream(values: AsyncIterable<unknown>, run: Run, path: Path): Promise<string> {
    const parts: string[] = [];
    for await (const value of values) parts.push(await completed(value, run, place(path, parts.length)));
    return `[${parts.join(',')}]`;
  }
  return (values, run, path) => {
    if (!Array.isArray(values)) {
      if (typeof values === 'object' && values !== null && Symbol.asyncIterator in values)
        return ofStream(values as AsyncIterable<unknown>, run, path);
      throw new Unplanned();
    }
    const parts = new Parts();
    try {
      for (let at = 0; at < values.length; at += 1) parts.add(completed(values[at], run, place(path, at)));
    } catch (error) {
      parts.leave();
      throw error;
    }
    const text = parts.joined(',');
    return typeof text === 'string' ? `[${text}]` : text.then((settled) => `[${settled}]`);
  };
}
