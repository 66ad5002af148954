import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
  type ValueNode,
  visit,
} from 'graphql';
import { tooLarge } from './too-large.ts';

/** Maximum number of characters of one document. Clients send long texts as variables. */
export const MAX_CHARACTERS = 256 * 1024;
/** Maximum number of tokens of one document. Usual documents have some hundreds. */
export const MAX_TOKENS = 6_000;
/** Maximum nesting of brackets in a document, values included. Deeper nesting risks a stack overflow in the parser. */
export const MAX_NESTING = 64;
/** Maximum numbers of operations and fragments in one document. */
export const MAX_OPERATIONS = 100;
export const MAX_FRAGMENTS = 200;
/** Maximum number of values in one literal. Validation errors of graphql quote the whole literal. */
export const MAX_LITERAL_VALUES = 1_000;
/** Maximum number of selections of all definitions, with each fragment spread expanded. */
export const MAX_UNFOLDED = 20_000;
/**
 * Maximum number of pairs of selections with the same response name: validation compares each pair. A field without
 * arguments and selection set counts once for each set that repeats it, because its comparison is cheap. The library
 * aborts a validation after 250,000 pairs of such fields: see `abortedValidation`.
 */
export const MAX_PAIRS = 50_000;

/**
 * Maximum number of fields to compare between all pairs of fragments. Validation compares every pair, even when no
 * selection set spreads both.
 */
export const MAX_FRAGMENT_FIELDS = 60_000;

const SELECT_ONCE = 'Select each field once in a set';

/** Message of the error with which graphql ends a validation that takes too many comparisons. */
const ABORTED = 'Validation aborted.';

/** The refusal of a document whose validation graphql aborted with this error; null for another error. */
export const abortedValidation = ({ message }: GraphQLError): GraphQLError | null =>
  message === ABORTED
    ? tooLarge(
        `The document repeats fields or fragments so often that its validation takes too many comparisons. ${SELECT_ONCE}, spread fewer fragments, or split the document.`,
      )
    : null;

const OPENING = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * Refuses a text that is expensive to parse. Reads it once, token by token, without recursion. Throws the syntax error
 * of graphql for an invalid token.
 */
export function assertParsable(text: string): void {
  if (text.length > MAX_CHARACTERS)
    throw tooLarge(`The document has more than ${MAX_CHARACTERS} characters. Send long texts as variables.`);
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let nesting = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    if (OPENING.has(token.kind)) nesting += 1;
    if (CLOSING.has(token.kind)) nesting -= 1;
    if (tokens > MAX_TOKENS) throw tooLarge(`The document has more than ${MAX_TOKENS} tokens.`);
    if (nesting > MAX_NESTING) throw tooLarge(`The document nests brackets deeper than ${MAX_NESTING}.`);
  }
}

/** Refuses a document that is expensive to validate. The work of this check is linear in tokens and `MAX_UNFOLDED`. */
export function assertValidatable(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  let operations = 0;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if (definition.kind === Kind.OPERATION_DEFINITION) operations += 1;
  }
  // Definitions other than operations count as fragments.
  const others = document.definitions.length - operations;
  if (operations > MAX_OPERATIONS) throw tooLarge(`The document has more than ${MAX_OPERATIONS} operations.`);
  if (others > MAX_FRAGMENTS) throw tooLarge(`The document has more than ${MAX_FRAGMENTS} fragments.`);
  assertFragments([...fragments.values()]);
  assertLiterals(document);
  const unfolded = { selections: 0, pairs: 0 };
  for (const definition of document.definitions) {
    if ('selectionSet' in definition && definition.selectionSet)
      unfold([definition.selectionSet], fragments, unfolded, 1);
  }
}

/**
 * Limits the comparisons of fragments: for each pair, validation looks up every field of the smaller one in the other.
 */
function assertFragments(fragments: readonly FragmentDefinitionNode[]): void {
  const sizes = fragments.map(({ selectionSet }) => fieldsIn(selectionSet)).toSorted((left, right) => left - right);
  const compared = sizes.reduce((sum, size, index) => sum + size * (sizes.length - 1 - index), 0);
  if (compared > MAX_FRAGMENT_FIELDS)
    throw tooLarge(`The fragments have too many fields: more than ${MAX_FRAGMENT_FIELDS} to compare in pairs.`);
}

