import { isJsonObject } from '../json-object.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import { assertCostDiscounts, assertCostMargins } from './cost-adjustments.ts';
import { fileValuesOf } from './group-owners.ts';
import { type DeclaredConfig, type StoredSections, settingViewOf } from './ownership.ts';
import { REDACTED } from './redaction.ts';
import { type GroupField, type GroupName, SETTING_GROUPS, type SettingGroup } from './setting-groups.ts';
import { type SectionContent, withoutNulls } from './stored-section.ts';
import { EXPECTED_VALUES, isOfKind, canonicalValue, type ValueKind } from './value-kinds.ts';

type Expectation = readonly [rule: string, message: string];

const EXPECTED: Readonly<Record<ValueKind, Expectation>> = {
  integer: ['int_parsing', 'Input should be a valid integer'],
  number: ['float_parsing', 'Input should be a valid number'],
  flag: ['bool_parsing', 'Input should be a valid boolean'],
  text: ['string_type', 'Input should be a valid string'],
  duration: ['value_error', `Value error, expected ${EXPECTED_VALUES.duration}`],
  window: ['value_error', `Value error, expected ${EXPECTED_VALUES.window}`],
  windows: ['value_error', `Value error, expected ${EXPECTED_VALUES.windows}`],
  address: ['value_error', `Value error, expected ${EXPECTED_VALUES.address}`],
  list: ['list_type', 'Input should be a valid list'],
  texts: ['list_type', 'Input should be a valid list of strings'],
  map: ['dict_type', 'Input should be a valid dictionary'],
  objects: ['list_type', 'Input should be a valid list'],
  any: ['value_error', 'Input is not valid'],
};
const NEGATIVE: Expectation = ['greater_than_equal', 'Input should be greater than or equal to 0'];

const expectationOf = (kind: ValueKind, value: unknown): Expectation =>
  (kind === 'integer' || kind === 'number') && typeof value === 'number' && value < 0 ? NEGATIVE : EXPECTED[kind];

/** Settings of a group: from the file where it declares them, else from the database. Empty without either. */
export function valuesOfGroup(name: GroupName, config: DeclaredConfig, stored: StoredSections): SectionContent {
  const group = SETTING_GROUPS[name];
  if (group.member === null)
    return withoutNulls({ ...stored.get(group.section), ...fileValuesOf(name, group, config) });
  const { effectiveValue } = settingViewOf(config, stored, group.section, group.member);
  return isJsonObject(effectiveValue) ? withoutNulls(effectiveValue) : {};
}

/** A field by its name; undefined for an unknown name. A caller chose the name: it may be `constructor`. */
const fieldOf = (fields: SettingGroup['fields'], name: string): GroupField | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

function issueOf(name: string, value: unknown, { fields }: SettingGroup): readonly Issue[] {
  const field = fieldOf(fields, name);
  if (field === undefined) return [];
  const place = { path: ['body', name], input: value };
  if (!isOfKind(field.kind, value)) {
    const [rule, message] = expectationOf(field.kind, value);
    return [{ ...place, rule, message }];
  }
  const { choices } = field;
  if (choices === null || value === null) return [];
  const isChoice = (one: unknown): boolean => choices.includes(String(one));
  if (Array.isArray(value) ? value.every(isChoice) : isChoice(value)) return [];
  const expected = choices.map((choice) => `'${choice}'`).join(', ');
  return [{ ...place, rule: 'literal_error', message: `Input should be one of ${expected}`, context: { expected } }];
}

/** Checks of whole groups. */
const CHECKS: { readonly [Name in GroupName]?: (values: SectionContent) => void } = {
  costDiscount: assertCostDiscounts,
  costMargin: assertCostMargins,
  cache: assertSingleServer,
};

/** Throws InvalidInput for a cluster or sentinels as the server of the cache of answers. */
function assertSingleServer({ redis_type: type }: SectionContent): void {
  if (type !== 'cluster' && type !== 'sentinel') return;
  const message = `Value error, the type '${type}' is not supported: use 'node'`;
  throw new InvalidInput(message, [{ path: ['body', 'redis_type'], rule: 'value_error', message, input: type }]);
}

/**
 * The settings of a group after a write. Unknown ones are ignored where the group lists its settings, and a null
 * removes one. A redacted secret keeps the stored one, where the group's writes merge. Throws InvalidInput.
 */
export function writtenValues(
  name: GroupName,
  group: SettingGroup,
  sent: SectionContent,
  before: SectionContent,
): SectionContent {
  const written = sentValues(name, group, sent);
  return withoutNulls(group.writes === 'replace' ? written : { ...before, ...written });
}

/** The sent settings that the group has; all of them where the group does not list its settings. */
function knownOf({ fields }: SettingGroup, sent: SectionContent): SectionContent {
  const names = Object.keys(fields);
  return names.length === 0 ? sent : Object.fromEntries(Object.entries(sent).filter(([name]) => names.includes(name)));
}

/** Throws InvalidInput for settings of a group that are not valid. Unknown ones are not checked. */
export function assertGroupValues(name: GroupName, group: SettingGroup, sent: SectionContent): void {
  const known = knownOf(group, sent);
  const issues = Object.entries(known).flatMap(([setting, value]) => issueOf(setting, value, group));
  if (issues.length > 0) throw new InvalidInput('The settings are not valid.', issues);
  CHECKS[name]?.(known);
}

/**
 * The settings of a group that a request sends, with canonical values. Unknown and redacted ones are left out. Throws
 * InvalidInput.
 */
export function sentValues(name: GroupName, group: SettingGroup, sent: SectionContent): SectionContent {
  assertGroupValues(name, group, sent);
  const known = knownOf(group, sent);
  return Object.fromEntries(
    Object.entries(known)
      .filter(([, value]) => value !== REDACTED)
      .map(([setting, value]) => [setting, canonicalValue(fieldOf(group.fields, setting)?.kind ?? 'any', value)]),
  );
}
