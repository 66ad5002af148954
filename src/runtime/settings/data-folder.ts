import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeySmith } from '../../domain/keys/virtual-key.ts';
import { Secret } from '../../domain/secret.ts';
import { ConfigError } from './config-file.ts';

/** What an admin key must look like: anything else could never be sent, or would be no secret. */
export const ADMIN_KEY_FORM = /^sk-[\x21-\x7e]{1,509}$/;

/** Makes the folder, for its owner alone, where it is missing. Throws ConfigError when there can be none. */
export function openDataFolder(folder: string): void {
  orRefuse(folder, 'no data folder can be here', () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
}

/**
 * The admin key kept in a data folder; made strong, with owner-only rights, the first time. Throws ConfigError for
 * a file that holds none: which key an installation has is never decided by accident.
 */
export function keepAdminKey(
  folder: string,
  smith: KeySmith,
): { readonly key: Secret; readonly source: 'data folder' | 'generated' } {
  const file = join(folder, 'admin-key');
  const made = smith.make();
  const isNew = orRefuse(file, 'the admin key cannot be kept', () => writeNew(file, `${made}\n`));
  if (isNew) return { key: new Secret(made), source: 'generated' };

  const kept = orRefuse(file, 'the admin key cannot be read', () => {
    // A file that others may read is closed to them; one in order is left alone, as it may lie on read-only ground.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  });
  if (!ADMIN_KEY_FORM.test(kept)) throw refusal(file, 'holds no admin key; delete it to have a new one made');
  return { key: new Secret(kept), source: 'data folder' };
}

/** Whether the file was made; false when it was there. */
function writeNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function orRefuse<Result>(path: string, problem: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw refusal(path, `${problem} (${codeOf(error)})`);
  }
}

const refusal = (source: string, message: string): ConfigError =>
  new ConfigError([{ source, line: null, key: '', message }]);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
