import { openMcpSession, type McpExchange } from '../../../resolvers/mcp-protocol.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { jsonObjectOf, type JsonObject } from '../../../src/domain/json-object.ts';
import { RPC_CODES } from '../../../src/domain/json-rpc-codes.ts';
import { allowsBatches, McpProtocolError, negotiatedVersion } from '../../../src/domain/mcp/protocol.ts';
import { prefixOf } from '../../../src/domain/mcp/tool-names.ts';
import type { McpMessageId, McpSession } from '../../../src/domain/mcp-sessions/session.ts';
import {
  errorMessage,
  INVALID_MESSAGE,
  type McpMessage,
  type McpMessages,
  type McpRequestMessage,
  messageEvent,
  resultMessage,
} from '../../../src/wire/mcp/messages.ts';
import { SUCCESS } from '../../errors.ts';
import { COMMENT_LINE } from '../http/answer-writer.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';
import { versionOf } from './arrival.ts';
import { MessageStream, type MessageWriter } from './message-stream.ts';
import { isUnexpected, rpcErrorOf, runMethod } from './methods.ts';

const SERVER_NAME = 'litellm-mcp-server';
const SERVER_VERSION = '1.0.0';
const CAPABILITIES = {
  prompts: { listChanged: false },
  resources: { subscribe: false, listChanged: false },
  tools: { listChanged: false },
} as const;

const isInitialize = (message: McpMessage): message is McpRequestMessage =>
  message.kind === 'request' && message.method === 'initialize';

/** Answers the messages of a request. Throws McpProtocolError, and Forbidden for a session that may not be opened. */
export function answerMessages(
  scope: Scope,
  exchange: McpExchange,
  { request, body }: { readonly request: HttpRequest; readonly body: McpMessages },
): HttpAnswer {
  const { messages, isBatch } = body;
  const initialize = messages.find(isInitialize);
  if (initialize !== undefined) {
    if (isBatch) throw new McpProtocolError('request', 'The request initialize is sent alone.');
    return answerInitialize(scope, exchange, initialize);
  }
  const version = versionOf(request);
  if (isBatch && !allowsBatches(version))
    throw new McpProtocolError('request', `Version ${version} of the protocol has no batches.`);
  for (const message of messages) receive(exchange.session, message);
  const expectsAnswer = messages.some(({ kind }) => kind === 'request' || kind === 'invalid');
  return expectsAnswer ? streamOf(scope, exchange, messages) : ACCEPTED;
}

/** Answer to notifications only. */
const ACCEPTED: HttpAnswer = {
  status: SUCCESS.accepted,
  body: { kind: 'bytes', bytes: new Uint8Array(0), contentType: 'text/plain; charset=utf-8' },
};

/** Cancels the request that a notification names. Other notifications have no effect. */
function receive(session: McpSession | null, message: McpMessage): void {
  if (session === null || message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
  const { requestId } = message.params;
  if (typeof requestId === 'string' || typeof requestId === 'number') session.cancel(requestId);
}

function answerInitialize(scope: Scope, exchange: McpExchange, { id, params }: McpRequestMessage): HttpAnswer {
  const { protocolVersion, clientInfo } = params;
  if (typeof protocolVersion !== 'string')
    return eventsAnswer(
      [errorMessage(id, { code: RPC_CODES.invalidParams, message: 'Invalid request parameters' })],
      null,
    );
  const { name, version } = jsonObjectOf(clientInfo);
  const client = { name: shortText(name), version: shortText(version) };
  const session = openMcpSession(scope, { exchange, client });
  const result = { protocolVersion: negotiatedVersion(protocolVersion), ...serverFacts(exchange) };
  return eventsAnswer([resultMessage(id, result)], session?.facts.id ?? null);
}

/** Characters of the name of a client. */
const MAX_CLIENT_TEXT = 200;

const shortText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_CLIENT_TEXT) : null;

