import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { RPC_CODES } from '../../domain/json-rpc-codes.ts';
import { McpProtocolError } from '../../domain/mcp/protocol.ts';
import type { McpMessageId } from '../../domain/mcp-sessions/session.ts';

/** A message of a client (JSON-RPC 2.0). */
export type McpMessage =
  | { readonly kind: 'request'; readonly id: McpMessageId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  /** An answer to a request of the gateway. The gateway sends none. */
  | { readonly kind: 'response' }
  /** A member of a batch that is no message. */
  | { readonly kind: 'invalid'; readonly id: McpMessageId | null };

export type McpRequestMessage = Extract<McpMessage, { readonly kind: 'request' }>;

/** Messages of one HTTP request. */
export interface McpMessages {
  readonly isBatch: boolean;
  readonly messages: readonly McpMessage[];
}

/** Messages of one batch. Each may be a call of a tool. */
const MAX_BATCH = 20;

/** Reads a message, or an array of messages. Throws McpProtocolError. */
export function readMcpMessages(value: unknown): McpMessages {
  if (!Array.isArray(value)) {
    const message = readMessage(value);
    if (message.kind === 'invalid') throw new McpProtocolError('request', 'The body is not a JSON-RPC 2.0 message.');
    return { isBatch: false, messages: [message] };
  }
  if (value.length === 0) throw new McpProtocolError('request', 'A batch has at least one message.');
  if (value.length > MAX_BATCH) throw new McpProtocolError('request', `A batch has at most ${MAX_BATCH} messages.`);
  return { isBatch: true, messages: value.map(readMessage) };
}

const isId = (value: unknown): value is McpMessageId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value));

function readMessage(value: unknown): McpMessage {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return { kind: 'invalid', id: null };
  const { id, method, params = {} } = value;
  const isAnswer = method === undefined && isId(id) && ('result' in value || isJsonObject(value['error']));
  if (isAnswer) return { kind: 'response' };
  const knownId = isId(id) ? id : null;
  if (typeof method !== 'string' || !isJsonObject(params)) return { kind: 'invalid', id: knownId };
  if (id === undefined) return { kind: 'notification', method, params };
  return knownId === null ? { kind: 'invalid', id: null } : { kind: 'request', id: knownId, method, params };
}

/** A failure of a request. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
}

export const resultMessage = (id: McpMessageId, result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, result });

export const errorMessage = (id: McpMessageId | null, { code, message }: RpcError): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** Error for a member of a batch that is no message. */
export const INVALID_MESSAGE: RpcError = { code: RPC_CODES.invalidRequest, message: 'Invalid Request' };

const encoder = new TextEncoder();

/** A message as an event of an event stream. */
export const messageEvent = (message: JsonObject): Uint8Array =>
  encoder.encode(`event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`);
