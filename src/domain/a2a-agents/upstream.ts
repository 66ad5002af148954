import type { Caller } from '../caller.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { type Usd, usdFrom } from '../money.ts';
import { headersFault, mayCarryKey } from '../pass-through/headers.ts';
import { Secret } from '../secret.ts';
import { VERSION } from '../version.ts';
import type { A2aAgent } from './agent.ts';
import { numberIn } from './numbers.ts';

type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers of the A2A protocol that every agent gets. */
const PROTOCOL_HEADERS = new Set(['a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'last-event-id']);
/** Start of the names of headers for one agent, before its id or name. */
const PREFIX = 'x-a2a-';
/** Headers that no client can set for an agent: those of the body, the connection and the gateway. */
const WITHHELD = /^(content-.*|accept-encoding|host|cookie|x-litellm-.*)$/;

const textOf = (value: string | readonly string[] | undefined): string | null => {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : value.join(', ');
};

/** Facts of a call that the agent gets in headers. */
export interface AgentCallFacts {
  readonly caller: Caller;
  /** Session, or trace, of the call. */
  readonly traceId: string;
}

/**
 * Headers of a call to an agent, without its static headers:
 * - those of the protocol
 * - headers of the client in the agent's `extra_headers`, except those that may carry the key of the client
 * - headers of the client with the prefix `x-a2a-<id or name>-`, without the prefix
 * - user, team, trace and agent
 */
export function agentHeaders(
  agent: A2aAgent,
  sent: SentHeaders,
  { caller, traceId }: AgentCallFacts,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const add = (name: string, value: string): void => {
    if (!WITHHELD.test(name) && headersFault({ [name]: value }) === null) headers[name] = value;
  };
  const extra = new Set(agent.extraHeaders.map((name) => name.toLowerCase()));
  const prefixes = [agent.id, agent.name].map((name) => `${PREFIX}${name.toLowerCase()}-`);
  for (const [name, value] of Object.entries(sent)) {
    const text = textOf(value);
    if (text === null) continue;
    const prefix = prefixes.find((one) => name.startsWith(one) && name.length > one.length);
    const isForwarded = PROTOCOL_HEADERS.has(name) || (extra.has(name) && !mayCarryKey(name));
    if (prefix !== undefined) add(name.slice(prefix.length), text);
    else if (isForwarded) add(name, text);
  }
  const facts = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'user-agent': `lensgate/${VERSION}`,
    'x-litellm-trace-id': traceId,
    'x-litellm-agent-id': agent.id,
    'x-litellm-user-id': caller.userId,
    'x-litellm-team-id': caller.key?.teamId ?? null,
  };
  // A user id may have characters that a header cannot have.
  for (const [name, value] of Object.entries(facts))
    if (value !== null && headersFault({ [name]: value }) === null) headers[name] = value;
  return headers;
}

/** Credential headers of an agent: its static headers, and its `api_key` where no static header is `Authorization`. */
export function agentCredentials({ staticHeaders, params }: A2aAgent): Readonly<Record<string, Secret>> {
  const { api_key: key } = params;
  const hasAuthorization = Object.keys(staticHeaders).some((name) => name.toLowerCase() === 'authorization');
  if (hasAuthorization || typeof key !== 'string' || key === '') return staticHeaders;
  return { ...staticHeaders, authorization: new Secret(`Bearer ${key}`) };
}

/** Price of calls of an agent: of each query, or of each token. */
export type AgentPrice =
  | { readonly kind: 'query'; readonly cost: Usd }
  | { readonly kind: 'tokens'; readonly prices: JsonObject }
  | { readonly kind: 'free' };

/** The price of an agent: per query, else per token, else free. */
export function agentPrice({ params }: A2aAgent): AgentPrice {
  const perQuery = numberIn(params, 'cost_per_query');
  const cost = perQuery === null ? null : usdFrom(perQuery);
  if (cost !== null) return { kind: 'query', cost };
  const prices = {
    input_cost_per_token: numberIn(params, 'input_cost_per_token') ?? 0,
    output_cost_per_token: numberIn(params, 'output_cost_per_token') ?? 0,
  };
  const isFree = Object.values(prices).every((price) => price === 0);
  return isFree ? { kind: 'free' } : { kind: 'tokens', prices };
}

/** Provider of an agent that is not called by the A2A protocol; null for others. */
export function foreignProvider({ custom_llm_provider: provider }: JsonObject): string | null {
  return typeof provider === 'string' && provider !== '' && !provider.startsWith('a2a') ? provider : null;
}

/** Provider of calls of agents in spend rows and spans. */
export const AGENT_PROVIDER = 'a2a_agent';

/** Name of an agent in spend rows and spans, from its card. */
export const agentModel = ({ card, name }: A2aAgent): string =>
  `${AGENT_PROVIDER}/${typeof card['name'] === 'string' && card['name'] !== '' ? card['name'] : name}`;

/** Guardrails that an agent names. */
export function agentGuardrails({ params }: A2aAgent): readonly string[] {
  const { guardrails } = params;
  if (Array.isArray(guardrails)) return guardrails.filter((name) => typeof name === 'string');
  return isJsonObject(guardrails) ? Object.keys(guardrails) : [];
}

const MAX_TIMEOUT_SECONDS = 86_400;

/** Seconds to wait for the head of an answer; null for the default. */
export function agentTimeout({ params }: A2aAgent): number | null {
  const timeout = numberIn(params, 'timeout');
  return timeout !== null && timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS ? timeout : null;
}