/** Facts of the gateway. On the route of one server, they have the name and instructions of the server. */
function serverFacts({ resolved }: McpExchange): JsonObject {
  const [server, ...others] = resolved?.kind === 'servers' ? resolved.servers : [];
  const only = others.length === 0 ? server : undefined;
  const name = only === undefined ? SERVER_NAME : prefixOf(only);
  const instructions = only?.instructions ?? null;
  return {
    capabilities: CAPABILITIES,
    serverInfo: { name, version: SERVER_VERSION },
    ...(instructions === null ? {} : { instructions }),
  };
}

/** Headers of an event stream, against caching and buffering by proxies. */
function streamHeaders(sessionId: string | null): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...(sessionId === null ? {} : { 'mcp-session-id': sessionId }),
  };
}

const eventsAnswer = (messages: readonly JsonObject[], sessionId: string | null): HttpAnswer => ({
  headers: streamHeaders(sessionId),
  body: { kind: 'bytes', bytes: Buffer.concat(messages.map(messageEvent)), contentType: EVENT_STREAM },
});

export const EVENT_STREAM = 'text/event-stream';

/** An answer that is an event stream. `lastEvent` returns the last bytes of a stream that fails. */
export const streamAnswer = (
  stream: MessageStream,
  session: McpSession | null,
  lastEvent: (failure: Error) => Uint8Array,
): HttpAnswer => ({
  headers: streamHeaders(session?.facts.id ?? null),
  body: { kind: 'stream', stream, contentType: EVENT_STREAM, failureEvent: lastEvent, heartbeat: COMMENT_LINE },
});

/** Answers to messages, one after another, as events. */
function streamOf(scope: Scope, exchange: McpExchange, messages: readonly McpMessage[]): HttpAnswer {
  let unanswered: McpMessageId | null = null;
  async function answerAll(writer: MessageWriter): Promise<void> {
    for (const message of messages) {
      if (writer.signal.aborted) return;
      unanswered = message.kind === 'request' ? message.id : null;
      // oxlint-disable-next-line no-await-in-loop -- the answers of a batch are bounded: one is held at a time
      const answer = await answerTo(scope, exchange, { message, writer });
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (answer !== null) await writer.send(messageEvent(answer));
    }
  }
  return streamAnswer(new MessageStream(answerAll), exchange.session, (failure) =>
    messageEvent(errorMessage(unanswered, rpcErrorOf(failure))),
  );
}

/** The answer to a message; null for a notification, and for a request that the client cancelled. */
async function answerTo(
  scope: Scope,
  exchange: McpExchange,
  { message, writer }: { readonly message: McpMessage; readonly writer: MessageWriter },
): Promise<JsonObject | null> {
  if (message.kind === 'invalid') return errorMessage(message.id, INVALID_MESSAGE);
  if (message.kind !== 'request') return null;
  const { id, method, params } = message;
  const { session } = exchange;
  const running = new AbortController();
  session?.start(id, running);
  try {
    const signal = AbortSignal.any([scope.signal, writer.signal, running.signal]);
    return resultMessage(
      id,
      await runMethod(method, { scope: messageScope(scope, exchange, signal), exchange, params }),
    );
  } catch (error) {
    if (running.signal.aborted || writer.signal.aborted) return null;
    if (isUnexpected(error)) scope.platform.mcpEndpoint.messageFailed(error);
    return errorMessage(id, rpcErrorOf(error));
  } finally {
    session?.finish(running);
  }
}

/** The scope of one message: with its own signal, and with the caller of the exchange. */
const messageScope = ({ platform, client, loaders }: Scope, { caller }: McpExchange, signal: AbortSignal): Scope => ({
  platform,
  caller,
  client,
  signal,
  loaders,
});

/** Throws the refusal of an exchange that may use none of its servers. */
export function assertAllowed({ refusal }: McpExchange): void {
  if (refusal !== null) throw refusal;
}
