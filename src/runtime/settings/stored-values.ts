import { FIXED_FIELDS, GENERAL_FIELDS } from '../../domain/settings/general-fields.ts';
import { type ValueFault, valueFaults } from '../../domain/settings/value-faults.ts';
import { isLive } from './live-settings.ts';
import type { Setting } from './setting.ts';
import { storedVariableFaults } from './stored-variables.ts';
import { type SettingName, SETTINGS, type SettingValues } from './table.ts';
import type { SettingsRead } from './values.ts';

const ROWS: readonly Setting[] = Object.values(SETTINGS);

/** Faults of a value that would be stored: by the kind of the setting, and by the rules of the configuration file. */
export function storedValueFaults(section: string, name: string, value: unknown): readonly ValueFault[] {
  if (value === null) return [];
  if (section === 'environment_variables') return storedVariableFaults(name, value);
  const faults = valueFaults(section, name, value);
  return faults.length > 0 ? faults : ROWS.flatMap((row) => rowFaults(row, `${section}.${name}`, value));
}

/** Faults by a row of the table, whose value may be a part of the setting. */
function rowFaults({ kind, file }: Setting, setting: string, value: unknown): readonly ValueFault[] {
  if (file === undefined) return [];
  const isRowOfSetting = file === setting || file.startsWith(`${setting}.`);
  if (!isRowOfSetting) return [];
  const path = file.slice(setting.length).split('.').slice(1);
  let part = value;
  for (const step of path) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, step)) return [];
    part = Reflect.get(part, step) as unknown;
  }
  if (part === null) return [];
  const parsed = kind.parse(part, 'file');
  if (!('refusals' in parsed)) return [];
  return parsed.refusals.map(({ path: below = [], message }) => ({ path: [...path, ...below.map(String)], message }));
}

const GENERAL = 'general_settings';

/** Settings that are needed before stored ones can be read. */
const NEVER_STORED: ReadonlySet<string> = new Set([...FIXED_FIELDS, 'store_model_in_db']);

/** Rows of the table that a start takes from stored `general_settings`, with the name of the setting. */
const STORABLE = Object.entries<Setting>(SETTINGS).flatMap(([row, { file, kind }]) => {
  if (file === undefined || !file.startsWith(`${GENERAL}.`)) return [];
  const name = file.slice(GENERAL.length + 1);
  const isStorable = GENERAL_FIELDS.has(name) && !NEVER_STORED.has(name) && !isLive(file);
  return isStorable ? [{ row: row as SettingName, name, kind }] : [];
});

/**
 * Values of the table with stored `general_settings`, where neither arguments, environment nor file set them. Settings
 * that apply without a restart (`isLive`) are not read here. A stored value of a wrong type is ignored.
 */
export function withStoredGeneral(
  { values, originOf }: Pick<SettingsRead, 'values' | 'originOf'>,
  valueOf: (name: string) => unknown,
): SettingValues {
  const found = STORABLE.flatMap(({ row, name, kind }): [SettingName, unknown][] => {
    const stored = valueOf(name);
    if (originOf(row).from !== 'default' || stored === undefined || stored === null) return [];
    const parsed = kind.parse(stored, 'file');
    return 'value' in parsed ? [[row, parsed.value]] : [];
  });
  return found.length === 0 ? values : { ...values, ...Object.fromEntries(found) };
}
