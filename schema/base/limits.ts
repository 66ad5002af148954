import type { JsonObject } from '../../src/domain/json-object.ts';
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
import {
  countIntrospection,
  type Fragments,
  introspectionDepth,
  isIntrospectionOnly,
  type Variables,
} from './introspection.ts';
import { tooLarge } from './too-large.ts';

/** Maximum depth of a selection, fragments expanded. */
export const MAX_DEPTH = 12;
/** Maximum depth of introspection. The standard introspection query is 15 fields deep. */
export const MAX_INTROSPECTION_DEPTH = 24;
/**
 * Maximum cost of one operation in fields. Pages count with the requested number of items, introspection with its
 * actual number of fields. Within the limit are 500 catalog entries with 50 fields each, or 50 traces with 50 spans
 * of ten fields each, but not both.
 */
const MAX_COST = 30_000;
/**
 * Maximum cost of an operation that selects the schema only. The standard introspection query has about 45,000 fields.
 */
const MAX_INTROSPECTION_COST = 60_000;
/** Cost of a model call. */
export const CALL_COST = 3_000;
/** Multiplier of fields whose list has no pages, such as the agents of a trace: the assumed length of the list. */
export const LIST_LENGTH = 20;
/** Cost of a search in the whole catalog, for any page size. */
export const SEARCH_COST = 200;
/** Cost of reading the content of a span: up to some hundred kilobytes are read and decoded. */
export const CONTENT_COST = 100;
/** Cost of a trace by its id. A trace that several keys sent is merged from all of its spans. */
export const TRACE_COST = 200;
/** Cost of a field that shows part of the content of a span. All these fields of one span share one read. */
export const CONTENT_FIELD_COST = 50;
/** Cost of one object by its global id. */
export const NODE_COST = 50;
/** Cost of a count or a sum over a whole list, such as all traces of a window. */
export const COUNT_COST = 200;
/** Cost of a ranking of the whole catalog. */
export const RANKING_COST = 1_000;
/** Maximum number of values in the variables of one request. */
export const MAX_VARIABLE_VALUES = 10_000;
/** Maximum number of errors in one answer. */
export const MAX_ERRORS = 20;
/** Maximum length of an error message that quotes the request. */
const MAX_MESSAGE = 1_000;

interface Operation {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: JsonObject | null | undefined;
}

/** Cached results of the check of operations without variables: the reason for a refusal, or null for none. */
type Refusals = WeakMap<OperationDefinitionNode, string | null>;

/**
 * Returns why an operation is refused: it is too deep or too expensive, or its variables are invalid. Null when it may
 * run.
 */
type LimitCheck = (operation: Operation) => GraphQLError | null;

export function createLimitCheck(schema: GraphQLSchema): LimitCheck {
  const refusals: Refusals = new WeakMap();
  return (operation) => overLimit(schema, refusals, operation);
}

function overLimit(
  schema: GraphQLSchema,
  refusals: Refusals,
  { document, operationName, variableValues }: Operation,
): GraphQLError | null {
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const variables = variableValues ?? {};
  const refusalOfVariables = variablesRefusalOf(variables);
  if (refusalOfVariables !== null) return tooLarge(refusalOfVariables);
  const { variableDefinitions = [] } = operation;
  if (variableDefinitions.length === 0) {
    const cached = refusals.get(operation);
    if (cached !== undefined) return errorOf(cached);
  }
  // Coercion stops at the first error, because only one error is returned.
  const coerced = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 });
  if (coerced.errors) return validationError(coerced.errors[0] ?? new GraphQLError('The variables are invalid.'));
  const refusal = refusalOf(schema, document, operation, coerced.variableValues);
  if (variableDefinitions.length === 0) refusals.set(operation, refusal);
  return errorOf(refusal);
}

const errorOf = (refusal: string | null): GraphQLError | null => (refusal === null ? null : tooLarge(refusal));

function refusalOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): string | null {
  const fragments: Fragments = new Map(
    document.definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const cost = costOf(schema, operation, fragments, variables);
  if (cost.depth > MAX_DEPTH) return `The operation is ${cost.depth} fields deep; the limit is ${MAX_DEPTH}.`;
  if (cost.fields > MAX_COST)
    return `The operation may cause ${cost.fields} fields; the limit is ${MAX_COST}. Ask for smaller pages.`;
  const depth = introspectionDepth(operation, fragments);
  if (depth > MAX_INTROSPECTION_DEPTH)
    return `The introspection is ${depth} fields deep; the limit is ${MAX_INTROSPECTION_DEPTH}.`;
  const limit = isIntrospectionOnly(operation, fragments) ? MAX_INTROSPECTION_COST : MAX_COST;
  const remaining = limit - cost.fields;
  if (countIntrospection(schema, operation, fragments, variables, remaining) > remaining)
    return `The operation, with its introspection, causes more than ${limit} fields.`;
  return null;
}

/** Why the variables are refused: they nest too deep, or have too many values at all depths. Null for valid ones. */
function variablesRefusalOf(variables: JsonObject): string | null {
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
  return null;
}

/**
 * Validation error of a document or a variable, with its code. The message is truncated, because graphql quotes the
 * whole invalid value.
 */
export function validationError(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path } = error;
  const extensions = { code: 'GRAPHQL_VALIDATION_FAILED', ...error.extensions };
  const message = error.message.length <= MAX_MESSAGE ? error.message : `${error.message.slice(0, MAX_MESSAGE)}...`;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}
