import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Checks the lock file and the installed packages offline: `npm run check:dependencies`. CONTRIBUTING.md has the online
// check for known vulnerabilities.

/** An entry of `packages` in package-lock.json. */
interface LockedPackage {
  readonly version?: string;
  readonly name?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly lockfileVersion?: number;
  readonly packages?: Readonly<Record<string, LockedPackage>>;
}

/** package.json of this project or of an installed package. */
interface Manifest {
  readonly version?: string;
  readonly license?: unknown;
  readonly gypfile?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** Content of the folder of an installed package. */
interface Installed {
  readonly manifest: Manifest;
  /** Has a `binding.gyp`, which npm builds without an install script unless `gypfile` is false. */
  readonly builds: boolean;
}

/** Licences of production dependencies: permissive, and without conditions beyond a notice. */
const LICENCES = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']);

/** Packages with an install script, and why that is acceptable. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  sqlite3: 'not run by an npm that knows allowScripts: scripts/build-sqlite3.mjs builds it',
  protobufjs: 'not run by an npm that knows allowScripts: it only prints a hint; a dependency of tests',
};

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
/** One SHA-512 digest in base64. */
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
const INSTALL_HOOKS = ['preinstall', 'install', 'postinstall'] as const;

/** The name of a package at a path such as `node_modules/a/node_modules/@scope/b`. */
const nameAt = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Whether an SPDX expression is satisfied by the allowed licences. Of `OR` one is enough, of `AND` all are needed. */
export function isAllowedLicence(expression: unknown): boolean {
  if (typeof expression !== 'string' || !/^[\w.+\-() ]+$/.test(expression)) return false;
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const anyOf = (): boolean => {
    let isAllowed = allOf();
    while (tokens[at] === 'OR') {
      at += 1;
      // Read in any case, so that its tokens are consumed.
      const other = allOf();
      isAllowed ||= other;
    }
    return isAllowed;
  };
  const allOf = (): boolean => {
    let isAllowed = term();
    while (tokens[at] === 'AND') {
      at += 1;
      const other = term();
      isAllowed &&= other;
    }
    return isAllowed;
  };
  const term = (): boolean => {
    const token = tokens[at] ?? '';
    at += 1;
    if (token !== '(') return LICENCES.has(token);
    const isAllowed = anyOf();
    const isClosed = tokens[at] === ')';
    at += 1;
    return isAllowed && isClosed;
  };
  return anyOf() && at === tokens.length;
}

const listed = (versions: Readonly<Record<string, string>> = {}): string =>
  Object.entries(versions)
    .map(([name, version]) => `${name}@${version}`)
    .toSorted()
    .join(' ');

/** Faults of the lock file itself. */
function lockFaults(lock: LockFile, manifest: Manifest): readonly string[] {
  const { packages = {} } = lock;
  const faults: string[] = [];
  if (lock.lockfileVersion !== 3) faults.push(`lockfileVersion is ${lock.lockfileVersion}, not 3`);
  if (Object.keys(packages).length < 2) faults.push('the lock file lists no packages');
  for (const kind of KINDS) {
    if (listed(manifest[kind]) !== listed(packages['']?.[kind]))
      faults.push(`${kind} of package.json and of the lock file differ`);
    for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
      if (!EXACT.test(version)) faults.push(`${name}: "${version}" in ${kind} is not an exact version`);
      else if (packages[`node_modules/${name}`]?.version !== version)
        faults.push(`${name}: ${version} in ${kind} is not the locked version`);
    }
  }
  for (const [path, locked] of Object.entries(packages)) if (path !== '') faults.push(...packageFaults(path, locked));
  return faults;
}

