import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { POLLING } from './test/support/polling.ts';

/** Deadline of a test and of a hook, in ms. Long enough for a machine under heavy load. */
const DEADLINE_MS = 180_000;

/** At least two workers. The runner's default leaves one core unused, which is half of a machine with two cores. */
const WORKERS = Math.max(2, availableParallelism() - 1);

// Tests of processes run after those of one process, and the browser at the end, one file at a time.
const folder = (name: string, order = 0, setupFiles: readonly string[] = []) => ({
  // The runner's default adds `development`, which loads a second copy of graphql.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    name,
    setupFiles: [...setupFiles],
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: name === 'house' ? 300_000 : DEADLINE_MS,
    hookTimeout: DEADLINE_MS,
    expect: { poll: POLLING },
    sequence: { groupOrder: order },
    maxWorkers: name === 'browser' ? 1 : WORKERS,
    // Modules are loaded once per worker, because imports would take most of the time. Tests of `house` read registrations
    // of modules and need isolation.
    isolate: name === 'house',
    // Tests make many short-lived objects: with the default of 16 MB they are collected more often.
    execArgv: ['--max-semi-space-size=64'],
  },
});

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    projects: [
      folder('unit'),
      folder('contract', 0, ['test/support/checked-fetch.ts']),
      folder('graph'),
      folder('parity'),
      folder('ports'),
      folder('providers'),
      folder('clients'),
      folder('e2e', 1),
      folder('browser', 2),
      folder('house'),
    ],
  },
});
