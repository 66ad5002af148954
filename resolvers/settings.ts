import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { ALLOWED_ADDRESSES } from '../src/domain/settings/allowed-addresses.ts';
import {
  assertRouterSettings,
  OWNED_SECTIONS,
  type SectionUpdates,
  UPDATED_SECTIONS,
  updatedSection,
} from '../src/domain/settings/config-update.ts';
import { FIXED_FIELDS, GENERAL_FIELDS, type GeneralField } from '../src/domain/settings/general-fields.ts';
import {
  assertRemovable,
  assertWritable,
  type DeclaredConfig,
  GENERAL,
  isDeclared,
  PASS_THROUGH_ENDPOINTS,
  sectionRowOf,
  type SettingView,
  settingViewOf,
} from '../src/domain/settings/ownership.ts';
import { endpointSetting } from '../src/domain/pass-through/endpoint-setting.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import {
  LITELLM_SETTINGS,
  SHARED_FIELDS,
  type SharedField,
  sharedFieldOf,
  sharedValue,
} from '../src/domain/settings/shared-fields.ts';
import { type SectionContent, withoutNulls } from '../src/domain/settings/stored-section.ts';
import { EXPECTED_VALUES, isOfKind, typeNameOf } from '../src/domain/settings/value-kinds.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { readerOf, type SettingsState, settingsState, storeSettings } from './operation/settings-state.ts';
import { assertAllowedList } from './operation/allowed-addresses.ts';

/** A listed setting: one of `general_settings`, or one of `litellm_settings` that is in `SHARED_FIELDS`. */
export interface ListedSetting {
  readonly view: SettingView;
  readonly field: GeneralField | SharedField;
  /** Whether the database sets it. Null when neither the file nor the database sets it. */
  readonly isStored: boolean | null;
}

const ROUTER = 'router_settings';

/** The settings, with the stored pass-through endpoints as the stored value of their setting. */
async function shownState(scope: Scope<SettingsPlatform>): Promise<SettingsState> {
  const { config, stored } = await settingsState(scope);
  const endpoints = scope.platform.passThrough.list().filter(({ isFromConfig }) => !isFromConfig);
  if (endpoints.length === 0) return { config, stored };
  const general = { ...stored.get(GENERAL), [PASS_THROUGH_ENDPOINTS]: endpoints.map(endpointSetting) };
  return { config, stored: new Map([...stored, [GENERAL, general]]) };
}

const unknownField = (name: string): InvalidInput => new InvalidInput(`Invalid field=${name} passed in.`);

/** The setting with secret values redacted for the caller. */
function shownTo(scope: Scope<SettingsPlatform>, view: SettingView): SettingView {
  const reader = readerOf(scope);
  const { name, declaredValue, effectiveValue, ignoredStoredValue } = view;
  return {
    ...view,
    declaredValue: redacted(name, declaredValue, reader),
    effectiveValue: redacted(name, effectiveValue, reader),
    ignoredStoredValue: redacted(name, ignoredStoredValue, reader),
  };
}

function listedSetting(
  scope: Scope<SettingsPlatform>,
  { config, stored }: SettingsState,
  { section, name, field }: { readonly section: string; readonly name: string; readonly field: ListedSetting['field'] },
): ListedSetting {
  const view = settingViewOf(config, stored, section, name);
  // Some general settings are stored in another row than those of their section.
  const isInRow = Object.hasOwn(stored.get(sectionRowOf(section, name)) ?? {}, name);
  const isUnset = !isInRow && view.effectiveValue === null;
  return { view: shownTo(scope, view), field, isStored: isUnset ? null : isInRow };
}

/** Lists the settings that can be changed at runtime, with their owners. Secrets are hidden. */
export const listSettings = operation({
  name: 'listSettings',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>): Promise<readonly ListedSetting[]> {
    const state = await shownState(scope);
    const general = [...GENERAL_FIELDS]
      .filter(([, { isListed }]) => isListed)
      .map(([name, field]) => ({ section: GENERAL, name, field }));
    const shared = Object.entries(SHARED_FIELDS).map(([name, field]) => ({ section: LITELLM_SETTINGS, name, field }));
    return [...general, ...shared].map((one) => listedSetting(scope, state, one));
  },
});

/** Reads one general setting. Throws InvalidInput for an unknown setting, and for one that is not set. */
export const getSetting = operation({
  name: 'getSetting',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>, { name }: { readonly name: string }): Promise<SettingView> {
    if (!GENERAL_FIELDS.has(name)) throw unknownField(name);
    const { config, stored } = await shownState(scope);
    const view = settingViewOf(config, stored, GENERAL, name);
    if (view.source === 'unset') throw new InvalidInput(`Field name=${name} is not set`);
    return shownTo(scope, view);
  },
});

