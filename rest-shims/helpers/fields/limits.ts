import type { JsonObject } from '../../../src/domain/json-object.ts';
import { moment } from './key-metadata.ts';
import type { LimitsPatch } from '../../../src/domain/budgets/limits.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { type Usd, usdFrom } from '../../../src/domain/money.ts';
import {
  optional,
  members,
  number,
  parseObject,
  recordOf,
  text,
  texts,
  wholeNumber,
  missingField,
} from '../http/body-fields.ts';
import { type JsonSchema, merged, objectSchema } from '../http/schema.ts';

/** An object without the members that are undefined. */
export const withoutUndefined = <Values extends JsonObject>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>;
  };

const readLimits = members({
  max_budget: optional(number),
  soft_budget: optional(number),
  budget_duration: optional(text),
  rpm_limit: optional(wholeNumber),
  tpm_limit: optional(wholeNumber),
  tpd_limit: optional(wholeNumber),
  max_parallel_requests: optional(wholeNumber),
});

/**
 * Picodollars of an amount in USD. Null and undefined stay as they are. Throws InvalidInput for an infinite amount.
 * Operations refuse negative amounts.
 */
function parseAmount(name: string, input: number | null | undefined): Usd | null | undefined {
  if (input === null || input === undefined) return input;
  const amount = usdFrom(input);
  if (amount === null) throw new InvalidInput(`${name} must be a non-negative finite number. Received: ${input}`);
  return amount;
}

/** Limits of a body. Members that were not sent are absent. Throws InvalidInput. */
export function limitsFrom(input: JsonObject): LimitsPatch {
  const values = readLimits(input);
  return withoutUndefined({
    maxBudget: parseAmount('max_budget', values.max_budget),
    softBudget: parseAmount('soft_budget', values.soft_budget),
    budgetDuration: values.budget_duration,
    rpmLimit: values.rpm_limit,
    tpmLimit: values.tpm_limit,
    tpdLimit: values.tpd_limit,
    maxParallelRequests: values.max_parallel_requests,
  });
}

const readIncrease = members({ temp_budget_increase: optional(number), temp_budget_expiry: optional(moment) });

/** Temporary increase of a budget. Members that were not sent are absent. Throws InvalidInput. */
export function increaseFrom(input: JsonObject) {
  const { temp_budget_increase: increase, temp_budget_expiry: expiry } = readIncrease(input);
  return withoutUndefined({
    tempBudgetIncrease: parseAmount('temp_budget_increase', increase),
    tempBudgetExpiry: typeof expiry === 'string' ? new Date(expiry) : expiry,
  });
}

/** Schema of the temporary increase of a budget. */
export const INCREASE_MEMBERS: JsonSchema = readIncrease.schema;

/**
 * Members of a body, renamed: `names` maps, for example, `team_member_budget` to `max_budget`. Members without an entry
 * in `names` are left out.
 */
export const renamedMembers = (input: JsonObject, names: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => (input[from] === undefined ? [] : [[to, input[from]] as const])),
  );

const readBudget = members({
  model_max_budget: optional(recordOf<unknown>((input) => ({ value: input }))),
  allowed_models: optional(texts),
});

/** Limits and other members of a budget in a body. Members that were not sent are absent. Throws InvalidInput. */
export function budgetFrom(input: JsonObject) {
  const values = readBudget(input);
  return {
    ...limitsFrom(input),
    ...withoutUndefined({ modelMaxBudget: values.model_max_budget, allowedModels: values.allowed_models }),
  };
}

const readModelLimits = members<JsonObject>({
  model_rpm_limit: optional(recordOf(wholeNumber)),
  model_tpm_limit: optional(recordOf(wholeNumber)),
});

/**
 * Limits per model, which a request may send beside `metadata` and which are stored in the metadata. Throws
 * InvalidInput.
 */
export function metadataMembersOf(input: JsonObject): { readonly metadataMembers?: JsonObject } {
  return withMetadataMembers(readModelLimits(input));
}

/**
 * The member `metadataMembers` of a patch: members that a request sends beside `metadata`. Empty object if there are
 * none.
 */
export function withMetadataMembers(input: JsonObject): { readonly metadataMembers?: JsonObject } {
  const metadataMembers = withoutUndefined(input);
  return Object.keys(metadataMembers).length === 0 ? {} : { metadataMembers };
}

/** Schema of the limits per model. */
export const MODEL_LIMITS: JsonSchema = readModelLimits.schema;

/** Schema of the members of a budget. */
export const BUDGET_MEMBERS: JsonSchema = merged(readLimits, readBudget);
/** Schema of limits. */
export const LIMITS_SCHEMA: JsonSchema = readLimits.schema;

/** Schema of limits under other names, as `renamedMembers` reads them. */
export const renamedLimitsSchema = (names: Readonly<Record<string, string>>): JsonSchema => {
  const properties = LIMITS_SCHEMA['properties'] as Readonly<Record<string, JsonSchema>>;
  return objectSchema(Object.fromEntries(Object.entries(names).map(([from, to]) => [from, properties[to] ?? {}])));
};

const readReset = members({ reset_to: number });
/**
 * Schema of a body that sets the spend. `reset_to` is required, although its reader accepts null: `resetFrom` refuses
 * null.
 */
export const RESET_BODY: JsonSchema = { ...readReset.schema, required: ['reset_to'] };

/** The spend to set, in picodollars, from `reset_to` in USD. Throws InvalidInput. */
export function resetFrom(body: Uint8Array): Usd {
  const { reset_to: input } = readReset(parseObject(body));
  if (input === null) throw missingField('reset_to');
  const amount = usdFrom(input);
  if (amount !== null) return amount;
  const issue = { path: ['body', 'reset_to'], rule: 'finite_number', message: 'Input should be a finite number' };
  throw new InvalidInput('The body is not valid.', [issue]);
}
