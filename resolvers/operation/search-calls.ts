import { collect } from '../../src/domain/bytes.ts';
import { InvalidInput, Unavailable, UpstreamFailed } from '../../src/domain/errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { addressBelow } from '../../src/domain/pass-through/address.ts';
import { targetFault } from '../../src/domain/pass-through/endpoint.ts';
import type { Forwarded } from '../../src/domain/pass-through/forwarded.ts';
import { requestHeaders } from '../../src/domain/pass-through/headers.ts';
import { withoutSecretTexts } from '../../src/domain/secret-texts.ts';
import { priceKeyOf, searchCost } from '../../src/domain/search-tools/search-price.ts';
import { providerOf, type SearchTool } from '../../src/domain/search-tools/search-tool.ts';
import {
  firstResults,
  SEARCH_PROVIDERS,
  type SearchResult,
  type SearchVendor,
  type WebSearch,
} from '../../src/domain/search-tools/search.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';
import type { SearchPlatform } from './search-platform.ts';

type SearchScope = Scope<SearchPlatform>;

/** Facts of a request that the spend row and the span of its search have. */
export type SearchFacts = Pick<Forwarded, 'callId' | 'parent' | 'labels' | 'userAgent'>;

/** Results, and the call that found them. */
export interface FoundResults {
  readonly call: GatewayCall;
  readonly results: readonly SearchResult[];
}

/** Timeout of a search in seconds, where the tool has no `timeout`. */
const DEFAULT_TIMEOUT_SECONDS = 30;
/** Maximum size of the answer of a provider, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const FIRST_ERROR_STATUS = 400;
/** Last segment of the path of a search, the same at all providers. */
const SEARCH_SEGMENT = 'search';
/** Id of a tool that is tested before it is stored. */
export const UNSTORED_ID = 'unstored';

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Value of the first of these environment variables that is set. Null when none is set. */
function variableOf({ platform }: SearchScope, names: readonly string[]): string | null {
  const references = Object.fromEntries(names.map((name) => [name, `os.environ/${name}`]));
  const values = platform.searchTools.resolved(references);
  return names.map((name) => textOf(values[name])).find((value) => value !== null) ?? null;
}

/** The provider of a tool. Throws InvalidInput for a provider that is not supported. */
function vendorOf({ platform }: SearchScope, tool: SearchTool): SearchVendor {
  const vendor = platform.searchVendors.find(providerOf(tool));
  if (vendor !== null) return vendor;
  throw new InvalidInput(
    `The search provider '${providerOf(tool)}' is not supported. Supported providers: ${SEARCH_PROVIDERS.join(', ')}`,
  );
}

/**
 * Base address and key of a tool. Without `api_base` and `api_key`, those of the provider's environment variables are
 * used. Throws Unavailable for a missing address or key, and InvalidInput for an address that must not be called.
 */
function accountOf(scope: SearchScope, tool: SearchTool, vendor: SearchVendor): { base: string; key: Secret | null } {
  // A tool whose params cannot be read must not use the account of the environment variables instead.
  const fault = tool.id === UNSTORED_ID ? null : scope.platform.searchTools.accountFault(tool.id);
  if (fault !== null) throw new Unavailable(fault, null);
  const ownKey = textOf(tool.params['api_key']);
  const ownBase = textOf(tool.params['api_base']);
  // A key from an environment variable is never sent to the `api_base` of a tool.
  const key = ownKey ?? (ownBase === null ? variableOf(scope, vendor.keyVariables) : null);
  const base = ownBase ?? variableOf(scope, vendor.baseVariables) ?? vendor.base;
  if (base === null) throw new Unavailable(`The search tool ${tool.name} has no api_base.`, null);
  const wrong = targetFault(base);
  if (wrong !== null) throw new InvalidInput(`The api_base of the search tool ${tool.name} ${wrong}.`);
  if (key === null && !vendor.keyOptional && ownBase === null)
    throw new Unavailable(`The search tool ${tool.name} has no api_key.`, null);
  return { base, key: key === null ? null : new Secret(key) };
}

