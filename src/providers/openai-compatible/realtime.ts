import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import { COMPATIBLE_VENDORS, type CompatibleVendor } from '../../domain/chat/vendors.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../../domain/realtime/realtime.ts';
import {
  type OpenSocket,
  type SocketClient,
  type SocketEnd,
  type SocketMessage,
  SocketRefused,
} from '../../domain/realtime/sockets.ts';
import { errorOf } from '../../wire/chat-completions/answer.ts';
import { forUpstream } from '../../wire/realtime/client-event.ts';
import type { SessionNames } from '../../wire/realtime/fields.ts';
import { forClient } from '../../wire/realtime/server-event.ts';
import { brokeOff, refusal, transportFailure } from '../failures.ts';
import { headersOf } from './openai-compatible.ts';
import { differencesOf } from './vendors.ts';

/** Longest a caller waits for a session to open, whatever the deployment allows an answer. */
const MOST_OPENING_MS = 30_000;
/** Bytes of a close frame's reason. */
const REASON_BYTES = 123;
/** The marks of a credential that is not shown. */
const HIDDEN = '<secret>';

/** Who has the realtime API. Whoever is not known by name, but has an address, is taken to speak as OpenAI does. */
const SPEAKERS: ReadonlySet<CompatibleVendor> = new Set<CompatibleVendor>([
  'openai',
  'custom_openai',
  'openai_like',
  'litellm_proxy',
  'xai',
]);

export const speaksRealtime = (name: CompatibleVendor): boolean => SPEAKERS.has(name);

/** Opens sessions with a vendor who speaks as OpenAI does; with Azure under its `/openai/v1`. */
export function openRealtimeBy(sockets: SocketClient, name: CompatibleVendor): NonNullable<Provider['openRealtime']> {
  const { base } = COMPATIBLE_VENDORS[name];
  const differences = differencesOf(name);
  return async (deployment, request, signal) => {
    const timeoutMs = Math.min(deployment.timeoutSeconds * 1000, MOST_OPENING_MS);
    const identity =
      deployment.provider === 'azure' ? azureIdentity(deployment) : headersOf(deployment, differences, undefined);
    const headers = { ...request.headers, ...identity };
    try {
      const url = addressOf(deployment.apiBase ?? base ?? '', deployment.upstreamModel, request);
      const socket = await sockets.connect(url, headers, { signal, timeoutMs });
      return upstreamOf(deployment, request, socket);
    } catch (error) {
      // An answer that is a success, or leads elsewhere, opened nothing either.
      if (error instanceof SocketRefused && error.status < 400)
        throw brokeOff(deployment, `It answered ${error.status} instead of opening a WebSocket.`);
      if (error instanceof SocketRefused) throw refusal(deployment, error.status, error.body, errorOf);
      throw transportFailure(deployment, error);
    }
  };
}

function addressOf(base: string, model: string, { intent }: RealtimeRequest): string {
  // A session that only writes down names its model in its first event.
  const query = intent === null ? `model=${encodeURIComponent(model)}` : `intent=${intent}`;
  // `https` becomes `wss`.
  return `${base.replace(/^http/i, 'ws')}/realtime?${query}`;
}

const azureIdentity = ({ apiKey }: Deployment): Record<string, string> =>
  apiKey === null ? {} : { 'api-key': apiKey.reveal() };

function upstreamOf(deployment: Deployment, request: RealtimeRequest, socket: OpenSocket): RealtimeUpstream {
  const names: SessionNames = { shown: request.model, sent: deployment.upstreamModel };
  const credential = deployment.apiKey?.reveal() ?? '';
  const withoutCredential = (text: string): string => (credential === '' ? text : text.replaceAll(credential, HIDDEN));

  /** Some upstreams quote the credential they refuse; it is ours, not the caller's. */
  function scrubbed(message: SocketMessage): SocketMessage {
    const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength);
    if (credential === '' || !bytes.includes(credential)) return message;
    return { ...message, bytes: Buffer.from(withoutCredential(bytes.toString('utf8'))) };
  }

  function failureOf(end: SocketEnd, lastError: string | null): Error | null {
    if (end.kind !== 'closed') return brokeOff(deployment, lastError ?? SAID[end.kind]);
    if (end.code === 1000 || end.code === 1005) return null;
    const reason = end.reason === '' ? '' : `: ${end.reason}`;
    return brokeOff(deployment, lastError ?? `The session was closed with code ${end.code}${reason}.`);
  }

  return {
    socket,
    outbound: (message, assertMayCall) => forUpstream(message, names, assertMayCall),
    inbound: (message) => forClient(scrubbed(message), names),
    showable: (reason) => cut(withoutCredential(reason)),
    failureOf,
  };
}

const SAID: Readonly<Record<Exclude<SocketEnd['kind'], 'closed'>, string>> = {
  cut: 'The upstream broke the session off.',
  'too large': 'The upstream sent a message larger than is taken.',
  garbled: 'The upstream sent what is no WebSocket message.',
};

/** On a character: a close frame with half of one is against the rules. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= REASON_BYTES) return reason;
  return new TextDecoder().decode(bytes.subarray(0, REASON_BYTES), { stream: true });
}
