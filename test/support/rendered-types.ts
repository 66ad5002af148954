import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CallExpression, Node, ObjectLiteralExpression } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isFunctionDeclaration,
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isSourceFile,
  isStringLiteral,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { ANSWER_TYPES, sharedSchemas } from '../../rest-shims/helpers/openapi/answer-types.ts';
import type { JsonSchema } from '../../rest-shims/helpers/http/schema.ts';
import { schemaFrom } from '../../rest-shims/helpers/http/type-notation.ts';

// Compares the documented answer types of route rows with the types that the sources render. Uses the TypeScript
// compiler.

/**
 * Bits of `TypeFlags`. The compiler's package does not export the enumeration. `open` is any or unknown, `absent` is
 * undefined or void, and `parameter` is a type parameter. `string`, `number` and `boolean` include literals. `string`
 * also includes templates. `object` includes the type `object` and intersections.
 */
const IS = {
  open: 1 | 2,
  absent: 4 | 16,
  null: 8,
  string: 32 | 1024 | 4_194_304 | 8_388_608,
  number: 64 | 2048,
  boolean: 256 | 8192,
  never: 262_144,
  parameter: 524_288,
  object: 1_048_576 | 131_072 | 268_435_456,
} as const;
/** Bit of `SymbolFlags`: an optional member. */
const OPTIONAL_SYMBOL = 16_777_216;

/** Entities whose route rows are generated from a table. A row's name begins with the entity. */
const ENTITIES = 'agent|endUser|organization|tag|team|user';

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const literalsIn = (text: string): readonly string[] =>
  [...text.matchAll(/'([^']*)'/g)].map(([, literal]) => literal ?? '');

/** Row names that the initializer of a `name` member can have. Empty for an unsupported expression. */
function namesIn(text: string): readonly string[] {
  if (!text.startsWith('`')) return literalsIn(text);
  const pattern = text.slice(1, -1).replaceAll(/\$\{([^}]*)\}/g, (_all, inner: string) => {
    if (inner.endsWith('.entity')) return `(?:${ENTITIES})`;
    const literals = literalsIn(inner);
    // No row name contains `!`, so that nothing matches an unsupported expression.
    return literals.length === 0 ? '!' : `(?:${literals.join('|')})`;
  });
  return Object.keys(ANSWER_TYPES).filter((name) => new RegExp(`^${pattern}$`).test(name));
}

const memberOf = (object: ObjectLiteralExpression, name: string) =>
  object.properties
    .filter(isPropertyAssignment)
    .find((property) => isIdentifier(property.name) && property.name.text === name)?.initializer;

/** Row names in an object literal. */
function rowsOf(object: ObjectLiteralExpression): readonly string[] {
  const name = memberOf(object, 'name');
  return name === undefined ? [] : namesIn(name.getText()).filter((row) => row in ANSWER_TYPES);
}

/** Row names of a call, from its first argument. */
function rowsOfCall({ arguments: [first] }: CallExpression): readonly string[] {
  if (first === undefined) return [];
  if (isStringLiteral(first)) return first.text in ANSWER_TYPES ? [first.text] : [];
  return isObjectLiteralExpression(first) ? rowsOf(first) : [];
}

/** Row names of an object literal or of a call. Empty for other nodes. */
function rowsAt(node: Node): readonly string[] {
  if (isObjectLiteralExpression(node)) return rowsOf(node);
  return isCallExpression(node) ? rowsOfCall(node) : [];
}

/** All nodes below a node. */
function* nodesOf(node: Node): Generator<Node> {
  const children: Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) {
    yield child;
    yield* nodesOf(child);
  }
}

/** Names of the rows that contain a node, or that use the function that contains it. */
function rowsAround(node: Node): readonly string[] {
  /** Name of the outermost function or variable that contains the node. */
  let within: string | null = null;
  for (let outer: Node | undefined = node.parent; outer !== undefined && !isSourceFile(outer); outer = outer.parent) {
    const names = rowsAt(outer);
    if (names.length > 0) return names;
    if (!isFunctionDeclaration(outer) && !isVariableDeclaration(outer)) continue;
    if (outer.name !== undefined && isIdentifier(outer.name)) within = outer.name.text;
  }
  if (within === null) return [];
  // The name as a whole word, and not as a member, a key, or a part of a path or text.
  const use = new RegExp(String.raw`(?<![\w.'/-])${within}(?![\w':/-])`);
  return [...nodesOf(node.getSourceFile())].flatMap((candidate) => {
    const names = rowsAt(candidate);
    return names.length > 0 && use.test(candidate.getText()) ? names : [];
  });
}

