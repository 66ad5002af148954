import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compilerVersion, cruiseHouse } from './cruise.ts';
import { rules } from './floor-rules.ts';

const ROOT = join(dirname(import.meta.dirname), '..');
const FOLDERS = ['src', 'resolvers', 'schema', 'rest-shims', 'scripts', 'codegen.ts'];

/** Fewer than this and the cruiser has gone blind; it is far below the true number on purpose. */
const LEAST_MODULES = 90;

describe('floors', () => {
  it('the cruiser has a compiler it can use', () => {
    expect(compilerVersion).toMatch(/^6\./);
  });

  it('no file imports from a floor it may not see', async () => {
    const { summary } = await cruiseHouse(ROOT, FOLDERS, rules);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
    expect(summary.totalCruised).toBeGreaterThan(LEAST_MODULES);
  });

  it('every rule reports the canary that breaks it', async () => {
    const canary = join(import.meta.dirname, 'canary');
    const { summary } = await cruiseHouse(canary, [...FOLDERS.slice(0, 4), 'codegen.ts'], rules);
    const reported = new Set(summary.violations.map(({ rule }) => rule.name));
    expect(rules.map(({ name }) => name).filter((name) => name !== undefined && !reported.has(name))).toEqual([]);
  });
});
