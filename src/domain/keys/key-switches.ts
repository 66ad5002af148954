import type { Configuration } from '../settings/configuration.ts';
import { GENERAL, viewOf } from '../settings/ownership.ts';

/** Settings that restrict how keys are made. The file overrides values that the dashboard has stored. */
export const KEY_SWITCHES = ['disable_custom_api_keys', 'disable_key_generate_for_org_admin'] as const;

/** Whether a setting is on. A file may have it as text, from a variable. */
export function isSwitchedOn(
  configuration: Pick<Configuration, 'current' | 'stored'>,
  name: (typeof KEY_SWITCHES)[number],
): boolean {
  const { effectiveValue } = viewOf(configuration.current(), configuration.stored(), GENERAL, name);
  return effectiveValue === true || (typeof effectiveValue === 'string' && effectiveValue.toLowerCase() === 'true');
}
