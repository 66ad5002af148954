import { resolve } from 'node:path';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';
import type { Secret } from '../../domain/secret.ts';
import { readOrCreateAdminKey, openDataFolder } from './data-folder.ts';
import type { SettingsRead } from './values.ts';

/** Publicly known admin keys, from tutorials. */
const PUBLIC_KEYS = new Set(['sk-1234', 'sk-12345', 'sk-123', 'sk-test', 'sk-my-master-key', 'sk-change-me']);
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/** The admin key of the process, and its origin. */
interface AdminKey {
  readonly dataDir: string;
  readonly masterKey: Secret;
  readonly masterKeySource: 'environment' | 'config file' | 'data folder' | 'generated';
}

export const isLoopback = (host: string): boolean => LOOPBACK.has(host);

/** Opens the data folder, and reads the admin key from it where none is configured. The first start writes one. */
export function openAdminKey({ values, originOf }: SettingsRead, generator: KeyGenerator): AdminKey {
  const dataDir = resolve(values.dataDir);
  openDataFolder(dataDir);
  if (values.masterKey === null) {
    const { key, source } = readOrCreateAdminKey(dataDir, generator);
    return { dataDir, masterKey: key, masterKeySource: source };
  }
  const masterKeySource = originOf('masterKey').from === 'environment' ? 'environment' : 'config file';
  return { dataDir, masterKey: values.masterKey, masterKeySource };
}

/** Refuses a publicly known admin key. On a loopback address, or where the settings permit it, only warns. */
export function checkMasterKey({ values, originOf, refuse }: SettingsRead, warn: (text: string) => void): void {
  const key = values.masterKey;
  if (key === null || !PUBLIC_KEYS.has(key.reveal())) return;
  if (isLoopback(values.host) || values.permitWeakKey)
    warn(
      `The admin key in ${originOf('masterKey').key} is publicly known. Anyone who can reach this port is an admin.`,
    );
  else
    refuse(
      'masterKey',
      `is publicly known and refused on ${values.host}; set another key, or listen on a loopback address`,
    );
}
