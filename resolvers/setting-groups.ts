import { jsonObjectOf } from '../src/domain/json-object.ts';
import { assertRemovable, assertWritable, settingViewOf } from '../src/domain/settings/ownership.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import { type GroupName, SETTING_GROUPS, type SettingGroup } from '../src/domain/settings/setting-groups.ts';
import { assertGroupWritable, fileValuesOf } from '../src/domain/settings/group-owners.ts';
import { sentValues, valuesOfGroup, writtenValues } from '../src/domain/settings/group-values.ts';
import {
  routerSettingsOf,
  type RouterSetting,
  ROUTER_FIELDS,
  type RouterField,
} from '../src/domain/settings/router-fields.ts';
import type { SectionContent } from '../src/domain/settings/stored-section.ts';
import { anyKey, anyone, tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertStoresSettings, readerOf, settingsState, storeSettings } from './operation/settings-state.ts';

/** A group with its settings. Secrets are hidden. */
export interface GroupView {
  readonly group: SettingGroup;
  /** Settings of the configuration file and the database, without built-in values. */
  readonly values: SectionContent;
  /**
   * `config`: the file declares every setting that is set. `db`: the database has some of them. `unset`: none is set.
   */
  readonly source: 'config' | 'db' | 'unset';
  /** Names of settings that the configuration file declares individually. */
  readonly owned: readonly string[];
}

interface Named {
  readonly name: GroupName;
}

/**
 * The values of a group and their source. `group.member` is the setting that contains the whole group; null when the
 * group is a section of its own.
 */
function viewOfGroup(
  scope: Scope<SettingsPlatform>,
  { name }: Named,
  { config, stored }: Awaited<ReturnType<typeof settingsState>>,
): GroupView {
  const group = SETTING_GROUPS[name];
  const values = valuesOfGroup(name, config, stored);
  const names = Object.keys(values);
  const owned = Object.keys(fileValuesOf(name, group, config));
  const isEachOwned = names.length > 0 && names.every((one) => owned.includes(one));
  const isFromFile =
    group.member === null
      ? isEachOwned
      : settingViewOf(config, stored, group.section, group.member).source === 'config';
  const sourceWithoutFile = names.length > 0 ? 'db' : 'unset';
  return {
    group,
    values: Object.fromEntries(
      Object.entries(values).map(([one, value]) => [one, redacted(one, value, readerOf(scope))]),
    ),
    source: isFromFile ? 'config' : sourceWithoutFile,
    owned,
  };
}

/** Reads a group of settings. Secrets are hidden. */
export const getSettingGroup = operation({
  name: 'getSettingGroup',
  access: tenantViewer,
  run: async (scope: Scope<SettingsPlatform>, named: Named): Promise<GroupView> =>
    viewOfGroup(scope, named, await settingsState(scope)),
});

/**
 * Stores a group of settings. Throws InvalidInput, OwnedByFile when the configuration file declares other values, and
 * Unsupported while settings are not stored.
 */
export const updateSettingGroup = operation({
  name: 'updateSettingGroup',
  access: tenantAdmin,
  async run(
    scope: Scope<SettingsPlatform>,
    { name, sent }: Named & { readonly sent: SectionContent },
  ): Promise<GroupView> {
    assertStoresSettings(scope);
    const group = SETTING_GROUPS[name];
    const { section, member } = group;
    // The revision of the message changes with each write.
    const update = name === 'userBanner' ? { ...sent, revision: scope.platform.ids.uuid() } : sent;
    const state = await settingsState(scope);
    const written = writtenValues(name, group, update, valuesOfGroup(name, state.config, state.stored));
    assertGroupWritable({ name, group }, state, sentValues(name, group, update));
    if (member !== null)
      assertWritable(state.config, state.stored, { section, writes: [{ name: member, value: written }] });
    await storeSettings(scope, section, (content) => {
      const before = member === null ? content : jsonObjectOf(content[member]);
      const values = writtenValues(name, group, update, before);
      return member === null ? values : { ...content, [member]: values };
    });
    return viewOfGroup(scope, { name }, await settingsState(scope));
  },
});

