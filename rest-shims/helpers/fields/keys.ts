import type { JsonObject } from '../../../src/domain/json-object.ts';
import { ROLES } from '../../../src/domain/role.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import type { KeyPatch } from '../../../src/domain/keys/key-change.ts';
import type { KeyDraft } from '../../../src/domain/keys/key-draft.ts';
import {
  KEY_TYPES,
  METADATA_MEMBERS,
  type ModelBudget,
  type SettingsPatch,
} from '../../../src/domain/keys/key-settings.ts';
import { type Usd, usdFrom, usdText } from '../../../src/domain/money.ts';
import {
  type FieldReader,
  flag,
  optional,
  listOf,
  members,
  number,
  object,
  oneOf,
  parseObject,
  recordOf,
  requiredText,
  text,
  texts,
  wholeNumber,
  missingField,
} from '../http/body-fields.ts';
import { budgetWindow, NOT_AN_AMOUNT } from './budget-windows.ts';
import { METADATA, orNull } from './key-metadata.ts';
import { type JsonSchema, merged, objectSchema } from '../http/schema.ts';
import { isEmpty } from '../http/ignored-members.ts';
import { object as objectIn } from '../../../src/wire/json/fields.ts';

/** A text; null when absent or empty. */
const emptyIsNull: FieldReader<string | null> = (input) => (input === '' ? { value: null } : text(input));

/**
 * Limits of a model: the budget as `budget_limit` or `max_budget`, its period, and rates as `rpm_limit` and
 * `tpm_limit`. Throws InvalidInput for a negative budget.
 */
const modelBudget: FieldReader<ModelBudget | null> = (input) => {
  const inner = objectIn(input);
  const amount = number(inner['budget_limit'] ?? inner['max_budget']);
  const period = inner['time_period'] ?? inner['budget_duration'];
  if (!('value' in amount)) return amount;
  const budget = amount.value === null ? null : usdFrom(amount.value);
  if (budget === null && amount.value !== null) return NOT_AN_AMOUNT;
  // Only for its check: `parseAmount` throws for a negative budget.
  parseAmount(amount.value, 'model_max_budget');
  const [rpm, tpm] = [wholeNumber(inner['rpm_limit'] ?? null), wholeNumber(inner['tpm_limit'] ?? null)];
  if (!('value' in rpm)) return rpm;
  if (!('value' in tpm)) return tpm;
  return {
    value: {
      budgetLimit: budget === null ? null : usdText(budget),
      timePeriod: typeof period === 'string' ? period : null,
      ...(rpm.value === null ? {} : { rpmLimit: rpm.value }),
      ...(tpm.value === null ? {} : { tpmLimit: tpm.value }),
    },
  };
};

/** Members that are columns of a key. */
const COLUMNS = {
  key_alias: text,
  duration: text,
  models: texts,
  max_budget: number,
  budget_duration: text,
  budget_limits: listOf(budgetWindow),
  spend: number,
  user_id: text,
  team_id: text,
  user_role: oneOf(ROLES),
  metadata: object,
  blocked: flag,
};

/** Members that are settings: name in the domain, and reader. */
const SETTINGS = {
  key_type: ['keyType', oneOf(KEY_TYPES)],
  allowed_routes: ['allowedRoutes', orNull(texts)],
  aliases: ['aliases', recordOf(text)],
  permissions: ['permissions', orNull(object)],
  config: ['config', orNull(object)],
  allowed_cache_controls: ['allowedCacheControls', orNull(texts)],
  object_permission: ['objectPermission', orNull(object)],
  router_settings: ['routerSettings', orNull(object)],
  agent_id: ['agentId', text],
  budget_id: ['budgetId', emptyIsNull],
  end_user_budget_id: ['endUserBudgetId', emptyIsNull],
  project_id: ['projectId', emptyIsNull],
  organization_id: ['organizationId', emptyIsNull],
  access_group_ids: ['accessGroupIds', orNull(texts)],
  rpm_limit: ['rpmLimit', wholeNumber],
  tpm_limit: ['tpmLimit', wholeNumber],
  tpd_limit: ['tpdLimit', wholeNumber],
  max_parallel_requests: ['maxParallelRequests', wholeNumber],
  model_max_budget: ['modelMaxBudget', recordOf(modelBudget)],
  budget_fallbacks: ['budgetFallbacks', recordOf(orNull(texts))],
  auto_rotate: ['autoRotate', flag],
  rotation_interval: ['rotationInterval', text],
} as const satisfies Readonly<Record<string, readonly [keyof SettingsPatch, FieldReader<unknown>]>>;

