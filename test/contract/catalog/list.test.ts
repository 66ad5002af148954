import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogOf, startCatalogServer } from './catalog-server.ts';

/** Declared fields of an entry without values. */
const DECLARED = {
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
};

const rows = {
  zeta: {
    max_tokens: '8192',
    zoom: [1, 2],
    litellm_provider: 'OpenAI',
    mode: 'chat',
    supports_vision: true,
    price: 0.5,
  },
  'azure/gpt-4': { litellm_provider: 'azure', mode: 'chat', input_cost_per_token: 2.5e-6, supports_vision: false },
  'gpt-4': { litellm_provider: 'openai', mode: 'chat' },
};
const ZETA = {
  ...DECLARED,
  id: 'zeta',
  provider: 'OpenAI',
  mode: 'chat',
  max_tokens: 8192,
  supports_vision: true,
  zoom: [1, 2],
  price: 0.5,
};
const AZURE = {
  ...DECLARED,
  id: 'azure/gpt-4',
  provider: 'azure',
  mode: 'chat',
  input_cost_per_token: 0.0000025,
  supports_vision: false,
};
const GPT = { ...DECLARED, id: 'gpt-4', provider: 'openai', mode: 'chat' };

let server: Awaited<ReturnType<typeof startCatalogServer>>;
beforeAll(async () => {
  server = await startCatalogServer(catalogOf(rows));
});
afterAll(() => server.close());

async function get(path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, body: await response.json() };
}

describe('catalog.list 200', () => {
  it('lists entries in the order of the file, with declared fields before other fields', async () => {
    const response = await fetch(`${server.url}/model_catalog`);
    const text = await response.text();
    expect([response.headers.get('content-type'), JSON.parse(text)]).toEqual([
      'application/json',
      { object: 'list', data: [ZETA, AZURE, GPT], total_count: 3, has_more: false, page: 1, page_size: 50 },
    ]);
    const first = (JSON.parse(text) as { data: object[] }).data[0] ?? {};
    expect(Object.keys(first)).toEqual(['id', ...Object.keys(DECLARED), 'zoom', 'price']);
  });
  it.each<[string, object[]]>([
    ['provider=OPENAI', [ZETA, GPT]],
    ['mode=Chat&model=GPT', [AZURE, GPT]],
    ['model=re:%5Egpt', [GPT]],
    ['model=gpt-4&provider=azure', [AZURE]],
    ['supports_vision=off', [AZURE]],
    ['provider=', []],
    ['model=', [ZETA, AZURE, GPT]],
    ['model=re:', [ZETA, AZURE, GPT]],
    ['model=%67pt-4&model=zeta&unknown=1', [ZETA]],
  ])('the query ?%s selects the matching entries', async (search, data) => {
    expect(await get(`/model_catalog?${search}`)).toEqual({
      status: 200,
      body: { object: 'list', data, total_count: data.length, has_more: false, page: 1, page_size: 50 },
    });
  });
  it.each<[number, object[], boolean]>([
    [1, [ZETA, AZURE], true],
    [2, [GPT], false],
    [3, [], false],
  ])('page %s has at most two entries if the page size is two', async (page, data, hasMore) => {
    expect(await get(`/model_catalog?page_size=2&page=${page}`)).toEqual({
      status: 200,
      body: { object: 'list', data, total_count: 3, has_more: hasMore, page, page_size: 2 },
    });
  });
});

describe('catalog.list 400', () => {
  it.each([
    ['re:[x', "Invalid regex in 'model' param: unterminated character set at position 0"],
    ['re:x(?=y)', "Invalid regex in 'model' param: unsupported: look-around at position 1"],
    [`re:${'x'.repeat(513)}`, "Invalid regex in 'model' param: unsupported: pattern longer than 512 characters"],
  ])('the pattern %s is invalid or not supported', async (model, detail) => {
    expect(await get(`/model_catalog?model=${encodeURIComponent(model)}`)).toEqual({ status: 400, body: { detail } });
  });
});

describe('catalog.list 422', () => {
  it('reports every fault in the order of the parameters', async () => {
    expect(await get('/model_catalog?page=0&supports_reasoning=maybe')).toEqual({
      status: 422,
      body: {
        detail: [
          {
            type: 'bool_parsing',
            loc: ['query', 'supports_reasoning'],
            msg: 'Input should be a valid boolean, unable to interpret input',
            input: 'maybe',
          },
          {
            type: 'greater_than_equal',
            loc: ['query', 'page'],
            msg: 'Input should be greater than or equal to 1',
            input: '0',
            ctx: { ge: 1 },
          },
        ],
      },
    });
  });
  it('reports a number with too many digits', async () => {
    // The maximum is 4,300 digits.
    const page = '9'.repeat(4301);
    expect(await get(`/model_catalog?page=${page}`)).toEqual({
      status: 422,
      body: {
        detail: [
          {
            type: 'int_parsing_size',
            loc: ['query', 'page'],
            msg: 'Unable to parse input string as an integer, exceeded maximum size',
            input: page,
          },
        ],
      },
    });
  });
});
