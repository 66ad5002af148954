import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogOf, startCatalogServer } from './catalog-server.ts';

const rows = {
  zeta: { max_tokens: '8192', zoom: [1, 2], litellm_provider: 'OpenAI', mode: 'chat', price: 0.5 },
  'azure/gpt-4': { litellm_provider: 'azure', mode: 'chat', input_cost_per_token: 2.5e-6, supports_vision: false },
  empty: {},
};

let server: Awaited<ReturnType<typeof startCatalogServer>>;
beforeAll(async () => {
  server = await startCatalogServer(catalogOf(rows));
});
afterAll(() => server.close());

it.each(['/public/litellm_model_cost_map', '/get/litellm_model_cost_map'])(
  'catalog.priceMap 200: every row of the price map is unchanged, and no key is needed (%s)',
  async (path) => {
    const answer = await fetch(`${server.url}${path}`);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-catalog-snapshot')]).toEqual([
      200,
      'application/json',
      'test',
    ]);
    expect(await answer.text()).toBe(JSON.stringify(rows));
  },
);