/** Members of unsupported features, with the error for each (400). */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  enable_prompt_caching: 'The gateway does not add prompt caching. Remove enable_prompt_caching from the request.',
};

/** Known members that are read separately: names of keys, rotation and soft budget. */
const OTHER_MEMBERS = new Set([
  'key',
  'keys',
  'key_aliases',
  'new_key',
  'new_master_key',
  'grace_period',
  'soft_budget',
]);

function assertNoUnsupported(input: JsonObject): void {
  for (const [member, message] of Object.entries(UNSUPPORTED))
    if (!isEmpty(input[member])) throw new InvalidInput(message, [], { field: member });
}

/** Names of members with a value but without effect, such as `send_invite_email`. */
export function ignoredMembers(body: Uint8Array): readonly string[] {
  const knownMembers = new Set([
    ...Object.keys({ ...COLUMNS, ...SETTINGS, ...METADATA, ...UNSUPPORTED }),
    ...OTHER_MEMBERS,
  ]);
  return Object.entries(parseObject(body))
    .filter(([name, value]) => !knownMembers.has(name) && !isEmpty(value))
    .map(([name]) => name);
}

const settingReaders = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, [, read]]) => [name, optional(read as FieldReader<unknown>)]),
);
const metadataReaders = Object.fromEntries(Object.entries(METADATA).map(([name, read]) => [name, optional(read)]));

const settingAndMetadataReaders = { ...settingReaders, ...metadataReaders, soft_budget: optional(number) };

const readDraft = members({ key: text, ...COLUMNS });
/** The members of `COLUMNS` in a change: an absent member stays unchanged. */
const CHANGES = {
  key_alias: optional(text),
  duration: optional(text),
  models: optional(texts),
  max_budget: optional(number),
  budget_duration: optional(text),
  budget_limits: optional(listOf(budgetWindow)),
  spend: optional(number),
  user_id: optional(text),
  team_id: optional(text),
  user_role: optional(oneOf(ROLES)),
  metadata: optional(object),
  blocked: optional(flag),
};
const readChanges = members(CHANGES);
const readSettings = members<JsonObject>(settingAndMetadataReaders);
const readNamed = members({ key: requiredText });
const readRotation = members({ key: text, new_key: text, grace_period: text });

/** Settings and metadata members of a body. Members that were not sent are absent. */
function parseSettings(
  input: JsonObject,
  path?: Issue['path'],
): { readonly settings: SettingsPatch; readonly metadataMembers: JsonObject } {
  const values = readSettings(input, path);
  const settings = Object.entries(SETTINGS).flatMap(([name, [member]]) =>
    values[name] === undefined ? [] : [[member, values[name]] as const],
  );
  const softInput = values['soft_budget'];
  const softBudget = typeof softInput === 'number' ? usdText(parseAmount(softInput, 'soft_budget') as Usd) : softInput;
  const metadataMembers = METADATA_MEMBERS.flatMap((name) =>
    values[name] === undefined ? [] : [[name, values[name]] as const],
  );
  return {
    settings: { ...Object.fromEntries(settings), ...(softBudget === undefined ? {} : { softBudget }) } as SettingsPatch,
    metadataMembers: Object.fromEntries(metadataMembers),
  };
}

/**
 * Runs all readers and throws one InvalidInput with all their issues, in reader order. Returns the value of the first
 * reader.
 */
function allValid<Value>(...reads: readonly [() => Value, ...(() => unknown)[]]): Value {
  const issues = reads.flatMap((read) => {
    try {
      read();
      return [];
    } catch (error) {
      if (error instanceof InvalidInput && error.issues.length > 0) return error.issues;
      throw error;
    }
  });
  if (issues.length > 0) throw new InvalidInput('The body is not valid.', issues);
  return reads[0]();
}

/** Picodollars of an amount in USD; null stays null. Throws InvalidInput for a negative or infinite amount. */
function parseAmount(
  input: number | null,
  member: 'max_budget' | 'model_max_budget' | 'soft_budget' | 'spend' = 'max_budget',
): Usd | null {
  if (input === null) return null;
  const amount = input < 0 ? null : usdFrom(input);
  if (amount !== null) return amount;
  throw new InvalidInput(`${member} must be a non-negative finite number. Received: ${input}`);
}