/** State of the comparison of a rendered value with the schema of its row. */
interface Comparison {
  readonly faults: string[];
  /** Ids of the pairs of type and schema that were compared. */
  readonly visited: Set<string>;
  /** Members are renamed to snake case after rendering. */
  readonly isRenamed: boolean;
}

function createComparison(checker: Checker) {
  const shared = sharedSchemas();

  const unionOf = (type: Type): readonly Type[] => (type.isUnionType() ? type.getTypes().flatMap(unionOf) : [type]);

  function choicesOf(schema: JsonSchema): readonly JsonSchema[] {
    const { $ref: ref, anyOf, type } = schema;
    if (typeof ref === 'string') return choicesOf(shared[ref.split('/').at(-1) ?? ''] ?? {});
    if (Array.isArray(anyOf)) return (anyOf as readonly JsonSchema[]).flatMap(choicesOf);
    if (Array.isArray(type)) return (type as readonly string[]).map((name) => ({ ...schema, type: name }));
    return ['const' in schema ? { ...schema, type: 'string' } : schema];
  }

  const nameOf = ({ flags }: Type): 'null' | 'string' | 'number' | 'boolean' | null => {
    if ((flags & IS.null) !== 0) return 'null';
    if ((flags & IS.string) !== 0) return 'string';
    if ((flags & IS.number) !== 0) return 'number';
    return (flags & IS.boolean) === 0 ? null : 'boolean';
  };

  /** Compares a type with a schema. Skips schemas that allow every value. */
  function compare(type: Type, schema: JsonSchema, path: string, comparison: Comparison): void {
    const choices = choicesOf(schema);
    if (choices.some((choice) => Object.keys(choice).length === 0)) return;
    const id = `${type.id} ${JSON.stringify(schema)}`;
    if (comparison.visited.has(id)) return;
    comparison.visited.add(id);
    for (const constituent of unionOf(type)) compareConstituent(constituent, choices, path, comparison);
  }

  /** Compares one constituent of a union, or a type that is no union. */
  function compareConstituent(type: Type, choices: readonly JsonSchema[], path: string, comparison: Comparison): void {
    const ofType = (...names: readonly string[]) => choices.filter((choice) => names.includes(String(choice['type'])));
    const fail = (what: string): void =>
      void comparison.faults.push(`${path}: ${what} where ${JSON.stringify(choices).slice(0, 120)} is documented`);
    if ((type.flags & (IS.open | IS.absent | IS.never)) !== 0) return;
    const plain = nameOf(type);
    if (plain !== null) {
      const wanted = plain === 'number' ? ofType('number', 'integer') : ofType(plain);
      if (wanted.length === 0) fail(plain);
      return;
    }
    if ((type.flags & IS.parameter) !== 0) {
      const bound = checker.getBaseConstraintOfType(type);
      if (bound !== undefined)
        for (const constituent of unionOf(bound)) compareConstituent(constituent, choices, path, comparison);
      return;
    }
    if (checker.isArrayLikeType(type)) {
      const [list] = ofType('array');
      if (list === undefined) return fail('a list');
      const items = type.isTypeReference() ? checker.getTypeArguments(type) : [];
      for (const item of items) compare(item, (list['items'] ?? {}) as JsonSchema, `${path}[]`, comparison);
      return;
    }
    if ((type.flags & IS.object) === 0) return;
    if (type.getSymbol()?.name === 'Date') return ofType('string').length === 0 ? fail('a date') : undefined;
    // Of several documented objects, the one with the fewest faults counts.
    const [best] = ofType('object')
      .map((object) => {
        const trial = { ...comparison, faults: [], visited: new Set(comparison.visited) };
        compareObject(type, object, path, trial);
        return trial.faults;
      })
      .toSorted((left, right) => left.length - right.length);
    if (best === undefined) return fail(`an object (${checker.typeToString(type).slice(0, 120)})`);
    comparison.faults.push(...best);
  }

  function compareObject(type: Type, schema: JsonSchema, path: string, comparison: Comparison): void {
    const signatures = checker.getIndexInfosOfType(type);
    const members = new Map(
      checker
        .getPropertiesOfType(type)
        .map((member) => [comparison.isRenamed ? snake(member.name) : member.name, member]),
    );
    const values = schema['additionalProperties'] as JsonSchema | undefined;
    if (values !== undefined) {
      for (const { valueType } of signatures) compare(valueType, values, `${path}.*`, comparison);
      for (const [name, member] of members) {
        const memberType = checker.getTypeOfSymbol(member);
        if (memberType !== undefined) compare(memberType, values, `${path}.${name}`, comparison);
      }
    }
    const required = new Set((schema['required'] ?? []) as readonly string[]);
    for (const [name, wanted] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)) {
      const member = members.get(name);
      const memberType = member === undefined ? undefined : checker.getTypeOfSymbol(member);
      if (member === undefined || memberType === undefined) {
        if (signatures.length === 0 && required.has(name)) comparison.faults.push(`${path}.${name}: absent`);
        continue;
      }
      const isOptional = (member.flags & OPTIONAL_SYMBOL) !== 0;
      if ((isOptional || unionOf(memberType).some(({ flags }) => (flags & IS.absent) !== 0)) && required.has(name))
        comparison.faults.push(`${path}.${name}: may be absent`);
      compare(memberType, wanted, `${path}.${name}`, comparison);
    }
  }

  return (type: Type, schema: JsonSchema, isRenamed: boolean): readonly string[] => {
    const comparison: Comparison = { faults: [], visited: new Set(), isRenamed };
    compare(type, schema, '', comparison);
    return comparison.faults;
  };
}

