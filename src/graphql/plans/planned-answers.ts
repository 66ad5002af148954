import { evictOldest } from '../../domain/evict-oldest.ts';
import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import { type DocumentNode, getVariableValues } from 'graphql';
import type { IncomingMessage } from 'node:http';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { GraphContext } from '../../../schema/base/builder.ts';
import { Work } from '../../../schema/base/work.ts';
import type { Turns } from '../../domain/event-loop-turns.ts';
import { createDocumentCache } from '../document-cache.ts';
import type { Engine, Pipeline } from '../engine.ts';
import type { Requester } from '../requester.ts';
import { AnswerTexts } from './answer-texts.ts';
import type { VariableValues } from './completion.ts';
import { createPlan, type Plan } from './plan.ts';

/** The answer of a planned query. */
interface PlannedAnswer {
  readonly contentType: string;
  readonly text: string;
}

export interface PlannedAnswers {
  /** Null for a request that no plan answers: Yoga answers it, with all errors. */
  answer(requester: Requester, request: Request, body: Uint8Array): Promise<PlannedAnswer | null>;
}

type Request = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** Cache entry of one document text: the plan by operation name, or null for an operation without a plan. */
type KnownDocument = Map<string, CheckedPlan | null>;

/** A plan, and the sets of variables that were coerced and are within the limits, by their JSON. */
interface CheckedPlan {
  readonly plan: Plan;
  readonly document: DocumentNode;
  readonly variableSets: Map<string, CheckedVariables>;
  /** How many more requests Yoga answers after a failed run of the plan, by key hash or client network. */
  readonly pauses: Map<string, number>;
}

interface CheckedVariables {
  readonly values: VariableValues;
  /** JSON of the variables as sent; null for variables that are not cached. */
  readonly key: string | null;
}

/** Maximum characters of cached variables, as JSON. */
const MAX_VARIABLES_CHARACTERS = 1_024;
/** Maximum bytes of the body of a planned query. Yoga reads longer ones. */
const MAX_BODY_BYTES = 32 * 1024;
/** Maximum number of cached sets of variables of one plan. A further one evicts all others. */
const MAX_VARIABLE_SETS = 16;
/** Maximum number of operation names of one document text. Further ones get no plan. */
const MAX_OPERATIONS = 8;
/** Number of requests of a caller that Yoga answers after a failed run. A request that fails in a plan runs twice. */
const PAUSE_REQUESTS = 16;
/** Maximum number of pauses of one plan; a further one ends the oldest. */
const MAX_PAUSES = 64;

const JSON_BODY = /^application\/json(?:\s*;\s*charset=utf-8)?$/i;
const JSON_ANSWER = 'application/json; charset=utf-8';
const RESPONSE_JSON = 'application/graphql-response+json; charset=utf-8';

/** Media type of an answer by the simple forms of `Accept`; null for others. */
function answerType(accept: string | undefined): string | null {
  if (accept === undefined || accept === '*/*') return JSON_ANSWER;
  const [first = ''] = accept.split(',', 1);
  const type = first.trim().toLowerCase();
  if (type === 'application/json') return JSON_ANSWER;
  return type === 'application/graphql-response+json' ? RESPONSE_JSON : null;
}

interface Operation {
  readonly query: string;
  readonly variables: JsonObject | null;
  readonly operationName: string | null;
}

const REQUEST_MEMBERS: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions']);

