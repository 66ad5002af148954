import type { JsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { STRATEGIES } from '../routing/selection-policy.ts';
import { valueFaults } from '../settings/value-faults.ts';
import type { VirtualKey } from './virtual-key.ts';

/**
 * Flags that can restrict calls, with the value that restricts nothing. A key cannot remove a restriction of its team.
 */
export const UNRESTRICTED: Readonly<Record<string, boolean>> = {
  enable_tag_filtering: false,
  tag_filtering_match_any: true,
  enable_pre_call_checks: false,
};

/**
 * `router_settings` for the calls of a key: those of its team, overridden by those of the key. A setting with the value
 * null counts as absent. Returns null when no setting is left.
 */
export function routerSettingsOf({ settings, owners }: VirtualKey): JsonObject | null {
  const ofKey = settings.routerSettings;
  const ofTeam = owners?.team?.routerSettings;
  if (ofKey === undefined && ofTeam === undefined) return null;
  const merged: Record<string, unknown> = { ...withoutNulls(ofTeam), ...withoutNulls(ofKey) };
  for (const [name, unrestricted] of Object.entries(UNRESTRICTED))
    if (ofTeam?.[name] === !unrestricted) merged[name] = !unrestricted;
  return Object.keys(merged).length === 0 ? null : merged;
}

const withoutNulls = (settings: Readonly<Record<string, unknown>> | undefined): JsonObject =>
  Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== null && value !== undefined));

const SECTION = 'router_settings';

/**
 * Throws InvalidInput for `router_settings` of a key or a team with a value of a wrong type, or an unknown strategy.
 */
export function assertRouterSettings(settings: Readonly<Record<string, unknown>> | null | undefined): void {
  const issues = Object.entries(settings ?? {}).flatMap(([name, value]) =>
    faultsOf(name, value).map(({ path, message }) => ({
      path: ['body', SECTION, name, ...path],
      rule: 'value_error',
      message: `Value error, ${SECTION}.${[name, ...path].join('.')} ${message}`,
    })),
  );
  if (issues.length > 0) throw new InvalidInput('The router settings are not valid.', issues);
}

function faultsOf(name: string, value: unknown): ReturnType<typeof valueFaults> {
  const faults = valueFaults(SECTION, name, value);
  if (faults.length > 0 || name !== 'routing_strategy' || value === null) return faults;
  const isKnown = STRATEGIES.some((strategy) => strategy === value);
  return isKnown ? [] : [{ path: [], message: `is not one of ${STRATEGIES.join(', ')}` }];
}
