import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { costOf } from './cost.ts';
import { MAX_NESTING } from './document-limits.ts';
import { countIntrospection, type Fragments, introspectionDepth, type Variables } from './introspection.ts';
import { tooLarge } from './too-large.ts';

/** Deepest selection, fragments unfolded. The deepest use in the dashboard has 7. */
export const MAX_DEPTH = 12;
/** The same below `__schema` and `__type`. The standard introspection query has 15, because it follows `ofType`. */
export const MAX_INTROSPECTION_DEPTH = 24;
/**
 * Most fields one operation may cause, counted as if every page came full: 500 catalog entries with
 * 50 fields each, or 50 traces with their spans, pass. Introspection counts exactly; the whole schema is about 11,000.
 */
const MAX_COST = 30_000;
/** A gateway call in a mutation or subscription weighs as much as this many fields. */
export const CALL_COST = 3_000;
/** What a list without pages (the spans of a trace) is taken to hold. */
export const LIST_COST = 20;
/** A search through the whole catalog weighs as much as this many fields, however small the page of it. */
export const SEARCH_COST = 200;
/** A span with all it carries: up to some hundred kilobytes are read and unpacked. */
export const CONTENT_COST = 100;
/** A trace by its id: all of its spans are read, and its agents found in them. */
export const TRACE_COST = 200;
/** A ranking of the whole catalog, likewise. */
export const RANKING_COST = 1_000;
/** Most values in the variables of one request: each is read several times, and a fault in each is an error. */
export const MAX_VARIABLE_VALUES = 10_000;
/** Most errors of one answer. */
export const MAX_ERRORS = 20;
/** Most characters of the message of an error that quotes what was sent. */
const MAX_MESSAGE = 1_000;

type RawVariables = Readonly<Record<string, unknown>>;

interface Operation {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: RawVariables | null | undefined;
}

/** Refusals of operations without variables, which are the same every time; null where there is none. */
const judged = new WeakMap<
  OperationDefinitionNode,
  { readonly schema: GraphQLSchema; readonly refusal: string | null }
>();

/** The reason not to run an operation: too deep, or too expensive with these variables. Null when it may run. */
export function overLimit(
  schema: GraphQLSchema,
  { document, operationName, variableValues }: Operation,
): GraphQLError | null {
  const chosen = getOperationAST(document, operationName);
  if (!chosen) return null;
  const variables = variableValues ?? {};
  const values = valuesIn(variables);
  if (typeof values === 'string') return tooLarge(values);
  const { variableDefinitions = [] } = chosen;
  if (variableDefinitions.length === 0) {
    const known = judged.get(chosen);
    if (known?.schema === schema) return errorOf(known.refusal);
  }
  // The search for what is wrong ends with the first fault: each further one would be an error of its own.
  const coerced = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 });
  if (coerced.errors) return shortened(coerced.errors[0] ?? new GraphQLError('The variables are invalid.'));
  const refusal = refusalOf(schema, document, chosen, coerced.variableValues);
  if (variableDefinitions.length === 0) judged.set(chosen, { schema, refusal });
  return errorOf(refusal);
}

const errorOf = (refusal: string | null): GraphQLError | null => (refusal === null ? null : tooLarge(refusal));

function refusalOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  chosen: OperationDefinitionNode,
  variables: Variables,
): string | null {
  const fragments: Fragments = new Map(
    document.definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const cost = costOf(schema, chosen, fragments, variables);
  if (cost.depth > MAX_DEPTH) return `The operation is ${cost.depth} fields deep; the limit is ${MAX_DEPTH}.`;
  if (cost.fields > MAX_COST)
    return `The operation may cause ${cost.fields} fields; the limit is ${MAX_COST}. Ask for smaller pages.`;
  const depth = introspectionDepth(chosen, fragments);
  if (depth > MAX_INTROSPECTION_DEPTH)
    return `The introspection is ${depth} fields deep; the limit is ${MAX_INTROSPECTION_DEPTH}.`;
  const left = MAX_COST - cost.fields;
  if (countIntrospection(schema, chosen, fragments, variables, left) > left)
    return `The operation, with its introspection, causes more than ${MAX_COST} fields.`;
  return null;
}

/** How many values the variables hold at all depths, or why they are refused. */
function valuesIn(variables: RawVariables): number | string {
  let count = 0;
  let level: readonly object[] = [variables];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) return `The variables nest deeper than ${MAX_NESTING}.`;
    const below: object[] = [];
    for (const container of level) {
      const values: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
      count += values.length;
      if (count > MAX_VARIABLE_VALUES) return `The variables hold more than ${MAX_VARIABLE_VALUES} values.`;
      for (const value of values) if (typeof value === 'object' && value !== null) below.push(value);
    }
    level = below;
  }
  return count;
}

/** The same error with a message that ends after some characters: graphql prints the whole value it refuses. */
export function shortened(error: GraphQLError): GraphQLError {
  if (error.message.length <= MAX_MESSAGE) return error;
  const { nodes, source, positions, path, extensions } = error;
  return new GraphQLError(`${error.message.slice(0, MAX_MESSAGE)}...`, { nodes, source, positions, path, extensions });
}
