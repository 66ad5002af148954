import { InvalidInput } from '../errors.ts';
import { ALERTING_FIELDS } from './alerting-fields.ts';
import { GENERAL_FIELDS } from './general-fields.ts';
import { assertGroupValues } from './group-values.ts';
import { GENERAL } from './ownership.ts';
import { ROUTER_FIELDS, type RouterField } from './router-fields.ts';
import { type GroupName, SETTING_GROUPS } from './setting-groups.ts';
import { LITELLM_SETTINGS, sharedFieldOf } from './shared-fields.ts';
import type { SectionContent } from './stored-section.ts';
import { EXPECTED_VALUES, isOfKind, type ValueKind } from './value-kinds.ts';

/** A wrong value of a setting, or of a part of it. */
export interface ValueFault {
  readonly path: readonly string[];
  /** Completes a sentence that begins with the setting. */
  readonly message: string;
}

const ROUTER_KINDS: Readonly<Record<RouterField['type'], ValueKind>> = {
  String: 'text',
  Integer: 'integer',
  Float: 'number',
  Boolean: 'flag',
  List: 'list',
  Dictionary: 'map',
};

/** Faults of a value by the kind of its setting, in each section. No faults for an unknown setting and for null. */
export function valueFaults(section: string, name: string, value: unknown): readonly ValueFault[] {
  if (value === null) return [];
  if (section === GENERAL) return generalFaults(name, value);
  if (section === LITELLM_SETTINGS) return sharedFaults(name, value);
  const field = section === 'router_settings' ? fieldOf(ROUTER_FIELDS, name) : undefined;
  return field === undefined ? [] : kindFaults(ROUTER_KINDS[field.type], value, []);
}

const kindFaults = (kind: ValueKind, value: unknown, path: readonly string[]): readonly ValueFault[] =>
  isOfKind(kind, value) ? [] : [{ path, message: `is not ${EXPECTED_VALUES[kind]}` }];

const fieldOf = <Field>(fields: Readonly<Record<string, Field>>, name: string): Field | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

function generalFaults(name: string, value: unknown): readonly ValueFault[] {
  const faults = kindFaults(GENERAL_FIELDS.get(name)?.kind ?? 'any', value, []);
  if (faults.length > 0 || name !== 'alerting_args') return faults;
  return Object.entries(value as SectionContent).flatMap(([member, part]) => {
    const field = fieldOf(ALERTING_FIELDS, member);
    return field === undefined ? [] : kindFaults(field.kind, part, [member]);
  });
}

function sharedFaults(name: string, value: unknown): readonly ValueFault[] {
  const field = sharedFieldOf(name);
  // Only the routes accept an empty text, so the message does not offer it.
  if (field !== undefined)
    return field.accepts(value) ? [] : [{ path: [], message: `is not ${field.expected.replace(/,? or empty$/, '')}` }];
  const group = groupOf(name);
  if (group === undefined) return [];
  if (!isOfKind('map', value)) return [{ path: [], message: `is not ${EXPECTED_VALUES.map}` }];
  try {
    assertGroupValues(group, SETTING_GROUPS[group], value as SectionContent);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const { issues } = error;
    if (issues.length === 0) return [{ path: [], message: `is not valid: ${error.message}` }];
    // The path of an issue begins with `body`.
    return issues.map(({ path, message }) => ({
      path: path.slice(1).map(String),
      message: `is not valid: ${message}`,
    }));
  }
}

/** The group that a setting of `litellm_settings` contains. */
const groupOf = (name: string): GroupName | undefined =>
  (Object.keys(SETTING_GROUPS) as GroupName[]).find((group) => {
    const { section, member } = SETTING_GROUPS[group];
    return section === LITELLM_SETTINGS && member === name;
  });
