import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { Secret } from '../../domain/secret.ts';
import type { SearchVendor, SearchVendors, VendorRequest, WebSearch } from '../../domain/search-tools/search.ts';

/** Default number of tokens of the text of a result, as in the API of Perplexity. */
const TOKENS_PER_PAGE = 1_024;
/** Assumed length of a token. Exa limits texts by characters. */
const CHARACTERS_PER_TOKEN = 4;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const dateOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const listOf = (value: unknown): readonly JsonObject[] | null =>
  Array.isArray(value) ? value.filter(isJsonObject) : null;

/** The members whose value is neither null nor an empty list. */
const present = (members: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );

const joinedQueries = ({ queries }: WebSearch): string => queries.join(' ');

/** All queries as one text. The operator `site:` limits the results to the domains. */
function withSites(search: WebSearch): string {
  const sites = search.domains.map((domain) => `site:${domain}`).join(' OR ');
  if (sites === '') return joinedQueries(search);
  return `${joinedQueries(search)} ${search.domains.length === 1 ? sites : `(${sites})`}`;
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
  // A query has texts, numbers and booleans. Other values are left out.
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

/** English name of a country in lower case, as Tavily reads it; null for an unknown code. */
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
        // With `auto_parameters`, Tavily selects a depth that the request does not set. The depth decides the price.
        ...(Boolean(further['auto_parameters']) && typeof further['search_depth'] !== 'string'
          ? { search_depth: 'basic' }
          : {}),
        query: joinedQueries(search),
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

/** Exa returns the text, a summary or highlights of a page, as the request asks. The first that is present is used. */
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
    // The price depends on the number of results, which only `max_results` may set.
    const { numResults: _results, ...parameters } = further;
    return post(
      {
        contents: { text: { maxCharacters } },
        ...parameters,
        query: joinedQueries(search),
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
    // Text decorations are HTML tags in the texts of results.
    return get({ text_decorations: false, ...further, ...parameters }, header('x-subscription-token', key));
  },
  read({ web, type }) {
    // An answer without web results has no member `web`.
    if (!isJsonObject(web)) return type === 'search' ? [] : null;
    const results = listOf(web['results']) ?? [];
    return results.map(({ title, url, description, page_age: pageAge, age }) => ({
      title: textOf(title),
      url: textOf(url),
      snippet: textOf(description),
      date: dateOf(pageAge) ?? dateOf(age),
      lastUpdated: null,
    }));
  },
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
