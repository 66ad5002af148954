import type { Secret } from '../../domain/secret.ts';
import { isSecretMap, isSecretText } from '../../domain/settings/redaction.ts';
import type { Content, SettingsStore, StoredSection } from '../../domain/settings/stored-section.ts';
import { keyFor, open, seal } from '../credentials/encryption.ts';

/** Section whose values are secrets whatever their names are. */
const ALL_SECRET = 'environment_variables';
/** The only member of an encrypted value. */
const SEALED = '$sealed';

const isMap = (value: unknown): value is Content =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Encrypts secrets of stored settings with a key derived from the admin key. A secret that cannot be decrypted, because the
 * admin key is another one, is read as not set.
 */
export function createSealedSettings(store: SettingsStore, masterKey: Secret): SettingsStore {
  const key = keyFor(masterKey, 'settings');

  function sealed(value: unknown, name: string, place: string): unknown {
    const isSecret = (text: string): boolean => place.startsWith(`${ALL_SECRET}.`) || isSecretText(name, text);
    if (typeof value === 'string')
      return value !== '' && isSecret(value)
        ? { [SEALED]: seal(key, Buffer.from(value), place).toString('base64') }
        : value;
    if (Array.isArray(value)) return value.map((item) => sealed(item, name, `${place}.*`));
    if (!isMap(value)) return value;
    // The texts of some maps are secrets by the name of the map, such as addresses of webhooks by kinds of alerts.
    const all = isSecretMap(name);
    return mapped(value, (inner, item) => sealed(item, all ? name : inner, `${place}.${inner}`));
  }

  function opened(value: unknown, place: string): unknown {
    if (Array.isArray(value)) return value.map((item) => opened(item, `${place}.*`));
    if (!isMap(value)) return value;
    const bytes = value[SEALED];
    if (typeof bytes === 'string' && Object.keys(value).length === 1)
      return open(key, Buffer.from(bytes, 'base64'), place)?.toString('utf8') ?? null;
    return mapped(value, (inner, item) => opened(item, `${place}.${inner}`));
  }

  const sealContent = (section: string, content: Content): Content =>
    mapped(content, (name, value) => sealed(value, name, `${section}.${name}`));
  const openRow = (row: StoredSection): StoredSection => ({
    ...row,
    content: mapped(row.content, (name, value) => opened(value, `${row.id}.${name}`)),
  });

  return {
    async find(section) {
      const row = await store.find(section);
      return row === null ? null : openRow(row);
    },
    all: async () => (await store.all()).map(openRow),
    change: async (section, change, about) =>
      openRow(
        await store.change(
          section,
          (content) =>
            sealContent(section, change(mapped(content, (name, value) => opened(value, `${section}.${name}`)))),
          about,
        ),
      ),
  };
}

const mapped = (content: Content, value: (name: string, value: unknown) => unknown): Content =>
  Object.fromEntries(Object.entries(content).map(([name, item]) => [name, value(name, item)]));
