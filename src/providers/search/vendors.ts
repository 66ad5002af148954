import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { Secret } from '../../domain/secret.ts';
import type { SearchVendor, SearchVendors, VendorRequest, WebSearch } from '../../domain/search-tools/search.ts';

/** Default number of tokens of the text of a result, as in the API of Perplexity. */
const TOKENS_PER_PAGE = 1_024;
const CHARACTERS_PER_TOKEN = 4;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const dateOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const listOf = (value: unknown): readonly JsonObject[] | null =>
  Array.isArray(value) ? value.filter(isJsonObject) : null;

/** Members without those that are absent. */
const present = (members: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );

const joined = ({ queries }: WebSearch): string => queries.join(' ');

/** A query with the operators of search engines for domains. */
function withSites(search: WebSearch): string {
  const sites = search.domains.map((domain) => `site:${domain}`).join(' OR ');
  if (sites === '') return joined(search);
  return `${joined(search)} ${search.domains.length === 1 ? sites : `(${sites})`}`;
}

const bearer = (key: Secret | null): VendorRequest['credentials'] =>
  key === null ? {} : { authorization: new Secret(`Bearer ${key.reveal()}`) };
const header = (name: string, key: Secret | null): VendorRequest['credentials'] =>
  key === null ? {} : { [name]: key };

const post = (json: JsonObject, credentials: VendorRequest['credentials']): VendorRequest => ({
  method: 'POST',
  query: {},
  json,
  credentials,
});

const get = (members: JsonObject, credentials: VendorRequest['credentials']): VendorRequest => ({
  method: 'GET',
  // Parameters of a query are texts, numbers and booleans.
  query: Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [],
    ),
  ),
  json: null,
  credentials,
});

const ONE_QUERY = (): number => 1;

/** https://docs.perplexity.ai/api-reference/search-post */
const PERPLEXITY: SearchVendor = {
  name: 'perplexity',
  title: 'Perplexity',
  base: 'https://api.perplexity.ai',
  keyOptional: false,
  keyVariables: ['PERPLEXITYAI_API_KEY', 'PERPLEXITY_API_KEY'],
  baseVariables: ['PERPLEXITY_API_BASE'],
  queriesOf: ({ queries }) => queries.length,
  write(search, key) {
    const { queries, maxResults, domains, maxTokensPerPage, country, further } = search;
    return post(
      {
        ...further,
        query: queries.length === 1 ? queries[0] : queries,
        ...present({
          max_results: maxResults,
          search_domain_filter: domains,
          max_tokens_per_page: maxTokensPerPage,
          country,
        }),
      },
      bearer(key),
    );
  },
  read: ({ results }) =>
    listOf(results)?.map(({ title, url, snippet, date, last_updated: lastUpdated }) => ({
      title: textOf(title),
      url: textOf(url),
      snippet: textOf(snippet),
      date: dateOf(date),
      lastUpdated: dateOf(lastUpdated),
    })) ?? null,
};

/** Created at the first use: the first object of `Intl` loads 5 MiB of locale data. */
let countryNames: Intl.DisplayNames | null = null;

/** English name of a country in lower case, as Tavily takes it; null for an unknown code. */
function countryNameOf(code: string): string | null {
  countryNames ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return countryNames.of(code)?.toLowerCase() ?? null;
}

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
const TAVILY: SearchVendor = {
  name: 'tavily',
  title: 'Tavily',
  base: 'https://api.tavily.com',
  keyOptional: false,
  keyVariables: ['TAVILY_API_KEY'],
  baseVariables: ['TAVILY_API_BASE'],
  queriesOf: ONE_QUERY,
  write(search, key) {
    const { maxResults, domains, country, further } = search;
    const countryName = country === null ? null : countryNameOf(country);
    return post(
      {
        ...further,
        // Tavily would select the depth, which decides the price.
        ...(Boolean(further['auto_parameters']) && typeof further['search_depth'] !== 'string'
          ? { search_depth: 'basic' }
          : {}),
        query: joined(search),
        ...present({ max_results: maxResults, include_domains: domains, country: countryName }),
      },
      bearer(key),
    );
  },
  read: ({ results }) =>
    listOf(results)?.map(({ title, url, content, published_date: date }) => ({
      title: textOf(title),
      url: textOf(url),
      snippet: textOf(content),
      date: dateOf(date),
      lastUpdated: null,
    })) ?? null,
};

