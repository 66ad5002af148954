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
import { translateClientEvent } from '../wire/realtime/client-event.ts';
import type { SessionNames } from '../wire/realtime/fields.ts';
import { translateServerEvent } from '../wire/realtime/server-event.ts';
import { sessionFailure, errorAnswerFailure, transportFailure } from './failures.ts';
import { REDACTED, secretMatcher } from '../domain/secret-texts.ts';
import { secretsOf, withoutSecrets } from './secrets.ts';

/** Maximum time to open a session, in ms. A shorter timeout of the deployment applies. */
const MAX_OPENING_MS = 30_000;
/** Maximum bytes of the reason of a close frame (RFC 6455). */
const REASON_BYTES = 123;

/** Addresses and credentials of a vendor with OpenAI's realtime API. */
export interface RealtimeVendor {
  /** URL of a session: `http`, `https`, `ws` or `wss`. */
  addressOf(deployment: Deployment, request: RealtimeRequest): string;
  /** Credential headers. */
  authHeadersOf(deployment: Deployment): Readonly<Record<string, string>>;
}

/** Query of a session URL. A transcription session has an intent; its first event contains the model. */
export const sessionQuery = (parameter: 'model' | 'deployment', model: string, { intent }: RealtimeRequest): string =>
  intent === null ? `${parameter}=${encodeURIComponent(model)}` : `intent=${intent}`;

/** Creates the function that opens sessions with a vendor. */
export function createOpenRealtime(
  sockets: SocketClient,
  vendor: RealtimeVendor,
): NonNullable<Provider['openRealtime']> {
  return async (deployment, request, signal) => {
    const timeoutMs = Math.min(deployment.timeoutSeconds * 1000, MAX_OPENING_MS);
    const headers = { ...request.headers, ...vendor.authHeadersOf(deployment) };
    // Replaces `http` by `ws`, and so `https` by `wss`.
    const url = vendor.addressOf(deployment, request).replace(/^http/i, 'ws');
    try {
      return upstreamOf(deployment, request, await sockets.connect(url, headers, { signal, timeoutMs }));
    } catch (error) {
      // A status below 400 is a refusal, too: only 101 opens a WebSocket.
      if (error instanceof SocketRefused && error.status < 400) throw sessionFailure(deployment, error.message);
      if (error instanceof SocketRefused) throw errorAnswerFailure(deployment, error, errorOf);
      throw transportFailure(deployment, error);
    }
  };
}

function upstreamOf(deployment: Deployment, request: RealtimeRequest, socket: OpenSocket): RealtimeUpstream {
  const names: SessionNames = { publicName: request.model, upstreamName: deployment.upstreamModel };
  const secrets = secretsOf(deployment);
  const matcher = secretMatcher(secrets);

  /** The message without secrets. Some upstreams quote the rejected credential, which callers must not see. */
  function redacted(message: SocketMessage): SocketMessage {
    const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength);
    // Without a backslash nothing is escaped.
    const mayHaveSecret = bytes.includes('\\') || secrets.some((secret) => bytes.includes(secret));
    if (!mayHaveSecret) return message;
    const text = bytes.toString('utf8');
    const safe = matcher === null ? text : text.replace(matcher.pattern, () => REDACTED);
    return safe === text ? message : { ...message, bytes: Buffer.from(safe) };
  }

  function failureOf(end: SocketEnd, lastError: string | null): Error | null {
    if (end.kind !== 'closed') return sessionFailure(deployment, lastError ?? END_MESSAGES[end.kind]);
    // 1000 is a normal closure, 1005 a close frame without a code.
    if (end.code === 1000 || end.code === 1005) return null;
    const reason = end.reason === '' ? '' : `: ${end.reason}`;
    return sessionFailure(deployment, lastError ?? `The session was closed with code ${end.code}${reason}.`);
  }

  return {
    socket,
    outbound: (message, assertMayCall) => translateClientEvent(message, names, assertMayCall),
    inbound: (message) => translateServerEvent(redacted(message), names),
    showable: (reason) => truncatedReason(withoutSecrets(deployment, reason)),
    failureOf,
  };
}

const END_MESSAGES: Readonly<Record<Exclude<SocketEnd['kind'], 'closed'>, string>> = {
  cut: 'The upstream closed the connection without a close frame.',
  'too large': 'The upstream sent a message above the size limit.',
  garbled: 'The upstream sent an invalid WebSocket message.',
};

/** The reason, cut to `REASON_BYTES` at a character boundary, because it must be valid UTF-8. */
function truncatedReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= REASON_BYTES) return reason;
  // With `stream`, the decoder omits an incomplete last character.
  return new TextDecoder().decode(bytes.subarray(0, REASON_BYTES), { stream: true });
}
