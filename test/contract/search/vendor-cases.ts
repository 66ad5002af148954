import { type Json, TOOL_KEY } from './search-server.ts';

/** The two results of every provider of `SearchUpstream`, in the format of Perplexity. */
export const RESULTS = [
  { title: 'T1', url: 'https://a.test/1', snippet: 'S1', date: '2026-01-02', last_updated: null },
  { title: 'T2', url: 'https://a.test/2', snippet: 'S2', date: null, last_updated: null },
];
/** An answer with both results. `first` and `second` replace members of the results. */
export const found = (first: Json = {}, second: Json = {}): Json => ({
  object: 'search',
  results: [
    { ...RESULTS[0], ...first },
    { ...RESULTS[1], ...second },
  ],
});

/** A search with every parameter, and with an account and an address, which no provider gets. */
export const FULL_SEARCH = {
  query: ['one', 'two'],
  max_results: 5,
  search_domain_filter: ['a.test', 'b.test'],
  max_tokens_per_page: 10,
  country: 'us',
  own: 'parameter',
  api_key: 'of the caller',
  api_base: 'http://127.0.0.1:1',
};

interface VendorCase {
  readonly sent: { readonly method: string; readonly query: Json; readonly json: Json };
  readonly header: readonly [name: string, value: string];
  readonly answer: Json;
}

/** The request that each provider gets for `FULL_SEARCH`, and the answer of the gateway. */
export const VENDORS: readonly (readonly [tool: string, VendorCase])[] = [
  [
    'pplx',
    {
      sent: {
        method: 'POST',
        query: {},
        json: {
          own: 'parameter',
          query: ['one', 'two'],
          max_results: 5,
          search_domain_filter: ['a.test', 'b.test'],
          max_tokens_per_page: 10,
          country: 'US',
        },
      },
      header: ['authorization', `Bearer ${TOOL_KEY}`],
      answer: found({ last_updated: '2026-02-03' }),
    },
  ],
  [
    'tavily',
    {
      sent: {
        method: 'POST',
        query: {},
        json: {
          own: 'parameter',
          query: 'one two',
          max_results: 5,
          include_domains: ['a.test', 'b.test'],
          country: 'united states',
        },
      },
      header: ['authorization', `Bearer ${TOOL_KEY}`],
      answer: found(),
    },
  ],
  [
    'exa_ai',
    {
      sent: {
        method: 'POST',
        query: {},
        json: {
          contents: { text: { maxCharacters: 40 } },
          own: 'parameter',
          query: 'one two',
          numResults: 5,
          includeDomains: ['a.test', 'b.test'],
          userLocation: 'US',
        },
      },
      header: ['x-api-key', TOOL_KEY],
      answer: found({ date: '2026-01-02T00:00:00.000Z' }, { title: '', snippet: 'S2\nS3' }),
    },
  ],
  [
    'brave',
    {
      sent: {
        method: 'GET',
        query: {
          text_decorations: 'false',
          own: 'parameter',
          q: 'one two (site:a.test OR site:b.test)',
          count: '5',
          country: 'US',
        },
        json: {},
      },
      header: ['x-subscription-token', TOOL_KEY],
      answer: found({ date: '2026-01-02T03:04:05' }, { date: '2 days ago' }),
    },
  ],
  [
    'serper',
    {
      sent: {
        method: 'POST',
        query: {},
        json: { own: 'parameter', q: 'one two (site:a.test OR site:b.test)', num: 5, gl: 'us' },
      },
      header: ['x-api-key', TOOL_KEY],
      answer: found({ date: 'Jan 2, 2026' }),
    },
  ],
  [
    'searxng',
    {
      sent: {
        method: 'GET',
        query: { own: 'parameter', q: 'one two (site:a.test OR site:b.test)', format: 'json' },
        json: {},
      },
      header: ['authorization', `Bearer ${TOOL_KEY}`],
      answer: found({ date: '2026-01-02T00:00:00' }),
    },
  ],
];