/**
 * The general section with its stored settings, or the name of a shared setting and whether it was reset to its
 * default.
 */
export type StoredResult =
  | { readonly section: string; readonly content: SectionContent }
  | { readonly name: string; readonly reset: boolean };

const shownContent = (scope: Scope<SettingsPlatform>, content: SectionContent): SectionContent =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, redacted(name, value, readerOf(scope))]));

/**
 * Stores a setting. Throws InvalidInput for an unknown setting, for an invalid value, and for a setting that is read at
 * the start only. Throws OwnedByFile when the configuration file declares another value.
 */
export const updateSetting = operation({
  name: 'updateSetting',
  access: tenantAdmin,
  async run(
    scope: Scope<SettingsPlatform>,
    { name, value }: { readonly name: string; readonly value: unknown },
  ): Promise<StoredResult> {
    const shared = sharedFieldOf(name);
    if (shared !== undefined)
      return storeShared(scope, { name, value: sharedValue(name, shared, value), reset: false });
    const field = GENERAL_FIELDS.get(name);
    if (field === undefined) throw unknownField(name);
    assertValue(scope, GENERAL, name, value);
    const { config, stored } = await settingsState(scope);
    assertWritable(config, stored, { section: GENERAL, writes: [{ name, value }] });
    assertNotFixed(config, [name]);
    const rowName = sectionRowOf(GENERAL, name);
    const content = await storeSettings(scope, rowName, (before) => ({ ...before, [name]: value }));
    return { section: GENERAL, content: shownContent(scope, rowName === GENERAL ? content : { [name]: value }) };
  },
});

/** Throws InvalidInput, with the name of the setting, for a value that it does not accept. */
function assertValue({ platform }: Scope<SettingsPlatform>, section: string, name: string, value: unknown): void {
  const [fault] = platform.configuration.faultsOf(section, name, value);
  if (fault === undefined) return;
  const kind = GENERAL_FIELDS.get(name)?.kind;
  if (section === GENERAL && kind !== undefined && !isOfKind(kind, value))
    throw new InvalidInput(
      `Invalid type of field value=${typeNameOf(value)} passed in for ${name}: expected ${EXPECTED_VALUES[kind]}.`,
    );
  throw new InvalidInput(`${[section, name, ...fault.path].join('.')} ${fault.message}.`);
}

/**
 * Throws InvalidInput for settings that a process reads at its start only, where the file does not declare them.
 * Writing a declared setting changes nothing: `assertWritable` permits only the declared value. Throws InvalidInput for
 * the list of pass-through endpoints, which have rows of their own.
 */
function assertNotFixed(config: DeclaredConfig, names: readonly string[]): void {
  if (names.includes(PASS_THROUGH_ENDPOINTS))
    throw new InvalidInput(`${PASS_THROUGH_ENDPOINTS} is no setting to store: create and change each endpoint.`);
  const fixed = names.find((name) => FIXED_FIELDS.has(name) && !isDeclared(config, GENERAL, name));
  if (fixed !== undefined) throw new InvalidInput(`${fixed} is read at the start only and cannot be stored.`);
}

async function storeShared(
  scope: Scope<SettingsPlatform>,
  { name, value, reset }: { readonly name: string; readonly value: unknown; readonly reset: boolean },
): Promise<StoredResult> {
  const { config, stored } = await settingsState(scope);
  assertWritable(config, stored, { section: LITELLM_SETTINGS, writes: [{ name, value }] });
  await storeSettings(scope, LITELLM_SETTINGS, (before) => ({ ...before, [name]: value }));
  return { name, reset };
}

/** A setting to remove: of `general_settings`, where shared settings also are, or of `router_settings`. */
export interface SettingRemoval {
  readonly section: typeof GENERAL | typeof ROUTER;
  readonly name: string;
}

/**
 * Removes a stored setting, or stores the default of a shared setting. For `pass_through_endpoints`, also removes all
 * stored endpoints; those of the configuration file remain. Throws InvalidInput for an unknown setting and when no
 * setting of its section is stored, and OwnedByFile when the configuration file declares the setting.
 */
