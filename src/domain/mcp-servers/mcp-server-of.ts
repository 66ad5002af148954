import { type JsonObject, jsonObjectOf } from '../json-object.ts';
import { type Usd, usdFrom } from '../money.ts';
import { Secret } from '../secret.ts';
import type { McpPrices, McpServer, McpServerAuth, McpServerDefinition, McpTransport } from './mcp-server.ts';

const MS_PER_SECOND = 1_000;
/** Maximum delay of a timer in ms. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Transport of a server without one: that of the reference. */
export const DEFAULT_MCP_TRANSPORT: McpTransport = 'sse';

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
const positiveOf = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);

function mapOf<Value>(value: unknown, read: (inner: unknown) => Value | null): ReadonlyMap<string, Value> {
  const entries = Object.entries(jsonObjectOf(value)).flatMap(
    ([name, inner]): readonly (readonly [string, Value])[] => {
      const found = read(inner);
      return found === null ? [] : [[name, found]];
    },
  );
  return new Map(entries);
}

/** A price in USD. A negative one is ignored: it would increase the budget of the caller. */
function priceOf(value: unknown): Usd | null {
  const price = typeof value === 'number' || typeof value === 'string' ? usdFrom(value) : null;
  return price === null || price < 0n ? null : price;
}

function pricesOf(info: unknown): McpPrices {
  const costs = jsonObjectOf(jsonObjectOf(info)['mcp_server_cost_info']);
  return {
    perCall: priceOf(costs['default_cost_per_query']),
    byTool: mapOf(costs['tool_name_to_cost_per_query'], priceOf),
  };
}

interface FixedHeader {
  readonly name: string;
  readonly valueOf: (secret: string) => string;
}

/** Header of each type of authentication with a fixed value, by `auth_type`. */
const FIXED_HEADERS: ReadonlyMap<string, FixedHeader> = new Map([
  ['api_key', { name: 'X-API-Key', valueOf: (secret) => secret }],
  ['bearer_token', { name: 'Authorization', valueOf: (secret) => `Bearer ${secret}` }],
  ['basic', { name: 'Authorization', valueOf: (secret) => `Basic ${Buffer.from(secret).toString('base64')}` }],
  ['authorization', { name: 'Authorization', valueOf: (secret) => secret }],
  ['token', { name: 'Authorization', valueOf: (secret) => `token ${secret}` }],
]);

/** The client credentials of params; null for another flow, and where a value is missing. */
function clientCredentialsOf(params: JsonObject, credentials: JsonObject): McpServerAuth | null {
  if (params['oauth2_flow'] !== 'client_credentials') return null;
  const tokenUrl = textOf(params['token_url']);
  const clientId = textOf(credentials['client_id']);
  const clientSecret = textOf(credentials['client_secret']);
  if (tokenUrl === null || clientId === null || clientSecret === null) return null;
  return {
    kind: 'client_credentials',
    tokenUrl,
    clientId,
    clientSecret: new Secret(clientSecret),
    scopes: textsOf(credentials['scopes']),
    audience: textOf(params['audience']),
  };
}

/** Authentication by params. It is `unsupported` where a value is missing, so that no call is sent without it. */
function authOf(params: JsonObject): McpServerAuth {
  const authType = textOf(params['auth_type']) ?? 'none';
  const credentials = jsonObjectOf(params['credentials']);
  if (params['is_byok'] === true) return { kind: 'unsupported', authType: 'byok' };
  const unsupported = { kind: 'unsupported', authType } as const;
  const fixed = FIXED_HEADERS.get(authType);
  if (fixed !== undefined) {
    const value = textOf(credentials['auth_value']);
    if (value === null) return unsupported;
    return { kind: 'header', name: fixed.name, value: new Secret(fixed.valueOf(value)) };
  }
  switch (authType) {
    case 'none':
      return { kind: 'none' };
    case 'true_passthrough':
      return { kind: 'caller_token', requiresKey: false };
    case 'oauth_delegate':
      return { kind: 'caller_token', requiresKey: true };
    case 'oauth2':
      if (params['delegate_auth_to_upstream'] === true) return { kind: 'caller_token', requiresKey: true };
      return clientCredentialsOf(params, credentials) ?? unsupported;
    default:
      return unsupported;
  }
}

/** Why a server with unsupported authentication is not called. */
export const unsupportedAuth = (authType: string): string => {
  if (FIXED_HEADERS.has(authType)) return `the auth_type '${authType}' needs an auth_value`;
  if (authType === 'oauth2')
    return "the auth_type 'oauth2' needs the flow client_credentials with token_url, client_id and client_secret";
  return authType === 'byok' ? 'keys of users are not stored' : `the auth_type '${authType}' is not supported`;
};

/** The server of a definition. References to variables in `params` are resolved. */
export function mcpServerOf({ id, params, isFromConfig }: McpServerDefinition): McpServer {
  const seconds = positiveOf(params['timeout']);
  const env = mapOf(params['env'], (value) => (typeof value === 'string' ? value : null));
  return {
    id,
    name: textOf(params['server_name']),
    alias: textOf(params['alias']),
    description: textOf(params['description']),
    instructions: textOf(params['instructions']),
    transport: (textOf(params['transport']) as McpTransport | null) ?? DEFAULT_MCP_TRANSPORT,
    url: textOf(params['url']),
    command: textOf(params['command']),
    args: textsOf(params['args']),
    env: Object.fromEntries(env),
    auth: authOf(params),
    staticHeaders: mapOf(params['static_headers'], (value) => {
      const text = textOf(value);
      return text === null ? null : new Secret(text);
    }),
    forwardedHeaders: textsOf(params['extra_headers']),
    allowedTools: textsOf(params['allowed_tools']),
    disallowedTools: textsOf(params['disallowed_tools']),
    allowedParams: mapOf(params['allowed_params'], textsOf),
    toolDisplayNames: mapOf(params['tool_name_to_display_name'], textOf),
    toolDescriptions: mapOf(params['tool_name_to_description'], textOf),
    accessGroups: textsOf(params['mcp_access_groups']),
    allowsAllKeys: params['allow_all_keys'] === true,
    isOnPublicInternet: params['available_on_public_internet'] !== false,
    timeoutMs: seconds === null ? null : Math.min(seconds * MS_PER_SECOND, MAX_TIMER_MS),
    maxConcurrentRequests: positiveOf(params['max_concurrent_requests']),
    requestsPerMinute: positiveOf(params['rpm']),
    prices: pricesOf(params['mcp_info']),
    isFromConfig,
  };
}

/** Whether a server is approved: it is neither waiting for a review nor rejected. */
export const isApproved = ({ params }: McpServerDefinition): boolean =>
  (params['approval_status'] ?? 'active') === 'active';
