import { defineConfig } from 'vitest/config';

const folder = (name: string, timeoutMs = 5_000) => ({
  // The runner would add `development`, by which graphql resolves to a second copy of itself.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: timeoutMs, hookTimeout: 30_000 },
});

export default defineConfig({
  test: {
    projects: [
      folder('unit'),
      folder('contract', 15_000),
      folder('graph', 15_000),
      folder('parity', 15_000),
      folder('ports', 30_000),
      folder('providers', 15_000),
      folder('e2e', 60_000),
      folder('browser', 60_000),
      folder('house', 60_000),
    ],
  },
});
