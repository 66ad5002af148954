import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PATIENCE } from './test/support/patience.ts';

/** Deadline of a test and of a hook, in ms. A test that can pass ends before it on a machine with much other work. */
const DEADLINE_MS = 180_000;

/** The runner's default leaves one core unused, which on two cores is half of the machine. */
const WORKERS = Math.max(2, availableParallelism() - 1);

// Tests of processes run after those of one process, and the browser at the end, one file at a time.
const folder = (name: string, order = 0, setupFiles: readonly string[] = []) => ({
  // The runner would add `development`, by which graphql resolves to a second copy of itself.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    name,
    setupFiles: [...setupFiles],
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: name === 'house' ? 300_000 : DEADLINE_MS,
    hookTimeout: DEADLINE_MS,
    expect: { poll: PATIENCE },
    sequence: { groupOrder: order },
    maxWorkers: name === 'browser' ? 1 : WORKERS,
    // Modules are loaded once per worker: a suite of this many files spends most of its time on imports otherwise. The house
    // tests read what modules register, and need their own.
    isolate: name === 'house',
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
