import type { IncomingHttpHeaders } from 'node:http';
import { InvalidInput } from '../../../src/domain/errors.ts';

/** Form of `Sec-WebSocket-Key` (RFC 6455, section 4.1). */
const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;
const PROTOCOL = /^[!#$%&'*+\-.0-9A-Z^_`|a-z~]+$/;

/** A request to open a WebSocket. */
export interface UpgradeRequest {
  /** Raw query text, without the question mark. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
}

/** Subprotocols that a client offers, in the order of the header. */
export const offeredProtocols = (headers: IncomingHttpHeaders): readonly string[] =>
  headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];

/** The first fault of a handshake; null for a valid one. */
function handshakeFault(method: string | undefined, headers: IncomingHttpHeaders): string | null {
  if (method !== 'GET') return 'the method must be GET';
  if (!HANDSHAKE_KEY.test(headers['sec-websocket-key'] ?? '')) return 'Sec-WebSocket-Key is missing or not valid';
  if (headers['sec-websocket-version'] !== '13') return 'Sec-WebSocket-Version must be 13';
  const hasValidProtocols = offeredProtocols(headers).every((name) => PROTOCOL.test(name));
  return hasValidProtocols ? null : 'Sec-WebSocket-Protocol is not valid';
}

/** Throws InvalidInput, with the path in its message, for an invalid handshake. */
export function assertHandshake(path: string, method: string | undefined, headers: IncomingHttpHeaders): void {
  const fault = handshakeFault(method, headers);
  if (fault !== null) throw new InvalidInput(`${path}: This is not a WebSocket handshake: ${fault}.`);
}

/** The failure of a plain GET to a WebSocket path. */
export const upgradeRequired = (path: string): InvalidInput =>
  new InvalidInput(`${path}: This path is a WebSocket. Send \`Connection: Upgrade\` and \`Upgrade: websocket\`.`);