/** Address of a search. The path of `base` may already end with the segment `search`. */
function addressOf(base: string, query: Readonly<Record<string, string>>): string {
  const trimmed = base.replace(/\/+$/, '');
  const { pathname } = new URL(trimmed);
  const url = pathname.endsWith(`/${SEARCH_SEGMENT}`) ? new URL(trimmed) : addressBelow(trimmed, SEARCH_SEGMENT);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** Timeout of a search in seconds: that of the tool, at most that of pass-through calls. */
function timeoutSecondsOf({ platform }: SearchScope, { params }: SearchTool): number {
  const { timeout } = params;
  const seconds = typeof timeout === 'number' && timeout > 0 ? timeout : DEFAULT_TIMEOUT_SECONDS;
  return Math.min(seconds, platform.passThrough.timeoutSeconds);
}

/**
 * Searches with one tool. Throws InvalidInput for an unsupported provider or a wrong address, Unavailable for a tool
 * without an account, UpstreamFailed, and what the gateway's `forward` throws.
 */
export async function searchWith(
  scope: SearchScope,
  tool: SearchTool,
  { search, facts }: { readonly search: WebSearch; readonly facts: SearchFacts },
): Promise<FoundResults> {
  const { gateway, catalog, costAdjustments } = scope.platform;
  const vendor = vendorOf(scope, tool);
  const { base, key } = accountOf(scope, tool, vendor);
  const { method, query, json, credentials } = vendor.write(search, key);
  const prices = { catalog: catalog.current(), adjustments: costAdjustments() };
  const call = await gateway.forward(
    callerOf(scope),
    {
      ...facts,
      method,
      url: addressOf(base, query),
      headers: {
        ...requestHeaders({}, false),
        accept: 'application/json',
        ...(json === null ? {} : { 'content-type': 'application/json' }),
      },
      credentials,
      body: json === null ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(json)),
      // Guardrails check these texts.
      fields: json ?? query,
      timeoutSeconds: timeoutSecondsOf(scope, tool),
      answerLimit: MAX_ANSWER_BYTES,
      operation: 'search',
      callType: 'asearch',
      // The key of the price without the provider, which spend rows have in another column.
      model: priceKeyOf(vendor.name, search).slice(vendor.name.length + 1),
      provider: vendor.name,
      deploymentId: tool.id,
      cost: searchCost(prices, { tool, search, queries: vendor.queriesOf(search) }),
      defaultCost: null,
      endpoint: null,
    },
    scope.signal,
  );
  const results = await call.consume(async (stream) => {
    const bytes = await collect(stream, MAX_ANSWER_BYTES);
    return resultsIn(bytes, { vendor, key, status: call.exchange.status });
  });
  return { call, results: firstResults(results, search) };
}

/**
 * Reads the results of an answer. Throws UpstreamFailed for an error status, and for an answer without a list of
 * results.
 */
function resultsIn(
  bytes: Uint8Array | null,
  { vendor, key, status }: { readonly vendor: SearchVendor; readonly key: Secret | null; readonly status: number },
): readonly SearchResult[] {
  const failed = (message: string, upstreamStatus: number | null): UpstreamFailed =>
    new UpstreamFailed(message, { provider: vendor.name, upstreamStatus });
  if (bytes === null) throw failed(`The answer of ${vendor.title} is too large.`, null);
  const value = jsonObjectOf(jsonOrNull(bytes));
  if (status >= FIRST_ERROR_STATUS) {
    const message = messageIn(value) ?? `${vendor.title} answered with the status ${status}.`;
    // Some providers repeat the key. It is replaced before the cut, which could split it.
    throw failed(withoutSecretTexts(message, [key?.reveal() ?? '']).slice(0, MAX_MESSAGE_CHARACTERS), status);
  }
  const results = vendor.read(value);
  if (results === null) throw failed(`The answer of ${vendor.title} is no list of results.`, null);
  return results;
}

/** Parses JSON. Null for bytes that are not JSON. */
function jsonOrNull(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return null;
  }
}

/** Maximum number of characters of a provider's message in an error. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/**
 * The message of an error answer: the member `error`, `detail` or `message`, or one of these inside it. Null without
 * one.
 */
function messageIn(answer: JsonObject): string | null {
  for (const value of [answer['error'], answer['detail'], answer['message']]) {
    const inner = isJsonObject(value) ? (value['message'] ?? value['error'] ?? value['detail']) : value;
    const message = textOf(inner);
    if (message !== null) return message;
  }
  return null;
}
