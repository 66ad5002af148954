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

/** Creates a folder that only its owner may open. Also sets the mode of an existing folder. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if ((statSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700);
}

/** The text of a file; null where the file does not exist. */
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
 * Replaces a file in one step: a reader gets the old text or the new text, even after a crash. Only the owner may
 * read the file. Its folder must exist.
 */
export function replaceText(path: string, text: string): void {
  const place = realPath(path);
  const temporary = `${place}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeNew(temporary, text);
    renameSync(temporary, place);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Creates a file with its whole text in one step. Returns false where the file exists. */
export function createText(path: string, text: string): boolean {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeNew(temporary, text);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Writes a file that does not exist yet, to the disk. Only the owner may read it. */
function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
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

/** Creates the folder of a file, with the default mode. */
export function makeFolderOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
}
