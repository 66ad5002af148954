import { InvalidInput } from '../errors.ts';
import type { HttpMethod } from '../http.ts';
import type { JsonObject } from '../json-object.ts';
import type { Secret } from '../secret.ts';

/** A web search. */
export interface WebSearch {
  /** At least one text. A provider that accepts only one query gets all texts, joined. */
  readonly queries: readonly string[];
  /** Maximum number of results; null for the default of the provider. */
  readonly maxResults: number | null;
  /** Results come from these domains only; empty: from all. */
  readonly domains: readonly string[];
  /** Maximum number of tokens of the text of a result; null for the default of the provider. */
  readonly maxTokensPerPage: number | null;
  /** Country code of two letters in upper case; null for none. */
  readonly country: string | null;
  /** Other parameters, which are sent to the provider unchanged. */
  readonly further: JsonObject;
}

/** One result of a search. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** Date of the page, as the provider writes it; null when unknown. */
  readonly date: string | null;
  readonly lastUpdated: string | null;
}

/** An HTTP request for a search, in the format of a provider. */
export interface VendorRequest {
  readonly method: HttpMethod;
  /** Query parameters of the address. */
  readonly query: Readonly<Record<string, string>>;
  /** JSON body; null without one. */
  readonly json: JsonObject | null;
  /** Header with the API key; empty for a call without a key. */
  readonly credentials: Readonly<Record<string, Secret>>;
}

/** The API of a provider of searches. */
export interface SearchVendor {
  /** Name in configurations and prices. */
  readonly name: string;
  /** Name in texts for users. */
  readonly title: string;
  /** Default base address; null for a provider whose users run the server themselves. */
  readonly base: string | null;
  /** Whether the provider can be called without an API key. */
  readonly keyOptional: boolean;
  /** Environment variables with the API key for tools without one. The first variable that is set applies. */
  readonly keyVariables: readonly string[];
  /** Environment variables with the base address for tools without one. The first variable that is set applies. */
  readonly baseVariables: readonly string[];
  /** Number of billed queries of a search. */
  queriesOf(search: WebSearch): number;
  /** The request for a search. A null key: the call has no credentials. */
  write(search: WebSearch, key: Secret | null): VendorRequest;
  /** The results in an answer; null for an answer in another format. */
  read(answer: JsonObject): readonly SearchResult[] | null;
}

/** Providers of searches. */
export interface SearchVendors {
  /** Null for an unknown name. */
  find(name: string): SearchVendor | null;
  readonly all: readonly SearchVendor[];
}

/** Names of the supported providers. */
export const SEARCH_PROVIDERS: readonly string[] = ['perplexity', 'tavily', 'exa_ai', 'brave', 'serper', 'searxng'];

/** Number of results that are taken from an answer when the search sets no maximum. */
const MAX_ANSWERED_RESULTS = 100;

/** The results up to the maximum of a search, because some providers send more. */
export const firstResults = (results: readonly SearchResult[], { maxResults }: WebSearch): readonly SearchResult[] =>
  results.slice(0, maxResults ?? MAX_ANSWERED_RESULTS);

/** The request for a search. */
export interface SentSearch {
  /** Name of the search tool in the path, or in the arguments of a graph field; null for none. */
  readonly toolName: string | null;
  /** Members of the body. */
  readonly fields: JsonObject;
}

const MAX_QUERIES = 5;
const MAX_QUERY_CHARACTERS = 8_192;
const MAX_RESULTS = 100;
const MAX_DOMAINS = 20;
const MAX_TOKENS_PER_PAGE = 1_000_000;
const COUNTRY = /^[a-z]{2}$/i;

/**
 * Members of a request that are not sent to the provider unchanged. Credentials and addresses of a request are ignored:
 * those of the tool apply.
 */
const GATEWAY_MEMBERS: ReadonlySet<string> = new Set(
  `query max_results search_domain_filter max_tokens_per_page country search_tool_name model litellm_metadata metadata
   tags user guardrails timeout search_provider stream api_key api_base base_url custom_llm_provider litellm_params
   extra_headers`.split(/\s+/),
);

const faultAt = (member: string, rule: string, message: string): InvalidInput =>
  new InvalidInput(message, [{ path: ['body', member], rule, message }]);

const invalid = (member: string, expected: string): InvalidInput =>
  faultAt(member, 'value', `/search: Invalid value for parameter '${member}': it must be ${expected}.`);

const missing = (member: string): InvalidInput =>
  faultAt(member, 'missing', `/search: Missing required parameter: '${member}'.`);

function queriesIn(value: unknown): readonly string[] {
  if (value === undefined || value === null || value === '') throw missing('query');
  const queries: readonly unknown[] = Array.isArray(value) ? value : [value];
  const expected = `a text, or a list of 1 to ${MAX_QUERIES} texts, of at most ${MAX_QUERY_CHARACTERS} characters each`;
  const isText = (query: unknown): query is string =>
    typeof query === 'string' && query.trim() !== '' && query.length <= MAX_QUERY_CHARACTERS && query.isWellFormed();
  if (queries.length === 0 || queries.length > MAX_QUERIES || !queries.every(isText)) throw invalid('query', expected);
  return queries;
}

/** An integer from 1 to `max`; null for an absent member. */
function integerIn(fields: JsonObject, member: string, max: number): number | null {
  const value = fields[member] ?? null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(member, `a whole number from 1 to ${max}`);
}

function domainsIn(value: unknown): readonly string[] {
  const domains = value ?? [];
  const isDomain = (domain: unknown): domain is string =>
    typeof domain === 'string' && /^[^\s"():]{1,253}$/.test(domain);
  if (Array.isArray(domains) && domains.length <= MAX_DOMAINS && domains.every(isDomain)) return domains;
  throw invalid('search_domain_filter', `a list of at most ${MAX_DOMAINS} domains`);
}

function countryIn(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && COUNTRY.test(value)) return value.toUpperCase();
  throw invalid('country', 'a country code of two letters');
}

/**
 * The name of the search tool of a request, from its path or its body. Throws InvalidInput for a request without one.
 */
export function toolNameOf({ toolName, fields }: SentSearch): string {
  const name = toolName ?? fields['search_tool_name'] ?? null;
  if (name === null || name === '') throw missing('search_tool_name');
  if (typeof name !== 'string') throw invalid('search_tool_name', 'a string');
  return name;
}

/** Reads a search from the members of a body. Throws InvalidInput. */
export function readSearch(fields: JsonObject): WebSearch {
  const queries = queriesIn(fields['query']);
  return {
    queries,
    maxResults: integerIn(fields, 'max_results', MAX_RESULTS),
    domains: domainsIn(fields['search_domain_filter']),
    maxTokensPerPage: integerIn(fields, 'max_tokens_per_page', MAX_TOKENS_PER_PAGE),
    country: countryIn(fields['country']),
    further: Object.fromEntries(Object.entries(fields).filter(([name]) => !GATEWAY_MEMBERS.has(name))),
  };
}
