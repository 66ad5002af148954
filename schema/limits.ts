import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  Source,
  TokenKind,
} from 'graphql';

/** Deepest selection, fragments unfolded. The deepest use in the dashboard has 7. */
export const MAX_DEPTH = 12;
/**
 * Most fields one operation may cause, counted as if every page came full: 500 catalog entries with
 * 50 fields each, or 50 traces with their spans, pass.
 */
const MAX_COST = 30_000;
/** A gateway call in a mutation or subscription weighs as much as this many fields. */
export const CALL_COST = 3_000;
/** What a list without pages (the spans of a trace) is taken to hold. */
export const LIST_COST = 20;
/** A search through the whole catalog weighs as much as this many fields, however small the page of it. */
export const SEARCH_COST = 200;
/** A ranking of the whole catalog, likewise. */
export const RANKING_COST = 1_000;
/** Most tokens in one document; the typed documents of the dashboard have some hundreds. */
export const MAX_TOKENS = 10_000;
/** Deepest nesting of brackets in a document's text, values included. Beyond it the parser's own stack is at risk. */
export const MAX_NESTING = 64;

const OPENING = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

const tooComplex = (message: string): GraphQLError => new GraphQLError(message, { extensions: { code: 'TOO_LARGE' } });

/** Refuses a text that would be dear to parse; reads it once, token by token, without recursion. */
export function assertParsable(text: string): void {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let nesting = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    if (OPENING.has(token.kind)) nesting += 1;
    if (CLOSING.has(token.kind)) nesting -= 1;
    if (tokens > MAX_TOKENS) throw tooComplex(`The document has more than ${MAX_TOKENS} tokens.`);
    if (nesting > MAX_NESTING) throw tooComplex(`The document nests brackets deeper than ${MAX_NESTING}.`);
  }
}

/**
 * The reason not to run an operation: too deep, or too dear with these variables. Null when it may run.
 * Introspection is not counted; graphql itself bounds how deep it may go.
 */
export function overLimit(
  schema: GraphQLSchema,
  operation: {
    readonly document: DocumentNode;
    readonly operationName?: string | null | undefined;
    readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  },
): GraphQLError | null {
  const chosen = getOperationAST(operation.document, operation.operationName);
  if (!chosen) return null;
  const fragments = operation.document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  try {
    const { depth, complexity } = complexityFromQuery(
      { kind: Kind.DOCUMENT, definitions: [chosen, ...fragments] },
      { schema, variables: operation.variableValues ?? {} },
    );
    if (depth > MAX_DEPTH) return tooComplex(`The operation is ${depth} fields deep; the limit is ${MAX_DEPTH}.`);
    if (complexity > MAX_COST)
      return tooComplex(
        `The operation may cause ${complexity} fields; the limit is ${MAX_COST}. Ask for smaller pages.`,
      );
    return null;
  } catch (error) {
    // Variables that do not fit: refused here as the executor would have refused them.
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}
