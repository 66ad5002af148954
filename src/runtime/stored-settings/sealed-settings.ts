import { isJsonObject } from '../../domain/json-object.ts';
import { isSecretMap, isSecretText } from '../../domain/settings/redaction.ts';
import type { SectionContent, SettingsStore, StoredSection } from '../../domain/settings/stored-section.ts';
import { cipherFor, type Secrets } from '../credentials/encryption.ts';

/** Section whose values are all secrets. */
const ALL_SECRET = 'environment_variables';
/** The only member of an encrypted value. */
const SEALED = '$sealed';

const settingsCipher = (secrets: Secrets) => cipherFor(secrets, 'settings');

/**
 * Encrypts secrets of stored settings with a key derived from the admin key, never from the salt key. A secret that
 * neither the current admin key nor a former secret decrypts is read as not set.
 */
export function createSealedSettings(store: SettingsStore, secrets: Secrets): SettingsStore {
  const cipher = settingsCipher(secrets);

  /** `place` is the dotted path of the value. An encrypted text can be decrypted at its own place only. */
  function sealed(value: unknown, name: string, place: string): unknown {
    const isSecret = (text: string): boolean => place.startsWith(`${ALL_SECRET}.`) || isSecretText(name, text);
    if (typeof value === 'string')
      return value !== '' && isSecret(value)
        ? { [SEALED]: cipher.seal(Buffer.from(value), place).toString('base64') }
        : value;
    if (Array.isArray(value)) return value.map((item) => sealed(item, name, `${place}.*`));
    if (!isJsonObject(value)) return value;
    // In some maps every text is a secret, for example in the map from kinds of alerts to addresses of webhooks.
    const isAllSecret = isSecretMap(name);
    return mapped(value, (key, item) => sealed(item, isAllSecret ? name : key, `${place}.${key}`));
  }

  const opened = (value: unknown, place: string): unknown =>
    withSealed(value, place, (bytes, at) => cipher.open(bytes, at)?.toString('utf8') ?? null);

  const sealContent = (section: string, content: SectionContent): SectionContent =>
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

/** A copy of a value in which each encrypted text is replaced by the result of `leaf` for its bytes and its place. */
function withSealed(value: unknown, place: string, leaf: (bytes: Buffer, place: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withSealed(item, `${place}.*`, leaf));
  if (!isJsonObject(value)) return value;
  const bytes = value[SEALED];
  if (typeof bytes === 'string' && Object.keys(value).length === 1) return leaf(Buffer.from(bytes, 'base64'), place);
  return mapped(value, (key, item) => withSealed(item, `${place}.${key}`, leaf));
}

/**
 * A stored section in which the current key encrypts what former keys encrypted; null when a former key encrypted
 * nothing.
 */
export function renewedSection(
  { id, content }: Pick<StoredSection, 'id' | 'content'>,
  secrets: Secrets,
): SectionContent | null {
  const cipher = settingsCipher(secrets);
  let isRenewed = false;
  const renewed = mapped(content, (name, value) =>
    withSealed(value, `${id}.${name}`, (bytes, place) => {
      const fresh = cipher.renewed(bytes, place);
      isRenewed ||= fresh !== null;
      return { [SEALED]: (fresh ?? bytes).toString('base64') };
    }),
  );
  return isRenewed ? renewed : null;
}

const mapped = (content: SectionContent, map: (name: string, value: unknown) => unknown): SectionContent =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, map(name, value)]));
