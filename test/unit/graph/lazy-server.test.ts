import { expect, it } from 'vitest';
import type { GraphQLOptions } from '../../../src/graphql/engine.ts';
import { createLazyGraphQL } from '../../../src/graphql/lazy-server.ts';
import { createLog } from '../../../src/runtime/telemetry/log.ts';

it('a graph whose build failed is built again by the next request', async () => {
  let builds = 0;
  const options: Omit<GraphQLOptions, 'schema'> = {
    scopeFor: () => Promise.reject(new Error('No operation runs here.')),
    log: createLog('silent'),
    get settings() {
      builds += 1;
      if (builds === 1) throw new Error('The first build fails.');
      return { introspection: true, graphiql: false };
    },
  };
  const graph = createLazyGraphQL(options);
  const [first, second] = await Promise.allSettled([graph.load(), graph.load()]);
  expect([first.status, second.status, builds]).toEqual(['rejected', 'rejected', 1]);
  await graph.load();
  await graph.load();
  expect(builds).toBe(2);
  graph.close();
});
