import { InvalidInput } from '../../src/domain/errors.ts';
import type { KeyPatch } from '../../src/domain/keys/key-change.ts';
import { type KeyBudgetWindow, type SettingsPatch, type WantedWindow } from '../../src/domain/keys/key-settings.ts';
import { builder } from './builder.ts';
import { PERMISSION_INPUT, permissionOf } from './object-permission.ts';
import { windowLimitFields } from './shared-fields.ts';

export const KeyTypeType = builder.enumType('KeyType', {
  description: 'Purpose of a key. Decides which routes a new key may call.',
  values: {
    LLM_API: { value: 'llm_api', description: 'Calls models: `llm_api_routes`.' },
    MANAGEMENT: { value: 'management', description: 'Manages keys and other objects: `management_routes`.' },
    READ_ONLY: { value: 'read_only', description: 'Reads information: `info_routes`.' },
    DEFAULT: { value: 'default', description: 'Calls all routes that its role and `allowedRoutes` permit.' },
  } as const,
});

export const KeyBudgetWindowType = builder.objectRef<KeyBudgetWindow>('KeyBudgetWindow').implement({
  description: 'A budget of a window. The budget of the key applies, too.',
  fields: (t) => ({
    ...windowLimitFields(t),
    resetAt: t.field({
      type: 'DateTime',
      description: 'End of the current window.',
      resolve: ({ resetAt }) => new Date(resetAt),
    }),
  }),
});

export const KeyBudgetWindowInput = builder.inputType('KeyBudgetWindowInput', {
  description: 'A budget of a window.',
  fields: (t) => ({
    duration: t.string({ required: true, description: 'Length of the window, e.g. `1d`, `7d`, `30d` or `5h`.' }),
    maxBudgetUsd: t.field({
      type: 'Decimal',
      required: true,
      description: 'Maximum spend of one window, in USD; not below zero.',
    }),
  }),
});

export const KeySettingsInput = builder.inputType('KeySettingsInput', {
  description: 'Rights, limits and budgets of a key. Absent fields stay as they are; null removes a value.',
  fields: (t) => ({
    keyType: t.field({ type: KeyTypeType, description: 'Purpose of the key.' }),
    allowedRoutes: t.stringList({
      description: 'Paths, groups such as `llm_api_routes`, and prefixes with a trailing `*`; all when empty.',
    }),
    aliases: t.field({
      type: 'JSON',
      description: 'Public model names by the alias that the key uses: an object of texts.',
    }),
    permissions: t.field({
      type: 'JSON',
      description: 'Further rights: an object. Only the member `get_spend_routes` has an effect.',
    }),
    objectPermission: t.field({ type: 'JSON', description: PERMISSION_INPUT }),
    rpmLimit: t.int({ description: 'Requests per minute; null is unlimited.' }),
    tpmLimit: t.int({ description: 'Tokens per minute; null is unlimited.' }),
    maxParallelRequests: t.int({ description: 'Maximum number of concurrent calls; null is unlimited.' }),
    modelRpmLimit: t.field({ type: 'JSON', description: 'Requests per minute by model: an object of whole numbers.' }),
    modelTpmLimit: t.field({ type: 'JSON', description: 'Tokens per minute by model: an object of whole numbers.' }),
    tags: t.stringList({ description: 'Tags of the key.' }),
    enforcedParams: t.stringList({
      description: 'Parameters that each model call must have, e.g. `user` or `metadata.job`.',
    }),
    softBudgetUsd: t.field({
      type: 'Decimal',
      description: 'Budget in USD that sends an alert and refuses no call; not below zero.',
    }),
    budgetDuration: t.string({ description: 'Budget period, e.g. `1d`, `7d` or `30d`.' }),
    budgetLimits: t.field({ type: [KeyBudgetWindowInput], description: 'Budgets of further windows.' }),
  }),
});

type SettingsFields = typeof KeySettingsInput.$inferInput;

const invalidMember = (member: string, message: string): InvalidInput =>
  new InvalidInput(`\`${member}\` is not valid.`, [{ path: ['input', 'settings', member], rule: 'type', message }]);

/**
 * Reads a member that is an object with values of one type. Null and undefined are returned as they are. Throws
 * InvalidInput for any other value.
 */
function recordOf<Value>(
  input: SettingsFields,
  member: 'aliases' | 'modelRpmLimit' | 'modelTpmLimit' | 'permissions',
  isValue: (value: unknown) => value is Value,
): Readonly<Record<string, Value>> | null | undefined {
  const value: unknown = input[member];
  if (value === null || value === undefined) return value;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidMember(member, 'must be an object');
  const entries = Object.entries(value).map(([name, inner]): [string, Value] => {
    if (!isValue(inner)) throw invalidMember(member, `has an invalid value for ${name}`);
    return [name, inner];
  });
  return Object.fromEntries(entries);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value);
const isAny = (_value: unknown): _value is unknown => true;

/** Members that are not undefined. In a patch, an undefined member changes nothing, and null removes a value. */
const definedMembers = <Values extends object>(
  values: Values,
): { readonly [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values;

/** Requested budgets of further windows. Throws InvalidInput for a negative amount. */
export function windowsOf(input: SettingsFields['budgetLimits']): readonly WantedWindow[] | null | undefined {
  if (input === null) return null;
  return input?.map(({ duration, maxBudgetUsd }) => {
    if (maxBudgetUsd.startsWith('-')) throw invalidMember('budgetLimits', 'must not be below zero');
    return { budgetDuration: duration, maxBudget: maxBudgetUsd };
  });
}

/**
 * Settings that a client sent, as a change of a key. `metadataMembers` are those that a key stores in its metadata,
 * under the names of the reference. Throws InvalidInput for an invalid setting.
 */
export function settingsOf(
  input: SettingsFields | null | undefined,
): Pick<KeyPatch, 'settings' | 'metadataMembers' | 'budgetLimits' | 'budgetDuration'> {
  if (input === null || input === undefined) return {};
  const { keyType, allowedRoutes, rpmLimit, tpmLimit, maxParallelRequests, softBudgetUsd } = input;
  if (softBudgetUsd?.startsWith('-') === true) throw invalidMember('softBudgetUsd', 'must not be below zero');
  const settings: Omit<SettingsPatch, 'budgetLimits'> = definedMembers({
    keyType,
    allowedRoutes,
    aliases: recordOf(input, 'aliases', isText),
    permissions: recordOf(input, 'permissions', isAny),
    ...permissionOf(input),
    rpmLimit,
    tpmLimit,
    maxParallelRequests,
    softBudget: softBudgetUsd,
  });
  const metadataMembers = definedMembers({
    model_rpm_limit: recordOf(input, 'modelRpmLimit', isCount),
    model_tpm_limit: recordOf(input, 'modelTpmLimit', isCount),
    tags: input.tags,
    enforced_params: input.enforcedParams,
  });
  return {
    settings,
    metadataMembers,
    ...definedMembers({ budgetLimits: windowsOf(input.budgetLimits), budgetDuration: input.budgetDuration }),
  };
}