function packageFaults(path: string, locked: LockedPackage): readonly string[] {
  const faults: string[] = [];
  const name = nameAt(path);
  if (!path.startsWith('node_modules/') || locked.link === true) faults.push(`${path}: is not from the registry`);
  if (!EXACT.test(locked.version ?? '')) faults.push(`${path}: "${locked.version}" is not an exact version`);
  if (!INTEGRITY.test(locked.integrity ?? '')) faults.push(`${path}: has no sha512 integrity`);
  // The lock file has no addresses of the registry: a `resolved` address is another source, e.g. git or a file.
  if (locked.resolved !== undefined) faults.push(`${path}: has a resolved address`);
  if (locked.hasInstallScript === true && !Object.hasOwn(INSTALL_SCRIPTS, name))
    faults.push(`${path}: has an install script that is not on the list`);
  if (locked.dev === true) return faults;
  if (!isAllowedLicence(locked.license)) faults.push(`${path}: its licence is ${JSON.stringify(locked.license)}`);
  if (locked.name !== undefined && locked.name !== name) faults.push(`${path}: is another package, ${locked.name}`);
  return faults;
}

/** Differences between the installed packages and the lock file. */
function installedFaults(lock: LockFile, installedAt: (path: string) => Installed | null): readonly string[] {
  return Object.entries(lock.packages ?? {}).flatMap(([path, locked]) => {
    const installed = path === '' ? null : installedAt(path);
    if (installed === null) return [];
    const { manifest, builds } = installed;
    const faults: string[] = [];
    if (manifest.version !== locked.version)
      faults.push(`${path}: ${manifest.version} is installed, ${locked.version} locked`);
    if (locked.dev !== true && !isAllowedLicence(manifest.license))
      faults.push(`${path}: its licence as installed is ${JSON.stringify(manifest.license)}`);
    const runs = INSTALL_HOOKS.some((script) => manifest.scripts?.[script] !== undefined);
    if ((runs || (builds && manifest.gypfile !== false)) && locked.hasInstallScript !== true)
      faults.push(`${path}: has an install script that the lock file does not record`);
    return faults;
  });
}

/** Differences between `INSTALL_SCRIPTS`, the lock file and `allowScripts`. */
function scriptListFaults(lock: LockFile, manifest: Manifest): readonly string[] {
  const { packages = {} } = lock;
  const scripted = new Set(
    Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
      path !== '' && hasInstallScript === true ? [nameAt(path)] : [],
    ),
  );
  return Object.keys(INSTALL_SCRIPTS).flatMap((name) => {
    if (!scripted.has(name)) return [`${name}: is on the list of install scripts and has none`];
    return manifest.allowScripts?.[name] === false ? [] : [`${name}: allowScripts of package.json does not forbid it`];
  });
}

/** All faults of the dependencies. `installedAt` returns null for packages that are not installed on this platform. */
export function dependencyFaults(
  lock: LockFile,
  manifest: Manifest,
  installedAt: (path: string) => Installed | null,
): readonly string[] {
  return [...lockFaults(lock, manifest), ...scriptListFaults(lock, manifest), ...installedFaults(lock, installedAt)];
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** The dependencies of the project in a folder. */
export function projectIn(root: string): {
  readonly lock: LockFile;
  readonly manifest: Manifest;
  readonly installedAt: (path: string) => Installed | null;
} {
  return {
    lock: readJson(join(root, 'package-lock.json')) as LockFile,
    manifest: readJson(join(root, 'package.json')) as Manifest,
    installedAt(path) {
      const file = join(root, path, 'package.json');
      if (!existsSync(file)) return null;
      return { manifest: readJson(file) as Manifest, builds: existsSync(join(root, path, 'binding.gyp')) };
    },
  };
}

if (import.meta.main) {
  const { lock, manifest, installedAt } = projectIn(join(import.meta.dirname, '..'));
  const faults = dependencyFaults(lock, manifest, installedAt);
  for (const fault of faults) console.error(fault);
  const count = Object.keys(lock.packages ?? {}).length - 1;
  console.log(`${count} packages, ${faults.length} faults`);
  if (faults.length > 0) process.exitCode = 1;
}
