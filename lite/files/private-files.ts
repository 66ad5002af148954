import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Creates a folder that only its owner may open. An existing folder gets the mode, too. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if ((statSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700);
}

/** The text of a file; null for none. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Path of the file that a link leads to, so that a replacement keeps the link. */
function realPath(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch (error) {
    if (isMissing(error)) return path;
    throw error;
  }
}

/**
 * Replaces a file in one step: a reader gets the old text or the new one, also after a crash. The file gets `mode`,
 * which no other user may read. The folder must exist.
 */
export function replaceText(path: string, text: string, mode = 0o600): void {
  const place = realPath(path);
  const temporary = `${place}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeNew(temporary, text, mode);
    renameSync(temporary, place);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Creates a file with its whole text in one step. Returns false where it exists. */
export function createText(path: string, text: string): boolean {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeNew(temporary, text, 0o600);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeNew(path: string, text: string, mode: number): void {
  const file = openSync(path, 'wx', mode);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a file. Returns whether it existed. */
export function removeFile(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Creates the folder of a file with the mode of the user's other folders. */
export function makeFolderOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
}
