// Which bundle a start may run: the one in `dist/`, as long as nothing it was made of has changed. Read at every
// start, so it looks at sizes and times first and at contents only where those differ.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where bundles lie, from the root of the project. */
export const BUNDLES = 'dist';
/** The module of a bundle that a process begins with. */
export const ENTRY = 'main.js';

const stampFile = (root) => join(root, BUNDLES, 'bundle.json');

/** Of a file the hash of its content, of a folder that of its files' names. */
function contentOf(path) {
  const content = statSync(path).isDirectory() ? readdirSync(path).toSorted().join('\n') : readFileSync(path);
  return createHash('sha256').update(content).digest('hex');
}

/** A file or folder as it is now: bytes, milliseconds of its last change, and the hash of its content. */
function seen(path) {
  const { size, mtimeMs } = statSync(path);
  return [size, mtimeMs, contentOf(path)];
}

/** Every input, by its path from the root, as it is now. */
export function inputsNow(root, paths) {
  return Object.fromEntries(paths.toSorted().map((path) => [path, seen(join(root, path))]));
}

/** Names what the inputs make together: equal contents, equal name. */
export function nameOf(inputs) {
  const hash = createHash('sha256');
  for (const [path, [, , content]] of Object.entries(inputs)) hash.update(`${path}\0${content}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Says from now on that `folder` of `dist/` is what these inputs make. */
export function stamp(root, { folder, inputs }) {
  mkdirSync(join(root, BUNDLES), { recursive: true });
  // Whoever reads meanwhile reads the old stamp or the new one, never half of one.
  const own = `${stampFile(root)}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ folder, inputs }));
  renameSync(own, stampFile(root));
}

/** Whether the file is as it was; `touched` is told when only its time is another, as after a checkout. */
function same(path, [size, mtimeMs, content], touched) {
  const now = statSync(path);
  if (now.size === size && now.mtimeMs === mtimeMs) return true;
  if (contentOf(path) !== content) return false;
  touched();
  return true;
}

/** The path of the bundle's entry; null when there is none, or something it was made of has changed or gone. */
export function currentEntry(root) {
  try {
    const { folder, inputs } = JSON.parse(readFileSync(stampFile(root), 'utf8'));
    const entry = join(root, BUNDLES, folder, ENTRY);
    statSync(entry);
    let touched = false;
    for (const [path, was] of Object.entries(inputs)) {
      const isSame = same(join(root, path), was, () => {
        touched = true;
      });
      if (!isSame) return null;
    }
    if (touched) restamp(root, folder, Object.keys(inputs));
    return entry;
  } catch {
    // No stamp, a damaged one, or a file that is not there any more: whatever it was, there is nothing to run.
    return null;
  }
}

function restamp(root, folder, paths) {
  try {
    stamp(root, { folder, inputs: inputsNow(root, paths) });
  } catch {
    // Where nothing may be written the next start looks at the contents again.
  }
}