/** Type that a row renders. Null if the row writes the HTTP response itself. */
function renderedBy(checker: Checker, object: ObjectLiteralExpression): Type | null {
  const render = memberOf(object, 'render');
  const type = render === undefined ? undefined : checker.getTypeAtLocation(render);
  // Kind 0 is a call signature.
  const [signature] = type === undefined ? [] : checker.getSignaturesOfType(type, 0);
  const result = signature === undefined ? undefined : checker.getReturnTypeOfSignature(signature);
  if (result === undefined || checker.getPropertyOfType(result, 'body') !== undefined) return null;
  return result;
}

/** Type of the argument of `json`, and whether its members are renamed afterwards. */
function sentBy(checker: Checker, { arguments: [value] }: CallExpression) {
  if (value === undefined) return null;
  const inner =
    isCallExpression(value) && value.expression.getText() === 'snakeCased' ? (value.arguments[0] ?? null) : null;
  const type = checker.getTypeAtLocation(inner ?? value);
  return type === undefined ? null : { type, isRenamed: inner !== null };
}

export interface RenderedTypes {
  /** `ROW: .member: fault`, sorted. */
  readonly faults: readonly string[];
  /** Rows whose answers were compared. */
  readonly compared: ReadonlySet<string>;
}

/**
 * Compares every JSON answer that the sources of `rest-shims/` below `root` render. `config` is the path of the
 * TypeScript project.
 */
export function compareRenderedTypes(root: string, config: string): RenderedTypes {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    if (project === undefined) throw new Error(`No project: ${config}`);
    const { checker, program } = project;
    const differencesOf = createComparison(checker);
    const compared = new Set<string>();
    const faults = new Set<string>();

    function judge(names: readonly string[], type: Type, isRenamed: boolean): void {
      for (const name of names) {
        const stated = ANSWER_TYPES[name];
        const notation = typeof stated === 'string' ? stated : stated?.['application/json'];
        if (notation === undefined) continue;
        compared.add(name);
        for (const fault of differencesOf(type, schemaFrom(notation), isRenamed)) faults.add(`${name}: ${fault}`);
      }
    }

    const files = readdirSync(join(root, 'rest-shims'), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((path) => path.endsWith('.ts'))) {
      const source = program.getSourceFile(join(root, 'rest-shims', file));
      if (source === undefined) continue;
      for (const node of nodesOf(source)) {
        if (isCallExpression(node) && isIdentifier(node.expression) && node.expression.text === 'json') {
          const sent = sentBy(checker, node);
          if (sent !== null) judge(rowsAround(node), sent.type, sent.isRenamed);
        }
        if (!isObjectLiteralExpression(node)) continue;
        const rendered = renderedBy(checker, node);
        if (rendered !== null) judge(rowsOf(node), rendered, false);
      }
    }
    return { faults: [...faults].toSorted(), compared };
  } finally {
    api.close();
  }
}
