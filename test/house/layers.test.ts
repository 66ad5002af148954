import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkImports } from './imports.ts';
import { rules } from './layer-rules.ts';

const ROOT = join(dirname(import.meta.dirname), '..');
const FOLDERS = ['src', 'resolvers', 'schema', 'rest-shims', 'lite', 'scripts', 'codegen.ts'];

/** Minimum numbers of files and imports. Lower numbers mean that the check reads too few files. */
const MIN_FILES = 1000;
const MIN_IMPORTS = 5000;

/** Checks the folder `canary`, whose files break each rule. */
const canary = () => checkImports(join(import.meta.dirname, 'canary'), FOLDERS, rules);

describe('layers', () => {
  it('no file imports from a layer that it may not import', () => {
    const { violations, files, imports } = checkImports(ROOT, FOLDERS, rules);
    expect(violations).toEqual([]);
    expect(files).toBeGreaterThan(MIN_FILES);
    expect(imports).toBeGreaterThan(MIN_IMPORTS);
  });

  it('every rule reports the canary that breaks it', () => {
    const reported = new Set(canary().violations.map(({ rule }) => rule));
    expect(rules.map(({ name }) => name).filter((name) => !reported.has(name))).toEqual([]);
  });

  it('every form of an import is found', () => {
    const found = canary().violations.filter(
      ({ rule, from }) => rule === 'wire' && from === 'src/wire/imports-in-every-form.ts',
    );
    expect(found.map(({ to }) => to)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `resolvers/${name}.ts`),
    );
  });

  it('the rule of import cycles reports only the imports of a cycle', () => {
    const circular = canary().violations.filter(({ rule }) => rule === 'no-circular');
    expect(circular.map(({ from, to }) => `${from} -> ${to}`)).toEqual([
      'rest-shims/imports-schema.ts -> schema/imports-rest-shims.ts',
      'schema/imports-rest-shims.ts -> rest-shims/imports-schema.ts',
    ]);
  });
});
