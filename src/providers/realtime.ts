import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../domain/realtime/realtime.ts';
import {
  type OpenSocket,
  type SocketClient,
  type SocketEnd,
  type SocketMessage,
  SocketRefused,
} from '../domain/realtime/sockets.ts';
import { errorOf } from '../wire/chat-completions/answer.ts';
import { forUpstream } from '../wire/realtime/client-event.ts';
import type { SessionNames } from '../wire/realtime/fields.ts';
import { forClient } from '../wire/realtime/server-event.ts';
import { brokeOff, refusal, transportFailure } from './failures.ts';
import { secretsOf, withoutSecrets } from './secrets.ts';

/** Longest a caller waits for a session to open, whatever the deployment allows an answer. */
const MOST_OPENING_MS = 30_000;
/** Bytes of a close frame's reason. */
const REASON_BYTES = 123;

/** How a vendor who has OpenAI's realtime API is reached. */
export interface RealtimeVendor {
  /** The address of a session, `https` or `wss`. */
  addressOf(deployment: Deployment, request: RealtimeRequest): string;
  /** The headers by which it knows who calls. */
  identityOf(deployment: Deployment): Readonly<Record<string, string>>;
}

/** What a session asks for at its address. One that only writes down names its model in its first event. */
export const sessionQuery = (member: 'model' | 'deployment', model: string, { intent }: RealtimeRequest): string =>
  intent === null ? `${member}=${encodeURIComponent(model)}` : `intent=${intent}`;

/** Opens sessions with a vendor. */
export function openRealtimeBy(sockets: SocketClient, vendor: RealtimeVendor): NonNullable<Provider['openRealtime']> {
  return async (deployment, request, signal) => {
    const timeoutMs = Math.min(deployment.timeoutSeconds * 1000, MOST_OPENING_MS);
    const headers = { ...request.headers, ...vendor.identityOf(deployment) };
    // `https` becomes `wss`.
    const url = vendor.addressOf(deployment, request).replace(/^http/i, 'ws');
    try {
      return upstreamOf(deployment, request, await sockets.connect(url, headers, { signal, timeoutMs }));
    } catch (error) {
      // An answer that is a success, or leads elsewhere, opened nothing either.
      if (error instanceof SocketRefused && error.status < 400)
        throw brokeOff(deployment, `It answered ${error.status} instead of opening a WebSocket.`);
      if (error instanceof SocketRefused) throw refusal(deployment, error, errorOf);
      throw transportFailure(deployment, error);
    }
  };
}

function upstreamOf(deployment: Deployment, request: RealtimeRequest, socket: OpenSocket): RealtimeUpstream {
  const names: SessionNames = { publicName: request.model, upstreamName: deployment.upstreamModel };
  const secrets = secretsOf(deployment);

  /** Some upstreams quote the credential they refuse; it is ours, not the caller's. */
  function scrubbed(message: SocketMessage): SocketMessage {
    const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength);
    if (!secrets.some((secret) => bytes.includes(secret))) return message;
    return { ...message, bytes: Buffer.from(withoutSecrets(deployment, bytes.toString('utf8'))) };
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
    showable: (reason) => cut(withoutSecrets(deployment, reason)),
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
