import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';
import { Secret } from '../../domain/secret.ts';
import { ConfigError } from './config-fault.ts';

/** Form of an admin key. */
export const ADMIN_KEY_FORM = /^sk-[\x21-\x7e]{1,509}$/;

/** Creates the folder, with owner-only rights, when it is missing. Throws ConfigError when that fails. */
export function openDataFolder(folder: string): void {
  withConfigError(folder, 'the data folder cannot be created', () =>
    mkdirSync(folder, { recursive: true, mode: 0o700 }),
  );
}

/**
 * The admin key of a data folder; generated, with owner-only rights, at the first start. Throws ConfigError when its
 * file cannot be read or written. A file without a key is also an error: the start never replaces the key of an
 * installation.
 */
export function readOrCreateAdminKey(
  folder: string,
  generator: KeyGenerator,
): { readonly key: Secret; readonly source: 'data folder' | 'generated' } {
  const file = join(folder, 'admin-key');
  const generated = generator.make();
  const isNew = withConfigError(file, 'the admin key cannot be written', () => writeNew(file, `${generated}\n`));
  if (isNew) return { key: new Secret(generated), source: 'generated' };

  const stored = withConfigError(file, 'the admin key cannot be read', () => {
    // The rights are changed only when other users may read the file: the folder may be read-only.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  });
  if (!ADMIN_KEY_FORM.test(stored)) throw refusal(file, 'contains no admin key; delete it to generate a new one');
  return { key: new Secret(stored), source: 'data folder' };
}

/** Whether the file was created; false when it exists. */
function writeNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function withConfigError<Result>(path: string, problem: string, work: () => Result): Result {
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
