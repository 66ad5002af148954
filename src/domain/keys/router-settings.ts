import type { JsonObject } from '../json-object.ts';
import type { VirtualKey } from './virtual-key.ts';

/**
 * Settings of the router for the calls of a key: its own, then those of its team. A null sets nothing. Null for a key
 * without any.
 */
export function routerSettingsOf({ settings, owners }: VirtualKey): JsonObject | null {
  const own = settings.routerSettings;
  const ofTeam = owners?.team?.routerSettings;
  if (own === undefined && ofTeam === undefined) return null;
  const merged = { ...withoutNulls(ofTeam), ...withoutNulls(own) };
  return Object.keys(merged).length === 0 ? null : merged;
}

const withoutNulls = (settings: Readonly<Record<string, unknown>> | undefined): JsonObject =>
  Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== null && value !== undefined));
