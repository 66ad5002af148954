import { type DeclaredConfig, sectionsOf, type StoredSections } from '../../src/domain/settings/ownership.ts';
import type { Reader } from '../../src/domain/settings/redaction.ts';
import { StorageOff } from '../../src/domain/settings/storage-off.ts';
import type { SectionContent } from '../../src/domain/settings/stored-section.ts';
import { authored } from './authored.ts';
import { callerOf } from './operation.ts';
import type { SettingsPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** The settings of the configuration file, and the stored settings as the database has them now. */
export interface SettingsState {
  readonly config: DeclaredConfig;
  readonly stored: StoredSections;
}

/** Reads the settings of the file and the database. */
export async function settingsState({ platform }: Scope<SettingsPlatform>): Promise<SettingsState> {
  return {
    config: platform.configuration.current(),
    stored: sectionsOf(await platform.stores.settings.all()),
  };
}

/** Reader of settings; decides which values are redacted. */
export const readerOf = (scope: Scope<SettingsPlatform>): Reader =>
  callerOf(scope).role === 'proxy_admin' ? 'admin' : 'viewer';

/**
 * Changes the stored settings of a section and applies them in this process. Returns all stored settings of the
 * section.
 */
export async function storeSettings(
  scope: Scope<SettingsPlatform>,
  section: string,
  change: (content: SectionContent) => SectionContent,
): Promise<SectionContent> {
  const { stores, configuration } = scope.platform;
  const { content } = await stores.settings.change(section, change, authored(scope));
  await configuration.refresh();
  return content;
}

/** Throws StorageOff while `store_model_in_db` is off. */
export function assertStoresSettings({ platform }: Scope<SettingsPlatform>): void {
  if (!platform.configuration.storesModels) throw new StorageOff();
}