/** Reads a new key from a body. Throws InvalidInput; Forbidden for a member of `UNSUPPORTED_GUARDS`. */
export function parseDraft(body: Uint8Array): KeyDraft {
  const input = parseObject(body);
  const values = allValid(
    () => readDraft(input),
    () => readSettings(input),
  );
  assertNoUnsupported(input);
  return {
    key: values.key,
    alias: values.key_alias,
    role: values.user_role,
    teamId: values.team_id,
    userId: values.user_id,
    models: values.models,
    maxBudget: parseAmount(values.max_budget),
    duration: values.duration,
    metadata: values.metadata,
    budgetDuration: values.budget_duration,
    budgetLimits: values.budget_limits,
    spend: parseAmount(values.spend, 'spend'),
    blocked: values.blocked,
    ...parseSettings(input),
  };
}

/**
 * The patch of a body, or of the object at a path of it. A member that was not sent is absent. For `spend`,
 * `user_role` and `blocked`, null counts as not sent. Throws InvalidInput.
 */
export function parsePatch(input: JsonObject, path?: Issue['path']): KeyPatch {
  const values = allValid(
    () => readChanges(input, path),
    () => readSettings(input, path),
  );
  assertNoUnsupported(input);
  const { key_alias: alias, duration, models, user_id: userId, team_id: teamId, metadata, blocked } = values;
  const spend = values.spend === undefined || values.spend === null ? null : parseAmount(values.spend, 'spend');
  return {
    ...(alias === undefined ? {} : { alias }),
    ...(duration === undefined ? {} : { duration }),
    ...(models === undefined ? {} : { models }),
    ...(values.max_budget === undefined ? {} : { maxBudget: parseAmount(values.max_budget) }),
    ...(values.budget_duration === undefined ? {} : { budgetDuration: values.budget_duration }),
    ...(values.budget_limits === undefined ? {} : { budgetLimits: values.budget_limits }),
    ...(spend === null ? {} : { spend }),
    ...(userId === undefined ? {} : { userId }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(values.user_role === undefined || values.user_role === null ? {} : { role: values.user_role }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(blocked === undefined || blocked === null ? {} : { blocked }),
    ...parseSettings(input, path),
  };
}

/** Maximum number of keys in one bulk update. */
const MAX_UPDATES = 500;

/** Schemas of the request bodies of key routes. */
export const KEY_DRAFT: JsonSchema = merged(readDraft, readSettings);
export const KEY_CHANGE: JsonSchema = merged(readChanges, readSettings, readNamed);
export const KEY_CHANGES: JsonSchema = objectSchema(
  { keys: { type: 'array', items: KEY_CHANGE, minItems: 1, maxItems: MAX_UPDATES } },
  ['keys'],
);
export const KEY_ROTATION: JsonSchema = merged(readChanges, readSettings, readRotation);

export interface NamedChange {
  readonly key: string;
  readonly patch: KeyPatch;
}

export function parseUpdate(body: Uint8Array): NamedChange {
  const input = parseObject(body);
  return { key: readNamed(input).key, patch: parsePatch(input) };
}

/**
 * Changes of 1 to `MAX_UPDATES` keys. Throws InvalidInput for another number; InvalidInput or Forbidden for an invalid
 * change.
 */
export function parseUpdates(body: Uint8Array): readonly NamedChange[] {
  const { keys } = parseObject(body);
  if (!Array.isArray(keys) || keys.length === 0)
    throw new InvalidInput('No keys provided for update', [], { field: 'keys' });
  if (keys.length > MAX_UPDATES)
    throw new InvalidInput(`Maximum ${MAX_UPDATES} keys can be updated at once`, [], { field: 'keys' });
  return keys.map((one) => {
    const input = objectIn(one);
    return { key: readNamed(input).key, patch: parsePatch(input) };
  });
}

/**
 * A rotation. The key in the path has precedence over that in the body. Throws InvalidInput without a key; InvalidInput
 * or Forbidden for an invalid body.
 */
export function parseRotation(body: Uint8Array, keyInPath: string | undefined) {
  const input = body.length === 0 && keyInPath !== undefined ? {} : parseObject(body);
  const { key, new_key: newKey, grace_period: gracePeriod } = readRotation(input);
  const rotatedKey = keyInPath ?? key;
  if (rotatedKey === null) throw missingField('key');
  return { key: rotatedKey, newKey, gracePeriod, patch: parsePatch(input) };
}
