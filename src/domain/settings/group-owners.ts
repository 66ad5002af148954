import { sameValue } from '../catalog/same-value.ts';
import {
  type DeclaredConfig,
  GENERAL,
  isDeclared,
  OwnedByFile,
  type StoredSections,
  settingViewOf,
} from './ownership.ts';
import type { GroupName, SettingGroup } from './setting-groups.ts';
import { LITELLM_SETTINGS } from './shared-fields.ts';
import type { SectionContent } from './stored-section.ts';

/** Place of a setting in the configuration file: section, key, and the key below it, if any. */
type FilePlace = readonly [section: string, name: string, below?: string];

/** Settings of the shared Redis server that the file has among those of the router. */
const ROUTER_REDIS: ReadonlySet<string> = new Set(['host', 'port', 'password', 'url']);
/** Settings of the sign-in that the file has among the general ones. */
const GENERAL_SSO: ReadonlySet<string> = new Set(['proxy_base_url', 'ui_access_mode']);

/** Where the file can declare a setting of a group that is stored in a separate section. */
const PLACES: { readonly [Name in GroupName]?: (field: string) => FilePlace | null } = {
  ui: (field) => [GENERAL, field],
  sso: (field) => (GENERAL_SSO.has(field) ? [GENERAL, field] : null),
  blockUnpriced: () => [LITELLM_SETTINGS, 'block_requests_for_models_without_pricing'],
  cache: (field) => [LITELLM_SETTINGS, 'cache_params', field],
  coordinationRedis: (field) => (ROUTER_REDIS.has(field) ? ['router_settings', `redis_${field}`] : null),
};

const hasMember = (value: unknown, name: string): value is SectionContent =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name);

/** A setting of a group that the file declares, and its value. */
interface OwnedField {
  readonly field: string;
  readonly place: FilePlace;
  readonly value: unknown;
}

function ownedFields(name: GroupName, { fields }: SettingGroup, config: DeclaredConfig): readonly OwnedField[] {
  const placeOf = PLACES[name];
  if (placeOf === undefined) return [];
  return Object.keys(fields).flatMap((field) => {
    const place = placeOf(field);
    if (place === null || !isDeclared(config, place[0], place[1])) return [];
    const [section, key, below] = place;
    const { effectiveValue } = settingViewOf(config, new Map(), section, key);
    if (below === undefined) return [{ field, place, value: effectiveValue }];
    return hasMember(effectiveValue, below) ? [{ field, place, value: effectiveValue[below] ?? null }] : [];
  });
}

/** Values of a group that the file declares. They take precedence over stored ones. */
export const fileValuesOf = (name: GroupName, group: SettingGroup, config: DeclaredConfig): SectionContent =>
  Object.fromEntries(ownedFields(name, group, config).map(({ field, value }) => [field, value]));

/**
 * Throws OwnedByFile when the file declares another value of a written setting. A written null, which removes a
 * setting, is compared as any other value.
 */
export function assertGroupWritable(
  { name, group }: { readonly name: GroupName; readonly group: SettingGroup },
  { config, stored }: { readonly config: DeclaredConfig; readonly stored: StoredSections },
  written: SectionContent,
): void {
  const refused = ownedFields(name, group, config).filter(
    ({ field, value }) => Object.hasOwn(written, field) && !sameValue(value, written[field]),
  );
  const keys = new Map(refused.map(({ place: [section, key] }) => [key, settingViewOf(config, stored, section, key)]));
  const [first, ...more] = keys.values();
  if (first !== undefined) throw new OwnedByFile([first, ...more], config);
}
