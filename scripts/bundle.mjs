// Builds the bundle that `npm start` runs: the product and its libraries as a few files in `dist/` instead of two
// thousand, without types. Runs after an install, and in a start after a change of the sources (docs/adr/0034).
//   node scripts/bundle.mjs
// Prints nothing on success. A failed build prints the reason and ends non-zero; with `--after-install` it ends with 0.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { BUNDLES, currentEntry, ENTRY, inputsNow, nameOf, stamp } from './bundle-state.mjs';

/** Number of bundles to keep: a running process may still load modules of an older bundle. */
const KEPT_BUNDLES = 3;

/** Packages that are native, optional, read as files or start their own threads. They stay in node_modules. */
const EXTERNAL = ['sqlite3', 'ioredis', 'piscina', 'rolldown', '@graphql-yoga/render-graphiql'];

/** npm's record of the installed packages; it decides whether libraries have changed. */
const packageRecord = (root) =>
  ['node_modules/.package-lock.json', 'package-lock.json'].find((path) => existsSync(join(root, path)));

/** Inputs of a bundle other than its sources and the package record. */
const OTHER_INPUTS = ['scripts/bundle.mjs'];

const NON_ASCII = /[^\0-\x7f]/g;
/** Raw template literals with non-ASCII characters: an escape would change their value. Comments are removed before. */
const RAW_NON_ASCII = /String\.raw`[^`]*[^\0-\x7f]/;

const SOURCE = 'src/main.ts';
/** Entry of the command `lite`, a bundle of its own in the same folder. */
const COMMAND_SOURCE = 'lite/main.ts';

/** Prefix of folders of running builds, and the age in ms at which such a folder counts as abandoned. */
const SCRATCH = 'making-';
const ABANDONED_AFTER_MS = 3_600_000;

/** References of a source to its own folder: one file, or a folder of modules. */
const OWN_FOLDER_REFERENCE = /new URL\((?:'(\.{1,2}\/[^']+)'|`(\.\/[^`$]+\/)\$\{\w+\}\/`), import\.meta\.url\)/g;

/**
 * A bundle is one folder, so references of a source to its own folder are rewritten. A module for a thread becomes an
 * entry of the bundle, as does each module of a folder. A data folder is addressed from the bundle. `read` collects
 * every source and listed folder: the bundler does not report a module of which it inlines a constant.
 */