/** The operation of a body; null for every body that is not in the plain form. */
function parseOperation(body: Uint8Array): Operation | null {
  let sent: unknown;
  try {
    sent = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch {
    return null;
  }
  if (!isJsonObject(sent)) return null;
  for (const member in sent) if (!REQUEST_MEMBERS.has(member)) return null;
  const { query, variables = null, operationName = null, extensions = null } = sent;
  if (typeof query !== 'string' || (operationName !== null && typeof operationName !== 'string')) return null;
  if (variables !== null && !isJsonObject(variables)) return null;
  if (extensions !== null && (!isJsonObject(extensions) || 'persistedQuery' in extensions)) return null;
  return { query, variables, operationName };
}

/** Answers repeated queries from compiled plans, without Yoga. See README.md. */
export function createPlannedAnswers(engine: Engine, turns: Turns): PlannedAnswers {
  const documents = createDocumentCache<KnownDocument>();
  const texts = new AnswerTexts();

  /** Null for the first request with a document, which Yoga answers, and for an operation without a plan. */
  function planOf({ query, operationName }: Operation, pipeline: () => Pipeline): CheckedPlan | null {
    const known = documents.get(query);
    if (known === undefined) {
      documents.set(query, new Map());
      return null;
    }
    const name = operationName ?? '';
    const found = known.get(name);
    if (found !== undefined) return found;
    if (known.size >= MAX_OPERATIONS) return null;
    const plan = compilePlan({ query, operationName }, pipeline(), texts);
    known.set(name, plan);
    return plan;
  }

  /** Null when the scope cannot be created, for example for an invalid credential. Yoga reports the failure. */
  async function scopeOrNull(requester: Requester): Promise<Scope | null> {
    try {
      return await engine.scopeOf(requester);
    } catch {
      return null;
    }
  }

  return {
    async answer(requester, request, body) {
      const { headers } = request;
      if (request.method !== 'POST' || request.url !== '/graphql' || body.length > MAX_BODY_BYTES) return null;
      const contentType = answerType(headers.accept);
      if (contentType === null || !JSON_BODY.test(headers['content-type'] ?? '')) return null;
      const operation = parseOperation(body);
      if (operation === null) return null;
      const checked = planOf(operation, () => engine.pipelineFor(requester));
      if (checked === null) return null;
      const scope = await scopeOrNull(requester);
      if (scope === null || isPaused(checked, scope)) return null;
      const variables = variablesOf(engine, checked, operation);
      if (variables === null) return null;
      try {
        const context: GraphContext = { scope, work: new Work(turns) };
        const data = await checked.plan.run(context, variables.values, variables.key);
        return context.work.refusal === null ? { contentType, text: `{"data":${data}}` } : null;
      } catch {
        // Yoga runs the request again and reports the failure.
        pause(checked, scope);
        return null;
      }
    },
  };
}

const callerIn = ({ caller, client }: Scope): string => caller?.keyHash ?? client.network;

/** Whether Yoga answers this request of a caller because of a pause. Counts the request. */
function isPaused({ pauses }: CheckedPlan, scope: Scope): boolean {
  if (pauses.size === 0) return false;
  const caller = callerIn(scope);
  const remaining = pauses.get(caller) ?? 0;
  if (remaining > 1) pauses.set(caller, remaining - 1);
  else pauses.delete(caller);
  return remaining > 0;
}

function pause({ pauses }: CheckedPlan, scope: Scope): void {
  pauses.set(callerIn(scope), PAUSE_REQUESTS);
  evictOldest(pauses, MAX_PAUSES);
}

/** The plan of a valid document; null for others. */
function compilePlan(
  { query, operationName }: Pick<Operation, 'query' | 'operationName'>,
  { schema, parse, validate }: Pipeline,
  texts: AnswerTexts,
): CheckedPlan | null {
  try {
    const document = parse(query);
    if (validate(schema, document).length > 0) return null;
    const plan = createPlan(schema, document, operationName, texts);
    return plan === null ? null : { plan, document, variableSets: new Map(), pauses: new Map() };
  } catch {
    return null;
  }
}

const NO_VARIABLES: JsonObject = {};

/** The coerced variables of a request within the limits; null for others. */
function variablesOf(
  engine: Engine,
  { plan, document, variableSets }: CheckedPlan,
  { variables, operationName }: Operation,
): CheckedVariables | null {
  const { variableDefinitions = [] } = plan.operation;
  const key = variables === null ? '' : JSON.stringify(variables);
  const found = variableSets.get(key);
  if (found !== undefined) return found;
  const variableValues = variables ?? NO_VARIABLES;
  if (!engine.isWithinLimits({ document, operationName, variableValues })) return null;
  const coerced = getVariableValues(engine.schema, variableDefinitions, variableValues, { maxErrors: 1 });
  if (coerced.errors) return null;
  if (key.length > MAX_VARIABLES_CHARACTERS) return { values: coerced.variableValues, key: null };
  const entry = { values: coerced.variableValues, key };
  if (variableSets.size >= MAX_VARIABLE_SETS) variableSets.clear();
  variableSets.set(key, entry);
  return entry;
}
