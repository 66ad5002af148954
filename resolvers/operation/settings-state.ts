import { Unsupported } from '../../src/domain/errors.ts';
import { type DeclaredConfig, sectionsOf, type StoredSections } from '../../src/domain/settings/ownership.ts';
import type { Reader } from '../../src/domain/settings/redaction.ts';
import type { Content } from '../../src/domain/settings/stored-section.ts';
import { authored } from './authored.ts';
import { callerOf } from './operation.ts';
import type { SettingsPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** The file, and the stored settings as the database has them now. */
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

/** Who reads settings, for their redaction. */
export const readerOf = (scope: Scope<SettingsPlatform>): Reader =>
  callerOf(scope).role === 'proxy_admin' ? 'admin' : 'viewer';

/** Stores settings of a section, applies them in this process and tells subscribers. Returns the stored section. */
export async function storeSettings(
  scope: Scope<SettingsPlatform>,
  section: string,
  change: (content: Content) => Content,
): Promise<Content> {
  const { stores, configuration, bus, clock } = scope.platform;
  let names: readonly string[] = [];
  const { content } = await stores.settings.change(
    section,
    (before) => {
      const after = change(before);
      names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
        (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
      );
      return after;
    },
    authored(scope),
  );
  await configuration.refresh();
  if (names.length > 0)
    bus.publish('settingsChange', { at: clock.now(), changed: names.map((name) => ({ section, name })) });
  return content;
}

/** Throws Unsupported while settings of the dashboard are not stored. */
export function assertStored({ platform }: Scope<SettingsPlatform>): void {
  if (!platform.configuration.storesModels)
    throw new Unsupported(
      'Settings are not stored: set STORE_MODEL_IN_DB=True, or general_settings.store_model_in_db.',
    );
}
