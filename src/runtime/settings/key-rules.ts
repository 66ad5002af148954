import type { KeyRules } from '../../domain/keys/generation-rules.ts';
import type { SettingValues } from './table.ts';

/** Rules for creating and changing keys. */
export const keyRulesOf = ({ keyDefaults, keyCaps, keyMakers, checksKeyAliases }: SettingValues): KeyRules => ({
  defaults: keyDefaults,
  caps: keyCaps,
  personal: keyMakers?.personal ?? null,
  team: keyMakers?.team ?? null,
  refusesUnknownTeams: keyMakers !== null,
  checksAliases: checksKeyAliases,
});
