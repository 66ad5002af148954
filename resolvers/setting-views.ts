import { jsonObjectOf } from '../src/domain/json-object.ts';
import type { PollableStream } from '../src/domain/pollable-stream.ts';
import { ALLOWED_ADDRESSES } from '../src/domain/settings/allowed-addresses.ts';
import { UPDATED_SECTIONS } from '../src/domain/settings/config-update.ts';
import type { ConfigReload, SettingsChange } from '../src/domain/settings/configuration.ts';
import { GENERAL_FIELDS } from '../src/domain/settings/general-fields.ts';
import {
  assertRemovable,
  GENERAL,
  sectionRowOf,
  type SettingView,
  settingViewOf,
} from '../src/domain/settings/ownership.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import { ROUTER_FIELDS, unsetRouterSetting } from '../src/domain/settings/router-fields.ts';
import { LITELLM_SETTINGS, SHARED_FIELDS } from '../src/domain/settings/shared-fields.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { operation } from './operation/operation.ts';
import type { SettingsFeedPlatform, SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { readerOf, type SettingsState, settingsState, storeSettings } from './operation/settings-state.ts';
import { removeSetting, updateConfiguration, updateSetting } from './settings.ts';

/** A section whose settings can be stored. */
type SettingSection = (typeof UPDATED_SECTIONS)[number];

/** A setting with its owner, its description and its values. */
export interface DescribedSetting extends Omit<SettingView, 'section'> {
  readonly section: SettingSection;
  /** Null for an unknown setting. */
  readonly description: string | null;
  readonly defaultValue: unknown;
}

interface KnownSetting {
  readonly description: string;
  readonly defaultValue: unknown;
}

const ROUTER = 'router_settings';
const VARIABLES = 'environment_variables';

/** Known settings, by section. */
const KNOWN: Readonly<Record<SettingSection, ReadonlyMap<string, KnownSetting>>> = {
  [GENERAL]: GENERAL_FIELDS,
  [LITELLM_SETTINGS]: new Map(Object.entries(SHARED_FIELDS)),
  [ROUTER]: new Map(Object.entries(ROUTER_FIELDS)),
  [VARIABLES]: new Map(),
};

const namesIn = (value: unknown): readonly string[] => Object.keys(jsonObjectOf(value));

/** Names of known settings, then of other settings in the file and the database. */
const namesOf = (section: SettingSection, { config, stored }: SettingsState): readonly string[] => [
  ...new Set([...KNOWN[section].keys(), ...namesIn(config.declared[section]), ...namesIn(stored.get(section))]),
];

/** The value of a setting that neither the file nor the database has. */
const builtIn = (value: unknown): Pick<SettingView, 'source'> & { readonly value: unknown } => ({
  source: value === null ? 'unset' : 'default',
  value,
});

function describedSetting(
  scope: Scope<SettingsPlatform>,
  { config, stored }: SettingsState,
  section: SettingSection,
  name: string,
): DescribedSetting {
  const view = settingViewOf(config, stored, section, name);
  const known = KNOWN[section].get(name);
  const defaultValue = known?.defaultValue ?? null;
  const unsetState = section === ROUTER ? unsetRouterSetting(config, stored, name) : builtIn(defaultValue);
  const isUnset = view.source === 'unset';
  const reader = readerOf(scope);
  // Every environment variable may be a secret, so it is redacted as a member of its section.
  const visible = (value: unknown): unknown =>
    section === VARIABLES
      ? Reflect.get(redacted(VARIABLES, { [name]: value }, reader) as object, name)
      : redacted(name, value, reader);
  return {
    ...view,
    section,
    source: isUnset ? unsetState.source : view.source,
    declaredValue: visible(view.declaredValue),
    effectiveValue: isUnset ? unsetState.value : visible(view.effectiveValue),
    ignoredStoredValue: visible(view.ignoredStoredValue),
    description: known?.description ?? null,
    defaultValue,
  };
}

/** Filter of settings; null matches all. */
export interface RequestedSettings {
  readonly sections: readonly SettingSection[] | null;
  readonly names: readonly string[] | null;
}

/** Lists settings with their owners. Secrets are hidden. */
export const listSettingViews = operation({
  name: 'listSettingViews',
  access: tenantViewer,
  async run(
    scope: Scope<SettingsPlatform>,
    { sections, names }: RequestedSettings,
  ): Promise<readonly DescribedSetting[]> {
    const state = await settingsState(scope);
    return UPDATED_SECTIONS.filter((section) => sections === null || sections.includes(section)).flatMap((section) =>
      namesOf(section, state)
        .filter((name) => names === null || names.includes(name))
        .map((name) => describedSetting(scope, state, section, name)),
    );
  },
});

/**
 * A setting and its new value. Null removes the stored value, or stores the default of a setting in `SHARED_FIELDS`.
 */
export interface SettingChange {
  readonly section: SettingSection;
  readonly name: string;
  readonly value: unknown;
}

/**
 * Stores a setting of any section, or removes the stored value. Throws InvalidInput, and OwnedByFile when the
 * configuration file declares another value, or the setting to remove.
 */
export const changeSetting = operation({
  name: 'changeSetting',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, { section, name, value }: SettingChange): Promise<DescribedSetting> {
    const isShared = Object.hasOwn(SHARED_FIELDS, name);
    if (section === GENERAL && isShared) throw new InvalidInput(`${name} is a setting of ${LITELLM_SETTINGS}.`);
    // The list of allowed addresses is stored by `updateConfiguration`, which checks it.
    const byUpdateSetting = section === GENERAL ? name !== ALLOWED_ADDRESSES : section === LITELLM_SETTINGS && isShared;
    if (!byUpdateSetting) await changeOther(scope, { section, name, value });
    else if (value === null) await removeSetting(scope, { section: GENERAL, name });
    else await updateSetting(scope, { name, value });
    return describedSetting(scope, await settingsState(scope), section, name);
  },
});

/** Stores a setting that `updateSetting` and `removeSetting` do not change, or removes its stored value. */
async function changeOther(scope: Scope<SettingsPlatform>, { section, name, value }: SettingChange): Promise<void> {
  if (value !== null) return updateConfiguration(scope, { [section]: { [name]: value } });
  const { config, stored } = await settingsState(scope);
  assertRemovable(config, stored, section, name);
  await storeSettings(scope, sectionRowOf(section, name), ({ [name]: _removed, ...rest }) => rest);
}

/** Reads the outcome of the last attempt to reload the configuration file; null before the first. */
export const getConfigReload = operation({
  name: 'getConfigReload',
  access: tenantViewer,
  run: ({ platform }: Scope<SettingsPlatform>, _input: undefined): ConfigReload | null =>
    platform.configuration.lastReload(),
});

/** One change of settings. */
export interface SettingsUpdate extends SettingsChange {
  /** Updates that were dropped before this one because the reader was too slow. */
  readonly missed: number;
}

/** Streams changes of settings as this process reads them. Ends when the reader loses access. */
export const watchSettings = operation({
  name: 'watchSettings',
  access: tenantViewer,
  run(scope: Scope<SettingsFeedPlatform>, _input: undefined): PollableStream<SettingsUpdate> {
    const deliveries = scope.platform.bus.subscribe('settingsChange', { signal: scope.signal });
    return whileAllowed(deliveries, {
      scope,
      access: tenantViewer,
      show: ({ event, missed }) => ({ ...event, missed }),
    });
  },
});
