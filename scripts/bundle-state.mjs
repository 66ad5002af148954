// Finds the bundle in `dist/` whose inputs are unchanged. This runs at every start, so it compares sizes and times
// first, and contents only where those differ.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the bundles, from the root of the project. */
export const BUNDLES = 'dist';
/** Entry module of a bundle. */
export const ENTRY = 'main.js';

/** File that names the current bundle and records the state of its inputs. */
const stampFile = (root) => join(root, BUNDLES, 'bundle.json');

/** Hash of the content of a file, or of the file names of a folder. */
function contentOf(path) {
  const content = statSync(path).isDirectory() ? readdirSync(path).toSorted().join('\n') : readFileSync(path);
  return createHash('sha256').update(content).digest('hex');
}

/** Current state of a file or folder: bytes, modification time in ms, hash of its content. */
function inputState(path) {
  const { size, mtimeMs } = statSync(path);
  return [size, mtimeMs, contentOf(path)];
}

/** Current state of every input, by its path from the root. */
export function inputsNow(root, paths) {
  return Object.fromEntries(paths.toSorted().map((path) => [path, inputState(join(root, path))]));
}

/** Name of the bundle of these inputs: equal contents give an equal name. */
export function nameOf(inputs) {
  const hash = createHash('sha256');
  for (const [path, [, , content]] of Object.entries(inputs)) hash.update(`${path}\0${content}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Records that `folder` of `dist/` is the bundle of these inputs. */
export function stamp(root, { folder, inputs }) {
  mkdirSync(join(root, BUNDLES), { recursive: true });
  // Replaced by rename, so that a concurrent reader gets the old stamp or the new one.
  const temporary = `${stampFile(root)}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify({ folder, inputs }));
  renameSync(temporary, stampFile(root));
}

/** Whether the content of the file is unchanged. Calls `touched` when only its time differs, as after a checkout. */
function isUnchanged(path, [size, mtimeMs, content], touched) {
  const now = statSync(path);
  if (now.size === size && now.mtimeMs === mtimeMs) return true;
  if (contentOf(path) !== content) return false;
  touched();
  return true;
}

/** Path of the bundle's entry; null when there is no bundle, or an input has changed or is missing. */
export function currentEntry(root) {
  try {
    const { folder, inputs } = JSON.parse(readFileSync(stampFile(root), 'utf8'));
    const entry = join(root, BUNDLES, folder, ENTRY);
    statSync(entry);
    let touched = false;
    for (const [path, recorded] of Object.entries(inputs)) {
      // Faster than `join`, which would take half of the time of this loop.
      const isSame = isUnchanged(`${root}/${path}`, recorded, () => {
        touched = true;
      });
      if (!isSame) return null;
    }
    if (touched) restamp(root, folder, Object.keys(inputs));
    return entry;
  } catch {
    // No stamp, a damaged stamp, or a missing input.
    return null;
  }
}

function restamp(root, folder, paths) {
  try {
    stamp(root, { folder, inputs: inputsNow(root, paths) });
  } catch {
    // On a read-only folder the next start compares the contents again.
  }
}
