import { describe, expect, it } from 'vitest';
import { dependencyFaults, isAllowedLicence, projectIn } from '../../scripts/check-dependencies.ts';
import { ROOT } from './repository.ts';

type Project = ReturnType<typeof projectIn>;
type Locked = NonNullable<Project['lock']['packages']>[string];

const project = projectIn(ROOT);

/** Faults of the project with a changed lock file, manifest or installed package. */
function faultsWith(change: {
  readonly packages?: Readonly<Record<string, Locked>>;
  readonly lock?: object;
  readonly manifest?: object;
  readonly installedAt?: Project['installedAt'];
}): readonly string[] {
  const lock = {
    ...project.lock,
    ...change.lock,
    packages: { ...project.lock.packages, ...change.packages },
  };
  return dependencyFaults(lock, { ...project.manifest, ...change.manifest }, change.installedAt ?? project.installedAt);
}

const KOA = 'node_modules/koa';
const koa: Locked = project.lock.packages?.[KOA] ?? {};
const installedKoa = project.installedAt(KOA);

describe('dependencies', () => {
  it('have no faults', () => {
    expect(Object.keys(project.lock.packages ?? {}).length).toBeGreaterThan(300);
    expect(dependencyFaults(project.lock, project.manifest, project.installedAt)).toEqual([]);
  });

  it.each([
    [{ ...koa, license: 'GPL-3.0-only' }, 'its licence is "GPL-3.0-only"'],
    [{ ...koa, license: 'SSPL-1.0' }, 'its licence is "SSPL-1.0"'],
    [{ ...koa, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'has no sha512 integrity'],
    [{ ...koa, integrity: '' }, 'has no sha512 integrity'],
    [{ ...koa, resolved: 'git+ssh://git@host.example/koa.git#abc' }, 'has a resolved address'],
    [{ ...koa, resolved: 'http://host.example/koa.tgz' }, 'has a resolved address'],
    [{ ...koa, resolved: 'file:../koa' }, 'has a resolved address'],
    [{ ...koa, link: true }, 'is not from the registry'],
    [{ ...koa, name: 'k0a' }, 'is another package, k0a'],
    [{ ...koa, hasInstallScript: true }, 'has an install script that is not on the list'],
  ])('a planted fault of a package is reported: %#', (planted, fault) => {
    expect(faultsWith({ packages: { [KOA]: planted } })).toEqual([`${KOA}: ${fault}`]);
  });

  it('an indirect dependency without a licence, and a package outside of node_modules, are reported', () => {
    const { license: _license, ...unlicensed } = koa;
    expect(faultsWith({ packages: { 'node_modules/a/node_modules/@b/c': unlicensed, 'packages/d': koa } })).toEqual([
      'node_modules/a/node_modules/@b/c: its licence is undefined',
      'packages/d: is not from the registry',
    ]);
  });

  it('a version that is not exact, or not the locked one, is reported', () => {
    const version = String(koa.version);
    const { dependencies = {} } = project.manifest;
    expect(faultsWith({ manifest: { dependencies: { ...dependencies, koa: `^${version}` } } })).toEqual([
      'dependencies of package.json and of the lock file differ',
      `koa: "^${version}" in dependencies is not an exact version`,
    ]);
    expect(faultsWith({ packages: { [KOA]: { ...koa, version: '0.0.1' } } })).toEqual([
      `koa: ${version} in dependencies is not the locked version`,
      `${KOA}: ${version} is installed, 0.0.1 locked`,
    ]);
  });

  it('installed packages are checked, not only the lock file', () => {
    const manifest = installedKoa?.manifest ?? {};
    const found = (overrides: object): readonly string[] =>
      faultsWith({
        installedAt: (path) => (path === KOA ? { manifest, builds: false, ...overrides } : null),
      });
    expect(found({})).toEqual([]);
    const unrecorded = [`${KOA}: has an install script that the lock file does not record`];
    expect(found({ manifest: { ...manifest, scripts: { postinstall: 'node x' } } })).toEqual(unrecorded);
    expect(found({ builds: true })).toEqual(unrecorded);
    expect(found({ manifest: { ...manifest, license: 'UNLICENSED' } })).toEqual([
      `${KOA}: its licence as installed is "UNLICENSED"`,
    ]);
  });

  it('a listed package without an install script, or with an allowed one, is reported', () => {
    const sqlite3 = project.lock.packages?.['node_modules/sqlite3'] ?? {};
    expect(faultsWith({ packages: { 'node_modules/sqlite3': { ...sqlite3, hasInstallScript: false } } })).toContain(
      'sqlite3: is on the list of install scripts and has none',
    );
    expect(faultsWith({ manifest: { allowScripts: { sqlite3: true, protobufjs: false } } })).toEqual([
      'sqlite3: allowScripts of package.json does not forbid it',
    ]);
  });

  it('an empty lock file is reported', () => {
    expect(dependencyFaults({}, {}, () => null)).toEqual(
      expect.arrayContaining(['lockfileVersion is undefined, not 3', 'the lock file lists no packages']),
    );
  });
});

it.each([
  ['MIT', true],
  ['(MIT OR WTFPL)', true],
  ['(GPL-2.0 OR (MIT AND ISC))', true],
  ['MIT AND GPL-2.0', false],
  ['(GPL-2.0 OR AGPL-3.0)', false],
  ['Apache-2.0 WITH LLVM-exception', false],
  ['(MIT', false],
  ['', false],
  ['SEE LICENSE IN LICENSE', false],
  [{ type: 'MIT' }, false],
  [undefined, false],
])('the licence %j is allowed: %s', (expression, allowed) => {
  expect(isAllowedLicence(expression)).toBe(allowed);
});