function exaSnippet({ text, summary, highlights }: JsonObject): string {
  if (textOf(text) !== '') return textOf(text);
  if (textOf(summary) !== '') return textOf(summary);
  return Array.isArray(highlights) ? highlights.filter((one) => typeof one === 'string').join('\n') : '';
}

/** https://docs.exa.ai/reference/search */
const EXA: SearchVendor = {
  name: 'exa_ai',
  title: 'Exa AI',
  base: 'https://api.exa.ai',
  keyOptional: false,
  keyVariables: ['EXA_API_KEY'],
  baseVariables: ['EXA_API_BASE'],
  queriesOf: ONE_QUERY,
  write(search, key) {
    const { maxResults, domains, maxTokensPerPage, country, further } = search;
    const maxCharacters = (maxTokensPerPage ?? TOKENS_PER_PAGE) * CHARACTERS_PER_TOKEN;
    // The number of results decides the price: it is that of `max_results` only.
    const { numResults: _results, ...parameters } = further;
    return post(
      {
        contents: { text: { maxCharacters } },
        ...parameters,
        query: joined(search),
        ...present({ numResults: maxResults, includeDomains: domains, userLocation: country }),
      },
      header('x-api-key', key),
    );
  },
  read: ({ results }) =>
    listOf(results)?.map((one) => ({
      title: textOf(one['title']),
      url: textOf(one['url']),
      snippet: exaSnippet(one),
      date: dateOf(one['publishedDate']),
      lastUpdated: null,
    })) ?? null,
};

/** https://api-dashboard.search.brave.com/api-reference/web/search/get */
const BRAVE: SearchVendor = {
  name: 'brave',
  title: 'Brave Search',
  base: 'https://api.search.brave.com/res/v1/web',
  keyOptional: false,
  keyVariables: ['BRAVE_API_KEY'],
  baseVariables: ['BRAVE_API_BASE'],
  queriesOf: ONE_QUERY,
  write(search, key) {
    const { maxResults, country, further } = search;
    const parameters = present({ q: withSites(search), count: maxResults, country });
    // Decorations are HTML tags in texts.
    return get({ text_decorations: false, ...further, ...parameters }, header('x-subscription-token', key));
  },
  // An answer without web results has no member `web`.
  read: ({ web, type }) =>
    type !== 'search' && !isJsonObject(web)
      ? null
      : (listOf(isJsonObject(web) ? web['results'] : []) ?? []).map(({ title, url, description, ...one }) => ({
          title: textOf(title),
          url: textOf(url),
          snippet: textOf(description),
          date: dateOf(one['page_age']) ?? dateOf(one['age']),
          lastUpdated: null,
        })),
};

/** https://serper.dev */
const SERPER: SearchVendor = {
  name: 'serper',
  title: 'Serper',
  base: 'https://google.serper.dev',
  keyOptional: false,
  keyVariables: ['SERPER_API_KEY'],
  baseVariables: ['SERPER_API_BASE'],
  queriesOf: ONE_QUERY,
  write(search, key) {
    const { maxResults, country, further } = search;
    const parameters = present({ q: withSites(search), num: maxResults, gl: country?.toLowerCase() ?? null });
    return post({ ...further, ...parameters }, header('x-api-key', key));
  },
  read: ({ organic }) =>
    listOf(organic)?.map(({ title, link, snippet, date }) => ({
      title: textOf(title),
      url: textOf(link),
      snippet: textOf(snippet),
      date: dateOf(date),
      lastUpdated: null,
    })) ?? null,
};

/** https://docs.searxng.org/dev/search_api.html */
const SEARXNG: SearchVendor = {
  name: 'searxng',
  title: 'SearXNG',
  base: null,
  keyOptional: true,
  keyVariables: ['SEARXNG_API_KEY'],
  baseVariables: ['SEARXNG_API_BASE'],
  queriesOf: ONE_QUERY,
  write: (search, key) => get({ ...search.further, q: withSites(search), format: 'json' }, bearer(key)),
  read: ({ results }) =>
    listOf(results)?.map(({ title, url, content, publishedDate: date }) => ({
      title: textOf(title),
      url: textOf(url),
      snippet: textOf(content),
      date: dateOf(date),
      lastUpdated: null,
    })) ?? null,
};

const ALL: readonly SearchVendor[] = [PERPLEXITY, TAVILY, EXA, BRAVE, SERPER, SEARXNG];

/** Providers of web searches. */
export const SEARCH_VENDORS: SearchVendors = {
  all: ALL,
  find: (name) => ALL.find((vendor) => vendor.name === name) ?? null,
};
