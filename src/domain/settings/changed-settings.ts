import { sameValue } from '../catalog/same-value.ts';
import type { SettingsChange } from './configuration.ts';
import type { StoredSections } from './ownership.ts';

/** The settings that differ between two states. */
export function changedSettings(before: StoredSections, after: StoredSections): SettingsChange['changed'] {
  const sections = new Set([...before.keys(), ...after.keys()]);
  return [...sections].flatMap((section) => {
    const [old, fresh] = [before.get(section) ?? {}, after.get(section) ?? {}];
    return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
      .filter((name) => !sameValue(old[name] ?? null, fresh[name] ?? null))
      .map((name) => ({ section, name }));
  });
}
