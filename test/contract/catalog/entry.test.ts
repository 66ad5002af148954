import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogOf, startCatalogServer } from './catalog-server.ts';

const IDS = ['azure/gpt-4', 'a+b', 'a b', '100%', 'x/../y', 'a//b', 'é', 'GPT-4', 'v1:0@2'];

let server: Awaited<ReturnType<typeof startCatalogServer>>;
beforeAll(async () => {
  server = await startCatalogServer(catalogOf(Object.fromEntries(IDS.map((id) => [id, {}]))));
});
afterAll(() => server.close());

/** Sends the path unchanged. `fetch` would normalize it. */
function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    connect(Number(port), hostname)
      .on('data', (bytes) => {
        answer += bytes.toString();
      })
      .on('close', () =>
        resolve({
          status: Number(answer.split(' ')[1]),
          body: JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Record<string, unknown>,
        }),
      )
      .on('error', reject)
      .write(`GET ${path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n`);
  });
}

describe('catalog.get 200', () => {
  it('has every declared field; a field without a value is null', async () => {
    expect(await get('/model_catalog/GPT-4')).toEqual({
      status: 200,
      body: {
        id: 'GPT-4',
        object: 'model_catalog.entry',
        provider: null,
        mode: null,
        max_input_tokens: null,
        max_output_tokens: null,
        max_tokens: null,
        input_cost_per_token: null,
        output_cost_per_token: null,
        cache_read_input_token_cost: null,
        input_cost_per_audio_token: null,
        output_cost_per_reasoning_token: null,
        deprecation_date: null,
        supports_function_calling: null,
        supports_parallel_function_calling: null,
        supports_vision: null,
        supports_audio_input: null,
        supports_audio_output: null,
        supports_prompt_caching: null,
        supports_reasoning: null,
        supports_response_schema: null,
        supports_system_messages: null,
        supports_web_search: null,
      },
    });
  });
  it.each([
    ['azure/gpt-4', 'azure/gpt-4'],
    ['azure%2Fgpt-4', 'azure/gpt-4'],
    ['azure%2fgpt-4', 'azure/gpt-4'],
    ['a+b', 'a+b'],
    ['a%2Bb', 'a+b'],
    ['a%20b', 'a b'],
    ['100%25', '100%'],
    ['x/../y', 'x/../y'],
    ['a//b', 'a//b'],
    ['%C3%A9', 'é'],
    ['v1:0@2', 'v1:0@2'],
    ['v1%3A0%402', 'v1:0@2'],
  ])('the path %s finds the entry %s', async (path, id) => {
    const { status, body } = await get(`/model_catalog/${path}`);
    expect([status, body['id']]).toEqual([200, id]);
  });
});

describe('catalog.get 404', () => {
  it.each([
    ['gpt-4', 'gpt-4'],
    ['', ''],
    ['no%2Fsuch', 'no/such'],
    ['%2541', '%41'],
    ['a;b', 'a;b'],
    ['%E2%82%AC', '€'],
  ])('the error for the path %j has the decoded id %j', async (path, id) => {
    expect(await get(`/model_catalog/${path}`)).toEqual({
      status: 404,
      body: { detail: `Model '${id}' not found in catalog` },
    });
  });
});
