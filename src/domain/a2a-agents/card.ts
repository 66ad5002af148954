import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../json-object.ts';
import { targetFault } from '../pass-through/endpoint.ts';
import type { A2aAgent } from './agent.ts';

/** Versions of the protocol whose shapes are served. */
export type A2aVersion = '0.3' | '1.0';

/** Version of a stored card that names none. */
const DEFAULT_VERSION: A2aVersion = '1.0';
const JSON_RPC = 'JSONRPC';
const SECURITY_SCHEME = 'LiteLLMKey';

const CHAT_SKILL = {
  id: 'chat',
  name: 'Chat',
  tags: ['chat'],
  description: 'Conversational interaction with the agent.',
};
const TEXT_MODES = ['text'];

/** Members of a card that name other addresses of the agent, and signatures, which do not fit a changed card. */
const WITHHELD = new Set(['additionalInterfaces', 'signatures', 'preferredTransport']);

const nonEmptyList = (value: unknown): readonly unknown[] | null =>
  Array.isArray(value) && value.length > 0 ? (value as readonly unknown[]) : null;
const textOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value : fallback;

/** The interface of a card that is called: the first one with JSON-RPC. Null for none. */
function interfaceOf({ supportedInterfaces }: JsonObject): JsonObject | null {
  const found = nonEmptyList(supportedInterfaces)?.filter(isJsonObject) ?? [];
  return found.find(({ protocolBinding }) => protocolBinding === JSON_RPC) ?? null;
}

/** Address at which an agent is called, by its card; null for none. */
export function agentUrl(card: JsonObject): string | null {
  const url = card['url'] ?? interfaceOf(card)?.['url'];
  return typeof url === 'string' && url !== '' ? url : null;
}

/** Version of the protocol that a card names; null for none and for another version. */
export function cardVersion(card: JsonObject): A2aVersion | null {
  const version = card['protocolVersion'] ?? interfaceOf(card)?.['protocolVersion'];
  if (typeof version !== 'string') return null;
  const [, found] = /^(0\.3|1\.0)(\.\d+)?$/.exec(version) ?? [];
  return (found as A2aVersion | undefined) ?? null;
}

/** The form in which the card of a request is stored: checked, and completed by defaults. Throws InvalidInput. */
export function normalisedCard(card: JsonObject, agentName: string): JsonObject {
  const stated = card['protocolVersion'] ?? interfaceOf(card)?.['protocolVersion'];
  const version = cardVersion(card);
  if (stated !== undefined && stated !== null && version === null)
    throw new InvalidInput('agent_card_params.protocolVersion must be 0.3 or 1.0', [], { field: 'agent_card_params' });
  const url = agentUrl(card);
  const fault = url === null ? null : targetFault(url);
  if (fault !== null) throw new InvalidInput(`agent_card_params.url ${fault}`, [], { field: 'agent_card_params' });
  const { streaming } = jsonObjectOf(card['capabilities']);
  const kept = Object.entries(card).filter(([name]) => !WITHHELD.has(name) && name !== 'supportedInterfaces');
  return {
    ...Object.fromEntries(kept),
    ...(url === null ? {} : { url }),
    name: textOr(card['name'], agentName),
    description: textOr(card['description'], ''),
    version: textOr(card['version'], '1.0'),
    protocolVersion: version ?? DEFAULT_VERSION,
    capabilities: typeof streaming === 'boolean' ? { streaming } : {},
    skills: nonEmptyList(card['skills']) ?? [CHAT_SKILL],
    defaultInputModes: nonEmptyList(card['defaultInputModes']) ?? TEXT_MODES,
    defaultOutputModes: nonEmptyList(card['defaultOutputModes']) ?? TEXT_MODES,
  };
}

/** Address at which the gateway serves an agent. */
const servedUrl = (base: string, idOrName: string): string => `${base}/a2a/${encodeURIComponent(idOrName)}`;

/** Members of a card that describe access through the gateway. */
function gatewayMembers(card: JsonObject, url: string, base: string): JsonObject {
  const protocolVersion = cardVersion(card) ?? DEFAULT_VERSION;
  return {
    provider: isJsonObject(card['provider']) ? card['provider'] : { url: base, organization: 'Lensgate' },
    security: [{ [SECURITY_SCHEME]: [] }],
    securitySchemes: { [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'LiteLLM virtual key' } },
    supportedInterfaces: [{ url, protocolBinding: JSON_RPC, protocolVersion }],
  };
}

/** The card as administrators see it: with the address of the agent itself. */
export const shownCard = ({ card, id, isFromConfig }: A2aAgent, base: string): JsonObject =>
  isFromConfig ? card : { ...card, ...gatewayMembers(card, servedUrl(base, id), base) };

/**
 * The card as clients get it: every address is that of the gateway. `idOrName` is that by which the client calls the
 * agent.
 */
export function servedCard({ card, isFromConfig }: A2aAgent, idOrName: string, base: string): JsonObject {
  const url = servedUrl(base, idOrName);
  if (!isFromConfig) return { ...card, ...gatewayMembers(card, url, base), url };
  const kept = Object.entries(card).filter(([name]) => !WITHHELD.has(name));
  const { supportedInterfaces } = gatewayMembers(card, url, base);
  // Clients of version 1.0 read the address in the interfaces only.
  const hasInterfaces = card['supportedInterfaces'] !== undefined || cardVersion(card) === '1.0';
  return { ...Object.fromEntries(kept), url, ...(hasInterfaces ? { supportedInterfaces } : {}) };
}
