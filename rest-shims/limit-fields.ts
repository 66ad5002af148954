import { moment } from './key-metadata.ts';
import type { Budget } from '../src/domain/budgets/budget.ts';
import type { Limits, LimitsPatch } from '../src/domain/budgets/limits.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { type Usd, usdFrom, usdNumber } from '../src/domain/money.ts';
import { given, members, number, parseObject, recordOf, text, texts, wholeNumber } from './http/body-fields.ts';
import { type JsonSchema, merged, objectSchema } from './http/schema.ts';

type SentFields = Readonly<Record<string, unknown>>;

/** An object without the members that are undefined. */
export const defined = <Values extends SentFields>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>;
  };

const readLimits = members({
  max_budget: given(number),
  soft_budget: given(number),
  budget_duration: given(text),
  rpm_limit: given(wholeNumber),
  tpm_limit: given(wholeNumber),
  tpd_limit: given(wholeNumber),
  max_parallel_requests: given(wholeNumber),
});

function amountOf(name: string, sent: number | null | undefined): Usd | null | undefined {
  if (sent === null || sent === undefined) return sent;
  const amount = usdFrom(sent);
  if (amount === null) throw new InvalidInput(`${name} must be a non-negative finite number. Received: ${sent}`);
  return amount;
}

/** Reads the limits of a body; those that were left out are absent. Throws InvalidInput. */
export function limitsFrom(sent: SentFields): LimitsPatch {
  const read = readLimits(sent);
  return defined({
    maxBudget: amountOf('max_budget', read.max_budget),
    softBudget: amountOf('soft_budget', read.soft_budget),
    budgetDuration: read.budget_duration,
    rpmLimit: read.rpm_limit,
    tpmLimit: read.tpm_limit,
    tpdLimit: read.tpd_limit,
    maxParallelRequests: read.max_parallel_requests,
  });
}

const readIncrease = members({ temp_budget_increase: given(number), temp_budget_expiry: given(moment) });

/** Reads the temporary increase of a budget; members that were left out are absent. Throws InvalidInput. */
export function increaseFrom(sent: SentFields) {
  const { temp_budget_increase: increase, temp_budget_expiry: expiry } = readIncrease(sent);
  return defined({
    tempBudgetIncrease: amountOf('temp_budget_increase', increase),
    tempBudgetExpiry: typeof expiry === 'string' ? new Date(expiry) : expiry,
  });
}

/** Schema of the temporary increase of a budget. */
export const INCREASE_MEMBERS: JsonSchema = readIncrease.schema;

/** Reads members under other names, as `team_member_budget` for `max_budget`. */
export const renamed = (sent: SentFields, names: Readonly<Record<string, string>>): SentFields =>
  Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => (sent[from] === undefined ? [] : [[to, sent[from]] as const])),
  );

const readBudget = members({
  model_max_budget: given(recordOf<unknown>((sent) => ({ value: sent }))),
  allowed_models: given(texts),
});

/** Reads a budget; members that were left out are absent. Throws InvalidInput. */
export function budgetFrom(sent: SentFields) {
  const read = readBudget(sent);
  return {
    ...limitsFrom(sent),
    ...defined({ modelMaxBudget: read.model_max_budget, allowedModels: read.allowed_models }),
  };
}

const readModelLimits = members<SentFields>({
  model_rpm_limit: given(recordOf(wholeNumber)),
  model_tpm_limit: given(recordOf(wholeNumber)),
});

/** Limits of single models, which a request may send beside the metadata that has them. Throws InvalidInput. */
export function metadataMembersOf(sent: SentFields): { readonly metadataMembers?: SentFields } {
  const metadataMembers = defined(readModelLimits(sent));
  return Object.keys(metadataMembers).length === 0 ? {} : { metadataMembers };
}

/** Schema of the limits of single models. */
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

export const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null;
export const usdOf = (amount: Usd | null): number | null => (amount === null ? null : usdNumber(amount));

/** Limits as the members of a row. */
export const renderLimits = (row: Limits) => ({
  max_budget: usdOf(row.maxBudget),
  tpm_limit: row.tpmLimit,
  rpm_limit: row.rpmLimit,
  budget_duration: row.budgetDuration,
  budget_reset_at: isoOf(row.budgetResetAt),
  max_parallel_requests: row.maxParallelRequests,
});

const budgetColumns = (budget: Budget) => ({
  budget_id: budget.id,
  soft_budget: usdOf(budget.softBudget),
  ...renderLimits(budget),
  tpd_limit: budget.tpdLimit,
  model_max_budget: budget.modelMaxBudget,
  allowed_models: budget.allowedModels,
  temp_budget_increase: usdOf(budget.tempBudgetIncrease),
  temp_budget_expiry: isoOf(budget.tempBudgetExpiry),
  created_at: budget.createdAt.toISOString(),
});

/** A budget within another row; null for none. */
export const renderBudgetTable = (budget: Budget | null) => (budget === null ? null : budgetColumns(budget));

/** A budget with its author and with what refers to it, which is not listed. */
export const renderBudget = (budget: Budget) => ({
  ...budgetColumns(budget),
  created_by: budget.createdBy,
  updated_at: budget.updatedAt.toISOString(),
  updated_by: budget.updatedBy,
  organization: null,
  projects: null,
  keys: null,
  end_users: null,
  tags: null,
  model_access_groups: null,
  team_membership: null,
  organization_membership: null,
});

const readReset = members({ reset_to: number });
export const RESET_BODY: JsonSchema = { ...readReset.schema, required: ['reset_to'] };

/** Reads the amount that a spend is set to. Throws InvalidInput. */
export function resetFrom(body: Uint8Array): Usd {
  const { reset_to: sent } = readReset(parseObject(body));
  const amount = sent === null ? null : usdFrom(sent);
  if (amount !== null) return amount;
  throw new InvalidInput('The body is not valid.', [
    { path: ['body', 'reset_to'], rule: 'missing', message: 'Field required' },
  ]);
}
