// Makes the bundle that `npm start` runs: the product and its libraries as a few files in `dist/` instead of two
// thousand, without types. Run after an install and by a start that finds the sources changed (docs/adr/0034).
//   node scripts/bundle.mjs
// Says nothing when all goes well; ends non-zero, with the reason, when there is no bundle in the end.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { BUNDLES, currentEntry, ENTRY, inputsNow, nameOf, stamp } from './bundle-state.mjs';

/** A process that runs reads parts of its bundle later: the ones before the last stay for it. */
const KEPT = 3;

/** Compiled for the machine, or read as a file: these stay where the install put them. */
const EXTERNAL = ['sqlite3', '@graphql-yoga/render-graphiql'];

/** What decides about the libraries in a bundle: npm's own record of what it installed. */
const installed = (root) =>
  ['node_modules/.package-lock.json', 'package-lock.json'].find((path) => existsSync(join(root, path)));

/** What a bundle is made by, beside its sources. */
const TOOLS = ['scripts/bundle.mjs'];

const BEYOND_ASCII = /[^\0-\x7f]/g;
/** The one place where a letter and its escape are not the same; comments are gone by then. */
const RAW = /String\.raw`[^`]*[^\0-\x7f]/;

const SOURCE = 'src/main.ts';

/** Begins the names of folders that are being written, and how old one is when nobody writes it any more. */
const SCRATCH = 'making-';
const AGE_MS = 3_600_000;

/** What a source finds beside itself: one thing, or by its last folders' names a folder of modules. */
const BESIDE = /new URL\((?:'(\.{1,2}\/[^']+)'|`(\.\/[^`$]+\/)\$\{\w+\}\/`), import\.meta\.url\)/g;

/**
 * In a bundle everything is in one folder, so what a source finds beside itself is named afresh: a module for a thread
 * becomes an entry of the bundle, as does each module of a folder; a folder of data is found from there. `read`
 * collects every source, and the folders whose modules were listed: a module of which only a constant is used leaves
 * nothing else in the bundle to know it by.
 */
function filesBeside(root, read) {
  return {
    name: 'files-beside',
    transform: {
      filter: { id: new RegExp(`^${RegExp.escape(root + sep)}(?!node_modules)`) },
      handler(code, id) {
        if (!isAbsolute(id) || !isOwn(fromRoot(root, id))) return null;
        read.push(fromRoot(root, id));
        if (!code.includes('import.meta')) return null;
        if (code.replaceAll(BESIDE, '').includes('import.meta'))
          throw new Error(`${fromRoot(root, id)} finds a file in a way that no bundle knows`);
        const emit = (path, fileName) => this.emitFile({ type: 'chunk', id: path, fileName });
        const text = code.replaceAll(BESIDE, (whole, path, modules) => {
          const target = resolve(dirname(id), path ?? modules);
          if (modules !== undefined) {
            for (const folder of foldersIn(target)) {
              read.push(fromRoot(root, folder));
              for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts')))
                emit(join(folder, file), fromRoot(dirname(id), join(folder, file)).replace(/\.ts$/, '.js'));
            }
            return whole;
          }
          if (path.endsWith('/')) return `new URL('${fromRoot(join(root, BUNDLES, 'any'), target)}/', import.meta.url)`;
          const fileName = `${fromRoot(root, target).replace(/\.ts$/, '').replaceAll('/', '-')}.js`;
          emit(target, fileName);
          return `new URL('./${fileName}', import.meta.url)`;
        });
        return { code: text, map: null };
      },
    },
  };
}

/**
 * `import … from 'node:http'` reads every export of the module to offer it by name, and one of them is a whole HTTP
 * client that nothing here uses. Asked for as an object the module stays as lazy as Node made it.
 */
const lazyHttp = {
  name: 'lazy-http',
  resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => '\0node-http' },
  load: {
    filter: { id: /^\0node-http$/ },
    handler: () => "module.exports = process.getBuiltinModule('node:http');",
  },
};

const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** One letter beyond Latin-1 makes V8 keep the whole text of a file in two bytes each. */
const plainLetters = {
  name: 'plain-letters',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      if (RAW.test(file.code)) throw new Error(`${file.fileName} has a raw text that cannot be in plain letters`);
      file.code = file.code.replaceAll(BEYOND_ASCII, escaped);
    }
  },
};

const foldersIn = (path) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name));

async function write(root, dir, read) {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    cwd: root,
    input: { main: SOURCE },
    platform: 'node',
    external: EXTERNAL,
    plugins: [filesBeside(root, read), lazyHttp, plainLetters],
    // What libraries do (eval, circles) is theirs; what is wrong with the bundle is an error.
    logLevel: 'silent',
  });
  try {
    return await bundle.write({
      dir,
      format: 'esm',
      // Lines and names stay, so that a stack can be read; maps would take some 35 MiB of every process.
      comments: false,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    });
  } finally {
    await bundle.close();
  }
}

const fromRoot = (root, path) => relative(root, path).replaceAll(sep, '/');

const isOwn = (path) => !/^\.\.\/|(^|\/)node_modules\/|\0/.test(path) && path !== '';

/** Removes bundles that no process can still be running, and what builds left that did not end. */
function sweep(root) {
  const all = join(root, BUNDLES);
  const byAge = readdirSync(all, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, path: join(all, name), changedMs: statSync(join(all, name)).mtimeMs }))
    .toSorted((a, b) => b.changedMs - a.changedMs);
  const bundles = byAge.filter(({ name }) => !name.startsWith(SCRATCH));
  const abandoned = byAge.filter(({ name, changedMs }) => name.startsWith(SCRATCH) && Date.now() - changedMs > AGE_MS);
  for (const { path } of [...bundles.slice(KEPT), ...abandoned]) rmSync(path, { recursive: true, force: true });
}

/** Puts what was made in its place; another process may have been first, with the same. */
function settle(scratch, place) {
  try {
    renameSync(scratch, place);
  } catch (error) {
    if (!existsSync(join(place, ENTRY))) throw error;
    const now = new Date();
    utimesSync(place, now, now);
  }
}

/**
 * Makes a bundle of the sources in `root`. Several processes may do so at once. Throws when there is none in the end:
 * a library is missing, a source is faulty or changes meanwhile, the folder cannot be written.
 */
export async function makeBundle(root) {
  mkdirSync(join(root, BUNDLES), { recursive: true });
  const scratch = mkdtempSync(join(root, BUNDLES, SCRATCH));
  const begunMs = Date.now();
  try {
    const read = [];
    await write(root, scratch, read);
    const inputs = inputsNow(root, [...read, ...TOOLS, installed(root)]);
    const changed = Object.entries(inputs).find(([, [, mtimeMs]]) => mtimeMs >= begunMs);
    if (changed) throw new Error(`${changed[0]} changed meanwhile`);
    const folder = nameOf(inputs);
    settle(scratch, join(root, BUNDLES, folder));
    stamp(root, { folder, inputs });
    sweep(root);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function main() {
  const root = resolve(import.meta.dirname, '..');
  const afterInstall = process.argv.includes('--after-install');
  // A container's build may install before the sources are there.
  if (afterInstall && !existsSync(join(root, SOURCE))) return;
  if (currentEntry(root) !== null) return;
  try {
    await makeBundle(root);
  } catch (error) {
    console.error(`Lensgate could not be bundled: ${error instanceof Error ? error.message : String(error)}`);
    // An install stands without it: the first start tries again.
    process.exitCode = afterInstall ? 0 : 1;
  }
}

if (import.meta.main) await main();
