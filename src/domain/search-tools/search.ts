import { InvalidInput } from '../errors.ts';
import type { HttpMethod } from '../http.ts';
import type { JsonObject } from '../json-object.ts';
import type { Secret } from '../secret.ts';

/** A web search. */
export interface WebSearch {
  /** At least one text. Providers that take one query get them joined. */
  readonly queries: readonly string[];
  /** Maximum number of results; null for the default of the provider. */
  readonly maxResults: number | null;
  /** Domains that results come from; empty for all. */
  readonly domains: readonly string[];
  /** Maximum number of tokens of the text of a result; null for the default. */
  readonly maxTokensPerPage: number | null;
  /** Country code of two letters in upper case; null for none. */
  readonly country: string | null;
  /** Parameters that only the provider knows. */
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

/** A search in the format of its provider. */
export interface VendorRequest {
  readonly method: HttpMethod;
  /** Query of the address. */
  readonly query: Readonly<Record<string, string>>;
  /** JSON body; null without one. */
  readonly json: JsonObject | null;
  /** Header with the key; empty without a key. */
  readonly credentials: Readonly<Record<string, Secret>>;
}

/** The API of a provider of searches. */
export interface SearchVendor {
  /** Name in configurations and prices. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  /** Default base address; null where every server has its own. */
  readonly base: string | null;
  /** Whether it can be called without a key. */
  readonly keyOptional: boolean;
  /** Variables with the key and the base address for tools without them; the first that is set applies. */
  readonly keyVariables: readonly string[];
  readonly baseVariables: readonly string[];
  /** Number of billed queries of a search. */
  queriesOf(search: WebSearch): number;
  write(search: WebSearch, key: Secret | null): VendorRequest;
  /** Reads an answer; null for one that is no list of results. */
  read(answer: JsonObject): readonly SearchResult[] | null;
}

/** Providers of searches. */
export interface SearchVendors {
  find(name: string): SearchVendor | null;
  readonly all: readonly SearchVendor[];
}

/** Names of the providers of searches that are served. */
export const SEARCH_PROVIDERS: readonly string[] = ['perplexity', 'tavily', 'exa_ai', 'brave', 'serper', 'searxng'];

/** Maximum number of results that are taken from one answer. */
const MAX_ANSWERED = 100;

/** At most the requested number of results: some providers give more. */
export const firstResults = (results: readonly SearchResult[], { maxResults }: WebSearch): readonly SearchResult[] =>
  results.slice(0, maxResults ?? MAX_ANSWERED);

/** A search as it was sent. */
export interface SentSearch {
  /** Name of the search tool; null when the request names none. */
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

/** Members that are no parameters of the provider. Credentials and addresses come from the tool only. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(
  `query max_results search_domain_filter max_tokens_per_page country search_tool_name model litellm_metadata metadata
   tags user guardrails timeout search_provider stream api_key api_base base_url custom_llm_provider litellm_params
   extra_headers`.split(/\s+/),
);

const fault = (member: string, rule: string, message: string): InvalidInput =>
  new InvalidInput(message, [{ path: ['body', member], rule, message }]);

const invalid = (member: string, expected: string): InvalidInput =>
  fault(member, 'value', `/search: Invalid value for parameter '${member}': it must be ${expected}.`);

const missing = (member: string): InvalidInput =>
  fault(member, 'missing', `/search: Missing required parameter: '${member}'.`);

function queriesIn(value: unknown): readonly string[] {
  if (value === undefined || value === null || value === '') throw missing('query');
  const queries: readonly unknown[] = Array.isArray(value) ? value : [value];
  const expected = `a text, or a list of 1 to ${MAX_QUERIES} texts, of at most ${MAX_QUERY_CHARACTERS} characters each`;
  const isText = (one: unknown): one is string =>
    typeof one === 'string' && one.trim() !== '' && one.length <= MAX_QUERY_CHARACTERS && one.isWellFormed();
  if (queries.length === 0 || queries.length > MAX_QUERIES || !queries.every(isText)) throw invalid('query', expected);
  return queries;
}

function wholeIn(fields: JsonObject, member: string, max: number): number | null {
  const value = fields[member] ?? null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(member, `a whole number from 1 to ${max}`);
}

function domainsIn(value: unknown): readonly string[] {
  const domains = value ?? [];
  const isDomain = (one: unknown): one is string => typeof one === 'string' && /^[^\s"():]{1,253}$/.test(one);
  if (Array.isArray(domains) && domains.length <= MAX_DOMAINS && domains.every(isDomain)) return domains;
  throw invalid('search_domain_filter', `a list of at most ${MAX_DOMAINS} domains`);
}

function countryIn(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && COUNTRY.test(value)) return value.toUpperCase();
  throw invalid('country', 'a country code of two letters');
}

/** The name of the search tool of a request. Throws InvalidInput without one. */
export function toolNameOf({ toolName, fields }: SentSearch): string {
  const name = toolName ?? fields['search_tool_name'] ?? null;
  if (name === null || name === '') throw missing('search_tool_name');
  if (typeof name !== 'string') throw invalid('search_tool_name', 'a string');
  return name;
}

/** Reads a search. Throws InvalidInput. */
export function readSearch(fields: JsonObject): WebSearch {
  const queries = queriesIn(fields['query']);
  return {
    queries,
    maxResults: wholeIn(fields, 'max_results', MAX_RESULTS),
    domains: domainsIn(fields['search_domain_filter']),
    maxTokensPerPage: wholeIn(fields, 'max_tokens_per_page', MAX_TOKENS_PER_PAGE),
    country: countryIn(fields['country']),
    further: Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN_MEMBERS.has(name))),
  };
}
