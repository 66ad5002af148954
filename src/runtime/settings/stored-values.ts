import { type ValueFault, valueFaults } from '../../domain/settings/value-faults.ts';
import type { Setting } from './setting.ts';
import { storedVariableFaults } from './stored-variables.ts';
import { SETTINGS } from './table.ts';

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
  if (file !== setting && file?.startsWith(`${setting}.`) !== true) return [];
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