/** Number of selections of a set, with those of its inline fragments. A fragment spread counts as one. */
function fieldsIn({ selections }: SelectionSetNode): number {
  return selections.reduce(
    (sum, selection) => sum + (selection.kind === Kind.INLINE_FRAGMENT ? fieldsIn(selection.selectionSet) : 1),
    0,
  );
}

/**
 * Checks the literals of arguments and of default values. Operations and fragments are not read with `visit` of
 * graphql, which reads every node and is several times slower.
 */
function assertLiterals({ definitions }: DocumentNode): void {
  for (const definition of definitions) {
    if (!('selectionSet' in definition) || !definition.selectionSet) {
      visit(definition, { Argument: ({ value }) => assertLiteral(value) });
      continue;
    }
    assertDirectives(definition.directives);
    const { variableDefinitions = [] } = definition;
    for (const { defaultValue, directives } of variableDefinitions) {
      if (defaultValue !== undefined) assertLiteral(defaultValue);
      assertDirectives(directives);
    }
    assertLiteralsIn(definition.selectionSet);
  }
}

function assertLiteralsIn({ selections }: SelectionSetNode): void {
  for (const selection of selections) {
    assertDirectives(selection.directives);
    if (selection.kind === Kind.FIELD) assertArguments(selection.arguments);
    if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet !== undefined)
      assertLiteralsIn(selection.selectionSet);
  }
}

function assertDirectives(directives: readonly DirectiveNode[] = []): void {
  for (const directive of directives) assertArguments(directive.arguments);
}

function assertArguments(args: readonly { readonly value: ValueNode }[] = []): void {
  for (const { value } of args) assertLiteral(value);
}

function assertLiteral(value: ValueNode): void {
  if (valuesIn(value) > MAX_LITERAL_VALUES)
    throw tooLarge(`A literal has more than ${MAX_LITERAL_VALUES} values. Send it as a variable.`);
}

function valuesIn(value: ValueNode): number {
  if (value.kind === Kind.LIST) return value.values.reduce((sum, item) => sum + valuesIn(item), 1);
  if (value.kind === Kind.OBJECT) return value.fields.reduce((sum, field) => sum + valuesIn(field.value), 1);
  return 1;
}

/** Selections with the same response name in selection sets that are merged. */
interface Group {
  /** Fields with arguments or a selection set. */
  readonly complex: FieldNode[];
  /** Selection sets that contain the name as a field without arguments and selection set. */
  readonly leaves: Set<SelectionSetNode>;
}

/**
 * Counts the selections of `sets`, with fragments expanded. `sets` are the selection sets that validation merges,
 * because their fields have the same response name. Adds to `unfolded`, the counts of the whole document. Throws as
 * soon as a limit is exceeded.
 */
function unfold(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  unfolded: { selections: number; pairs: number },
  depth: number,
): void {
  const groups = new Map<string, Group>();
  const spread = new Set<string>();

  function collect(set: SelectionSetNode): void {
    for (const selection of set.selections) {
      unfolded.selections += 1;
      if (unfolded.selections > MAX_UNFOLDED)
        throw tooLarge(`The document unfolds to more than ${MAX_UNFOLDED} selections.`);
      if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined || spread.has(selection.name.value)) continue;
        spread.add(selection.name.value);
        collect(fragment.selectionSet);
      } else {
        const name = (selection.alias ?? selection.name).value;
        const group = groups.get(name) ?? { complex: [], leaves: new Set() };
        groups.set(name, group);
        if (selection.selectionSet === undefined && !selection.arguments?.length) group.leaves.add(set);
        else group.complex.push(selection);
      }
    }
  }

  for (const set of sets) collect(set);
  // Pairs of fragments are not counted here: `assertFragments` bounds them for the whole document.
  let pairs = 0;
  for (const { complex, leaves } of groups.values()) pairs += pairsOf(complex.length + leaves.size);
  unfolded.pairs += pairs;
  if (unfolded.pairs > MAX_PAIRS)
    throw tooLarge(
      `The document selects the same names too often: more than ${MAX_PAIRS} pairs to compare. ${SELECT_ONCE}, or split the document.`,
    );
  // Deeper levels need no count: `limits.ts` refuses deep operations. A cycle of fragments also ends here;
  // validation reports it.
  if (depth >= MAX_NESTING) return;
  for (const { complex } of groups.values()) {
    const below = complex.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (below.length > 0) unfold(below, fragments, unfolded, depth + 1);
  }
}

const pairsOf = (count: number): number => (count * (count - 1)) / 2;
