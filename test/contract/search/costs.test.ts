import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type Json, type SearchServer, startSearchServer } from './search-server.ts';

let server: SearchServer;
beforeAll(async () => {
  server = await startSearchServer();
});
afterAll(() => server.stop());

const search = (tool: string, body: Json, key: string) => server.ask('POST', `/v1/search/${tool}`, body, key);

interface SpendRow {
  readonly spend: number;
  readonly call_type: string;
  readonly model: string;
  readonly custom_llm_provider: string;
  readonly status: string;
}

describe('the cost of a search', () => {
  it.each([
    ['pplx', { query: 'x' }, 'perplexity/search', 0.005],
    // Perplexity bills each query of a list.
    ['pplx', { query: ['x', 'y'] }, 'perplexity/search', 0.01],
    ['tavily', { query: 'x' }, 'tavily/search', 0.008],
    ['tavily', { query: 'x', search_depth: 'advanced' }, 'tavily/search-advanced', 0.016],
    ['exa_ai', { query: 'x' }, 'exa_ai/search', 0.005],
    ['exa_ai', { query: 'x', max_results: 26 }, 'exa_ai/search', 0.025],
    // A parameter in the format of the provider does not change the number of results.
    ['exa_ai', { query: 'x', numResults: 100 }, 'exa_ai/search', 0.005],
    ['serper', { query: 'x' }, 'serper/search', 0.0005],
    ['priced', { query: 'x' }, 'brave/search', 0.0025],
    ['pplx', { query: 'status:500' }, 'perplexity/search', 0],
  ] as const)('is exact and counted once: %s %j', async (tool, body, model, cost) => {
    const key = await server.newKey();
    const [status] = await search(tool, body, key);
    const rows = async (): Promise<readonly SpendRow[]> => {
      const [, answer] = await server.ask('GET', `/spend/logs?api_key=${key}&summarize=false`);
      return answer as readonly SpendRow[];
    };
    await expect.poll(async () => (await rows()).length, POLLING).toBe(1);
    const [row] = await rows();
    expect(row).toMatchObject({
      spend: cost,
      call_type: 'asearch',
      model,
      status: status === 200 ? 'success' : 'failure',
    });
    await expect
      .poll(async () => {
        const [, info] = await server.ask('GET', `/key/info?key=${key}`);
        return ((info as Json)['info'] as Json)['spend'];
      }, POLLING)
      .toBe(cost);
  });

  it('is counted when the client disconnects before the answer', async () => {
    const key = await server.newKey();
    const before = server.upstream.received.length;
    const client = new AbortController();
    const answered = fetch(`${server.app.url}/v1/search/pplx`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'no answer' }),
      signal: client.signal,
    }).catch(() => null);
    await expect.poll(() => server.upstream.received.length, POLLING).toBe(before + 1);
    client.abort();
    await answered;
    await expect
      .poll(async () => {
        const [, info] = await server.ask('GET', `/key/info?key=${key}`);
        return ((info as Json)['info'] as Json)['spend'];
      }, POLLING)
      .toBe(0.005);
  });
});
