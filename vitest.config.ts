import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/long-files-first.ts';
import { POLLING } from './test/support/polling.ts';

/** Deadline of a hook, and of a test outside of `house`, in ms. Long enough for a machine under heavy load. */
const DEADLINE_MS = 180_000;

/** Node imports the sources itself, as in production. A module cannot be mocked. */
const NODE_IMPORTS = { viteModuleRunner: false, nodeLoader: false } as const;

/**
 * One worker more than cores: a worker waits for timers, databases and other processes more than a third of its time.
 */
const WORKERS = availableParallelism() + 1;

/** Numbers of workers of some tiers. The tests of processes wait for windows and leases most of the time. */
const MAX_WORKERS: Readonly<Record<string, number>> = { e2e: WORKERS + 2, browser: 1 };

// Tests of processes run after those of one process, and the browser at the end, one file at a time.
const folder = (name: string, order = 0, setupFiles: readonly string[] = []) => ({
  test: {
    name,
    setupFiles: [...setupFiles],
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: name === 'house' ? 300_000 : DEADLINE_MS,
    hookTimeout: DEADLINE_MS,
    expect: { poll: POLLING },
    sequence: { groupOrder: order },
    maxWorkers: MAX_WORKERS[name] ?? WORKERS,
    // Modules are loaded once per worker, because imports would take most of the time. Tests of `house` read
    // registrations of modules and need isolation.
    isolate: name === 'house',
    experimental: NODE_IMPORTS,
    // Tests make many short-lived objects: with the default of 16 MB they are collected more often.
    execArgv: ['--max-semi-space-size=64'],
  },
});

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    sequence: { sequencer: LongFilesFirst },
    experimental: NODE_IMPORTS,
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