/** Removes the stored settings of a group. Throws OwnedByFile, and Unsupported while settings are not stored. */
export const removeSettingGroup = operation({
  name: 'removeSettingGroup',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, { name }: Named): Promise<void> {
    assertStoresSettings(scope);
    const group = SETTING_GROUPS[name];
    const { section, member } = group;
    const { config, stored } = await settingsState(scope);
    if (member !== null) assertRemovable(config, stored, section, member);
    await storeSettings(scope, section, (content) => {
      if (member === null) return {};
      const { [member]: _removed, ...rest } = content;
      return rest;
    });
  },
});

/** Reads the message for all users. */
export const getUserBanner = operation({
  name: 'getUserBanner',
  access: anyKey,
  run: ({ platform }: Scope<SettingsPlatform>): GroupView => {
    const group = SETTING_GROUPS.userBanner;
    const { configuration } = platform;
    const values = valuesOfGroup('userBanner', configuration.current(), configuration.stored());
    return { group, values, source: Object.keys(values).length > 0 ? 'db' : 'unset', owned: [] };
  },
});

/** Settings of the router, and the values in force. */
export interface RouterSettings {
  readonly fields: Readonly<Record<string, RouterField>>;
  readonly settings: readonly RouterSetting[];
}

/** Reads the settings of the router with their owners. */
export const getRouterSettings = operation({
  name: 'getRouterSettings',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>): Promise<RouterSettings> {
    const { config, stored } = await settingsState(scope);
    return { fields: ROUTER_FIELDS, settings: routerSettingsOf(config, stored) };
  },
});

/** Callbacks and alerts in force. */
export interface ActiveCallbacks {
  readonly success: readonly string[];
  readonly failure: readonly string[];
  readonly both: readonly string[];
  readonly alerting: readonly string[];
  readonly router: RouterSettings;
}

/** Lists callbacks and alerts that the configuration names. */
export const listCallbacks = operation({
  name: 'listCallbacks',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>): Promise<ActiveCallbacks> {
    const { config, stored } = await settingsState(scope);
    const namesOf = (section: string, name: string): readonly string[] => {
      const { effectiveValue } = settingViewOf(config, stored, section, name);
      return (Array.isArray(effectiveValue) ? effectiveValue : [effectiveValue]).filter(
        (one) => typeof one === 'string',
      );
    };
    return {
      success: namesOf('litellm_settings', 'success_callback'),
      failure: namesOf('litellm_settings', 'failure_callback'),
      both: namesOf('litellm_settings', 'callbacks'),
      alerting: namesOf('general_settings', 'alerting'),
      router: { fields: ROUTER_FIELDS, settings: routerSettingsOf(config, stored) },
    };
  },
});

/** Settings that pages need before a sign-in. */
export interface PageSettings {
  readonly logoUrl: string;
  readonly isSsoConfigured: boolean;
}

/** Settings that configure single sign-on. One of them suffices. */
const SSO_IDS = ['google_client_id', 'microsoft_client_id', 'generic_client_id', 'saml_idp_metadata_url'];

/** Reads the settings that pages need before a sign-in. Reads no store. */
export const getPageSettings = operation({
  name: 'getPageSettings',
  access: anyone,
  run({ platform }: Scope<SettingsPlatform>): PageSettings {
    const { configuration } = platform;
    const valuesOf = (name: GroupName): SectionContent =>
      valuesOfGroup(name, configuration.current(), configuration.stored());
    const logo = valuesOf('uiTheme')['logo_url'];
    const sso = valuesOf('sso');
    return {
      logoUrl: typeof logo === 'string' ? logo : '',
      isSsoConfigured: SSO_IDS.some((name) => sso[name] !== undefined),
    };
  },
});