export const removeSetting = operation({
  name: 'removeSetting',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, { section, name }: SettingRemoval): Promise<StoredResult> {
    if (section === ROUTER) return removeRouterSetting(scope, name);
    const shared = sharedFieldOf(name);
    if (shared !== undefined) return storeShared(scope, { name, value: shared.defaultValue, reset: true });
    if (!GENERAL_FIELDS.has(name)) throw unknownField(name);
    const { config, stored } = await settingsState(scope);
    assertRemovable(config, stored, GENERAL, name);
    const rowName = sectionRowOf(GENERAL, name);
    const endpoints = name === PASS_THROUGH_ENDPOINTS ? await scope.platform.passThrough.removeStored() : 0;
    if (!stored.has(rowName)) {
      if (endpoints > 0) return { section: GENERAL, content: {} };
      throw new InvalidInput(`Field name=${name} not in config`);
    }
    const content = await storeSettings(scope, rowName, without(name));
    return { section: GENERAL, content: rowName === GENERAL ? shownContent(scope, content) : {} };
  },
});

const without =
  (name: string) =>
  ({ [name]: _removed, ...rest }: SectionContent): SectionContent =>
    rest;

async function removeRouterSetting(scope: Scope<SettingsPlatform>, name: string): Promise<StoredResult> {
  assertRouterSettings({ [name]: null });
  const { config, stored } = await settingsState(scope);
  assertRemovable(config, stored, ROUTER, name);
  if (!stored.has(ROUTER)) throw new InvalidInput(`Field name=${name} not in config`);
  return { section: ROUTER, content: shownContent(scope, await storeSettings(scope, ROUTER, without(name))) };
}

/**
 * Stores settings of several sections. A null removes an environment variable, and is ignored in other sections.
 * Success callbacks are added to stored ones; other settings replace stored ones. Before anything is stored, throws
 * InvalidInput for settings and values that cannot be stored, and OwnedByFile.
 */
export const updateConfiguration = operation({
  name: 'updateConfiguration',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, updates: SectionUpdates): Promise<void> {
    if (updates.router_settings !== undefined) assertRouterSettings(withoutNulls(updates.router_settings));
    const { config, stored } = await settingsState(scope);
    for (const section of OWNED_SECTIONS) {
      const sent = updates[section as keyof SectionUpdates];
      const writes = Object.entries(withoutNulls(sent ?? {})).map(([name, value]) => ({ name, value }));
      assertWritable(config, stored, { section, writes });
    }
    const general = withoutNulls(updates.general_settings ?? {});
    assertNotFixed(config, Object.keys(general));
    if (Object.hasOwn(general, ALLOWED_ADDRESSES)) assertAllowedList(scope, general[ALLOWED_ADDRESSES]);
    for (const section of UPDATED_SECTIONS)
      for (const [name, value] of Object.entries(updates[section] ?? {})) assertValue(scope, section, name, value);
    for (const section of UPDATED_SECTIONS) {
      const sent = Object.entries(updates[section] ?? {});
      const rows = Map.groupBy(sent, ([name]) => sectionRowOf(section, name));
      for (const [row, entries] of rows) {
        const part = Object.fromEntries(entries);
        await storeSettings(scope, row, (before) => updatedSection(section, part, before));
      }
    }
  },
});

/**
 * The configuration in force as YAML: the file, and stored settings that the file does not declare. Secrets are hidden.
 */
export const readConfiguration = operation({
  name: 'readConfiguration',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>): Promise<string> {
    const { config, stored } = await settingsState(scope);
    const content: Record<string, unknown> = { ...config.declared };
    for (const section of UPDATED_SECTIONS) {
      const declared = config.declared[section];
      const storedValues = withoutNulls(stored.get(section) ?? {});
      const merged = { ...storedValues, ...(typeof declared === 'object' ? declared : {}) };
      if (Object.keys(merged).length > 0) content[section] = merged;
    }
    return scope.platform.configuration.toYaml(shownContent(scope, content));
  },
});

export interface RemovedCallback {
  readonly removed: string;
  /** Callbacks that stay active. */
  readonly remaining: readonly string[];
}

/** Removes a stored success callback. Throws NotFound, and OwnedByFile for callbacks of the configuration file. */
export const removeCallback = operation({
  name: 'removeCallback',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, { name }: { readonly name: string }): Promise<RemovedCallback> {
    const { config, stored } = await settingsState(scope);
    const { effectiveValue } = settingViewOf(config, stored, LITELLM_SETTINGS, 'success_callback');
    const active = Array.isArray(effectiveValue) ? effectiveValue.map(String) : [];
    // `updatedSection` stores names in lower case; a name in the file may have capitals.
    const wanted = name.toLowerCase();
    const remaining = active.filter((one) => one.toLowerCase() !== wanted);
    if (remaining.length === active.length)
      throw new NotFound('callback', name, `Callback '${name}' not found in active configuration`);
    assertWritable(config, stored, {
      section: LITELLM_SETTINGS,
      writes: [{ name: 'success_callback', value: remaining }],
    });
    await storeSettings(scope, LITELLM_SETTINGS, (before) => ({ ...before, success_callback: remaining }));
    return { removed: name, remaining };
  },
});