function rewriteOwnReferences(root, read) {
  return {
    name: 'rewrite-own-references',
    transform: {
      filter: { id: new RegExp(`^${RegExp.escape(root + sep)}(?!node_modules)`) },
      handler(code, id) {
        if (!isAbsolute(id) || !isOwn(fromRoot(root, id))) return null;
        read.push(fromRoot(root, id));
        if (!code.includes('import.meta')) return null;
        if (code.replaceAll(OWN_FOLDER_REFERENCE, '').includes('import.meta'))
          throw new Error(`${fromRoot(root, id)} uses import.meta in a form that the bundler does not support`);
        const emit = (path, fileName) => this.emitFile({ type: 'chunk', id: path, fileName });
        const text = code.replaceAll(OWN_FOLDER_REFERENCE, (whole, path, modules) => {
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
 * `import … from 'node:http'` reads every export of the module, and one of them loads an HTTP client that is not used.
 * As an object the module stays lazy.
 */
const lazyHttp = {
  name: 'lazy-http',
  resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => '\0node-http' },
  load: {
    filter: { id: /^\0node-http$/ },
    handler: () => "module.exports = process.getBuiltinModule('node:http');",
  },
};

/**
 * Koa loads two databases of media types at its start, and uses them only for a type that a file extension names. In
 * the bundle the first call of such a function loads them.
 */
const lazyMediaTypes = {
  name: 'lazy-media-types',
  resolveId: {
    filter: { id: /^mime-types$/ },
    async handler(id, importer) {
      const found = await this.resolve(id, importer, { skipSelf: true });
      return `\0media-types:${found.id}`;
    },
  },
  load: {
    filter: { id: /^\0media-types:/ },
    handler(id) {
      const library = `require(${JSON.stringify(id.slice(id.indexOf(':') + 1))})`;
      return ['contentType', 'lookup']
        .map((name) => `exports.${name} = (text) => ${library}.${name}(text);`)
        .join('\n');
    },
  },
};

/**
 * `depd` looks up the line of its caller when a library is loaded. For that, V8 indexes all lines of the chunk, which
 * takes 0.8 MiB. The bundle has no warnings about deprecated functions of Koa's libraries.
 */
const withoutDeprecations = {
  name: 'without-deprecations',
  resolveId: { filter: { id: /^depd$/ }, handler: () => '\0depd' },
  load: {
    filter: { id: /^\0depd$/ },
    handler: () =>
      'module.exports = () => Object.assign(() => {}, { function: (called) => called, property: () => {} });',
  },
};

const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes non-ASCII characters: one character beyond Latin-1 makes V8 store a file with two bytes per character. */
const escapeNonAscii = {
  name: 'escape-non-ascii',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      if (RAW_NON_ASCII.test(file.code))
        throw new Error(`${file.fileName} has a raw template literal with non-ASCII characters`);
      file.code = file.code.replaceAll(NON_ASCII, escaped);
    }
  },
};

const foldersIn = (path) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name));

async function write(root, dir, input, plugins) {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: EXTERNAL,
    plugins: [...plugins, escapeNonAscii],
    // Hides all warnings, such as those about `eval` and cycles in libraries. Errors still fail the build.
    logLevel: 'silent',
  });
  try {
    return await bundle.write({
      dir,
      format: 'esm',
      // Lines and names stay for readable stacks; source maps take 35 MiB of memory.
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

/** Removes old bundles, and folders of builds that did not finish. */
function removeOldFolders(root) {
  const all = join(root, BUNDLES);
  const byAge = readdirSync(all, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const path = join(all, name);
      // Another process may have renamed or removed the folder meanwhile.
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? [] : [{ name, path, changedMs: found.mtimeMs }];
    })
    .toSorted((a, b) => b.changedMs - a.changedMs);
  const bundles = byAge.filter(({ name }) => !name.startsWith(SCRATCH));
  const abandoned = byAge.filter(
    ({ name, changedMs }) => name.startsWith(SCRATCH) && Date.now() - changedMs > ABANDONED_AFTER_MS,
  );
  for (const { path } of [...bundles.slice(KEPT_BUNDLES), ...abandoned]) rmSync(path, { recursive: true, force: true });
}

/** Renames the finished folder. When another process has written an equal folder, that folder becomes the newest. */
function publishFolder(scratch, place) {
  try {
    renameSync(scratch, place);
  } catch (error) {
    if (!existsSync(join(place, ENTRY))) throw error;
    const now = new Date();
    utimesSync(place, now, now);
  }
}

/**
 * Builds a bundle of the sources in `root`. Several processes may build concurrently. Throws when a library is missing,
 * a source is invalid or changes during the build, or the folder cannot be written.
 */
export async function makeBundle(root) {
  mkdirSync(join(root, BUNDLES), { recursive: true });
  const scratch = mkdtempSync(join(root, BUNDLES, SCRATCH));
  const begunMs = Date.now();
  try {
    const read = [];
    const ownReferences = rewriteOwnReferences(root, read);
    await write(root, scratch, { main: SOURCE }, [ownReferences, lazyHttp, lazyMediaTypes, withoutDeprecations]);
    // The command runs on older Node versions, which lack what the lazy modules use.
    if (existsSync(join(root, COMMAND_SOURCE))) await write(root, scratch, { lite: COMMAND_SOURCE }, [ownReferences]);
    const inputs = inputsNow(root, [...read, ...OTHER_INPUTS, packageRecord(root)]);
    const changed = Object.entries(inputs).find(([, [, mtimeMs]]) => mtimeMs >= begunMs);
    if (changed) throw new Error(`${changed[0]} changed during the build`);
    const folder = nameOf(inputs);
    publishFolder(scratch, join(root, BUNDLES, folder));
    stamp(root, { folder, inputs });
    removeOldFolders(root);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function main() {
  const root = resolve(import.meta.dirname, '..');
  const afterInstall = process.argv.includes('--after-install');
  // A container build may install before it copies the sources.
  if (afterInstall && !existsSync(join(root, SOURCE))) return;
  if (currentEntry(root) !== null) return;
  try {
    await makeBundle(root);
  } catch (error) {
    console.error(`Lensgate could not be bundled: ${error instanceof Error ? error.message : String(error)}`);
    // An install succeeds without a bundle: the first start builds it.
    process.exitCode = afterInstall ? 0 : 1;
  }
}

if (import.meta.main) await main();
