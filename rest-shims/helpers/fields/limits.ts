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
export const defined = <Values extends JsonObject>(
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

function parseAmount(name: string, input: number | null | undefined): Usd | null | undefined {
  if (input === null || input === undefined) return input;
  const amount = usdFrom(input);
  if (amount === null) throw new InvalidInput(`${name} must be a non-negative finite number. Received: ${input}`);
  return amount;
}

/** Limits of a body. Members that were not sent are absent. Throws InvalidInput. */
export function limitsFrom(input: JsonObject): LimitsPatch {
  const read = readLimits(input);
  return defined({
    maxBudget: parseAmount('max_budget', read.max_budget),
    softBudget: parseAmount('soft_budget', read.soft_budget),
    budgetDuration: read.budget_duration,
    rpmLimit: read.rpm_limit,
    tpmLimit: read.tpm_limit,
    tpdLimit: read.tpd_limit,
    maxParallelRequests: read.max_parallel_requests,
  });
}

const readIncrease = members({ temp_budget_increase: optional(number), temp_budget_expiry: optional(moment) });

/** Temporary increase of a budget. Members that were not sent are absent. Throws InvalidInput. */
export function increaseFrom(input: JsonObject) {
  const { temp_budget_increase: increase, temp_budget_expiry: expiry } = readIncrease(input);
  return defined({
    tempBudgetIncrease: parseAmount('temp_budget_increase', increase),
    tempBudgetExpiry: typeof expiry === 'string' ? new Date(expiry) : expiry,
  });
}

/** Schema of the temporary increase of a budget. */
export const INCREASE_MEMBERS: JsonSchema = readIncrease.schema;

/** Members with other names: `names` maps the sent name to the new one, as `team_member_budget` to `max_budget`. */
export const renamed = (input: JsonObject, names: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => (input[from] === undefined ? [] : [[to, input[from]] as const])),
  );

const readBudget = members({
  model_max_budget: optional(recordOf<unknown>((input) => ({ value: input }))),
  allowed_models: optional(texts),
});

/** A budget. Members that were not sent are absent. Throws InvalidInput. */
export function budgetFrom(input: JsonObject) {
  const read = readBudget(input);
  return {
    ...limitsFrom(input),
    ...defined({ modelMaxBudget: read.model_max_budget, allowedModels: read.allowed_models }),
  };
}

const readModelLimits = members<JsonObject>({
  model_rpm_limit: optional(recordOf(wholeNumber)),
  model_tpm_limit: optional(recordOf(wholeNumber)),
});

/** Limits per model, which a request may send beside `metadata`. They are stored there. Throws InvalidInput. */
export function metadataMembersOf(input: JsonObject): { readonly metadataMembers?: JsonObject } {
  return withMetadataMembers(readModelLimits(input));
}

/** Wraps metadata members that a request sends beside `metadata`; empty without any. */
export function withMetadataMembers(input: JsonObject): { readonly metadataMembers?: JsonObject } {
  const metadataMembers = defined(input);
  return Object.keys(metadataMembers).length === 0 ? {} : { metadataMembers };
}

/** Schema of the limits per model. */
export const MODEL_LIMITS: JsonSchema = readModelLimits.schema;

/** Schema of the members of a budget. */
export const BUDGET_MEMBERS: JsonSchema = merged(readLimits, readBudget);
/** Schema of limits. */
export const LIMIT_MEMBERS: JsonSchema = readLimits.schema;

/** Schema of limits under other names. */
export const renamedLimits = (names: Readonly<Record<string, string>>): JsonSchema => {
  const properties = LIMIT_MEMBERS['properties'] as Readonly<Record<string, JsonSchema>>;
  return objectSchema(Object.fromEntries(Object.entries(names).map(([from, to]) => [from, properties[to] ?? {}])));
};

const readReset = members({ reset_to: number });
export const RESET_BODY: JsonSchema = { ...readReset.schema, required: ['reset_to'] };

/** The spend to set, in picodollars, from `reset_to` in USD. Throws InvalidInput. */
export function resetFrom(body: Uint8Array): Usd {
  const { reset_to: input } = readReset(parseObject(body));
  const amount = input === null ? null : usdFrom(input);
  if (amount !== null) return amount;
  throw missingField('reset_to');
}
