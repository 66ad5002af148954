import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** The runner's default leaves one core unused, which on two cores is half of the machine. */
const WORKERS = Math.max(2, availableParallelism() - 1);

// Processes and a browser beside other tests get too little CPU for their short waits: they run after them, one file at a time.
const folder = (name: string, timeoutMs = 5_000, order = 0, setupFiles: readonly string[] = []) => ({
  // The runner would add `development`, by which graphql resolves to a second copy of itself.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    name,
    setupFiles: [...setupFiles],
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: timeoutMs,
    hookTimeout: Math.max(30_000, timeoutMs),
    sequence: { groupOrder: order },
    maxWorkers: order === 0 ? WORKERS : 1,
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
      folder('contract', 15_000, 0, ['test/support/checked-fetch.ts']),
      folder('graph', 15_000),
      folder('parity', 15_000),
      folder('ports', 30_000),
      folder('providers', 15_000),
      folder('clients', 60_000),
      folder('e2e', 60_000, 1),
      folder('browser', 120_000, 2),
      folder('house', 300_000),
    ],
  },
});
