import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compilerVersion, cruiseSources } from './cruise.ts';
import { rules } from './layer-rules.ts';

const ROOT = join(dirname(import.meta.dirname), '..');
const FOLDERS = ['src', 'resolvers', 'schema', 'rest-shims', 'scripts', 'codegen.ts'];

/** Lower bound of cruised modules: fewer means that the cruiser read nothing. */
const LEAST_MODULES = 90;

describe('layers', () => {
  it('the cruiser has a compiler it can use', () => {
    expect(compilerVersion).toMatch(/^6\./);
  });

  it('no file imports from a layer that it may not import', async () => {
    const { summary } = await cruiseSources(ROOT, FOLDERS, rules);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
    expect(summary.totalCruised).toBeGreaterThan(LEAST_MODULES);
  });

  it('every rule reports the canary that breaks it', async () => {
    const canary = join(import.meta.dirname, 'canary');
    const { summary } = await cruiseSources(canary, [...FOLDERS.slice(0, 4), 'codegen.ts'], rules);
    const reported = new Set(summary.violations.map(({ rule }) => rule.name));
    expect(rules.map(({ name }) => name).filter((name) => name !== undefined && !reported.has(name))).toEqual([]);
  });
});
