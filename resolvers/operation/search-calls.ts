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

/** Facts of the request that a search records. */
export type SearchFacts = Pick<Forwarded, 'callId' | 'parent' | 'labels' | 'userAgent'>;

/** Results, and the call that found them. */
export interface FoundResults {
  readonly call: GatewayCall;
  readonly results: readonly SearchResult[];
}

/** Seconds to wait for a provider where its tool has no `timeout`. */
const DEFAULT_SECONDS = 30;
/** Maximum size of the answer of a provider, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const FIRST_ERROR = 400;
/** Last segment of the path of every provider. */
const PATH = 'search';

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The value of the first of some variables that is set; null for none. */
function variableOf({ platform }: SearchScope, names: readonly string[]): string | null {
  const references = Object.fromEntries(names.map((name) => [name, `os.environ/${name}`]));
  const values = platform.searchTools.resolved(references);
  return names.map((name) => textOf(values[name])).find((value) => value !== null) ?? null;
}

/** The provider of a tool. Throws InvalidInput for one that is not served. */
function vendorOf({ platform }: SearchScope, tool: SearchTool): SearchVendor {
  const vendor = platform.searchVendors.find(providerOf(tool));
  if (vendor !== null) return vendor;
  throw new InvalidInput(
    `The search provider '${providerOf(tool)}' is not supported. Supported providers: ${SEARCH_PROVIDERS.join(', ')}`,
  );
}

/** Address and key of a tool. Throws Unavailable for a missing one, and InvalidInput for a wrong address. */
function accountOf(scope: SearchScope, tool: SearchTool, vendor: SearchVendor): { base: string; key: Secret | null } {
  // Without its account, a call would use the default one.
  const unknown = tool.id === UNSTORED_ID ? null : scope.platform.searchTools.accountFault(tool.id);
  if (unknown !== null) throw new Unavailable(unknown, null);
  const [ownKey, ownBase] = [textOf(tool.params['api_key']), textOf(tool.params['api_base'])];
  // The key of the environment is never sent to the address of a tool.
  const key = ownKey ?? (ownBase === null ? variableOf(scope, vendor.keyVariables) : null);
  const base = ownBase ?? variableOf(scope, vendor.baseVariables) ?? vendor.base;
  if (base === null) throw new Unavailable(`The search tool ${tool.name} has no api_base.`, null);
  const wrong = targetFault(base);
  if (wrong !== null) throw new InvalidInput(`The api_base of the search tool ${tool.name} ${wrong}.`);
  if (key === null && !vendor.keyOptional && ownBase === null)
    throw new Unavailable(`The search tool ${tool.name} has no api_key.`, null);
  return { base, key: key === null ? null : new Secret(key) };
}

/** Id of a tool that is tested before it is stored. */
export const UNSTORED_ID = 'unstored';

function addressOf(base: string, query: Readonly<Record<string, string>>): string {
  const trimmed = base.replace(/\/+$/, '');
  const { pathname } = new URL(trimmed);
  const url = pathname.endsWith(`/${PATH}`) ? new URL(trimmed) : addressBelow(trimmed, PATH);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function secondsOf({ platform }: SearchScope, { params }: SearchTool): number {
  const { timeout } = params;
  const seconds = typeof timeout === 'number' && timeout > 0 ? timeout : DEFAULT_SECONDS;
  return Math.min(seconds, platform.passThrough.timeoutSeconds);
}

/**
 * Searches with one tool. Throws Unavailable for a tool without an account, UpstreamFailed, and what the gateway's
 * `forward` throws.
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
      timeoutSeconds: secondsOf(scope, tool),
      answerLimit: MAX_ANSWER_BYTES,
      operation: 'search',
      callType: 'asearch',
      // Rows show the provider before the model.
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

/** The results of an answer. Throws UpstreamFailed for a failure, and for an answer that is no list of results. */
function resultsIn(
  bytes: Uint8Array | null,
  { vendor, key, status }: { readonly vendor: SearchVendor; readonly key: Secret | null; readonly status: number },
): readonly SearchResult[] {
  const failed = (message: string, upstreamStatus: number | null): UpstreamFailed =>
    new UpstreamFailed(message, { provider: vendor.name, upstreamStatus });
  if (bytes === null) throw failed(`The answer of ${vendor.title} is too large.`, null);
  const value = jsonObjectOf(parsed(bytes));
  if (status >= FIRST_ERROR) {
    const message = messageIn(value) ?? `${vendor.title} answered with the status ${status}.`;
    // Some providers repeat the key.
    throw failed(withoutSecretTexts(message, [key?.reveal() ?? '']), status);
  }
  const results = vendor.read(value);
  if (results === null) throw failed(`The answer of ${vendor.title} is no list of results.`, null);
  return results;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return null;
  }
}

/** Characters of a message of a provider that are shown. */
const SHOWN_CHARACTERS = 1_000;

/** The message of a failure, in the places where providers have it; null without one. */
function messageIn(answer: JsonObject): string | null {
  for (const value of [answer['error'], answer['detail'], answer['message']]) {
    const inner = isJsonObject(value) ? (value['message'] ?? value['error'] ?? value['detail']) : value;
    const message = textOf(inner);
    if (message !== null) return message.slice(0, SHOWN_CHARACTERS);
  }
  return null;
}
