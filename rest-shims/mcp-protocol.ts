import { admitMcpRequest, closeMcpSession, watchMcpSession } from '../resolvers/mcp-protocol.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import { McpProtocolError } from '../src/domain/mcp/protocol.ts';
import { readMcpMessages } from '../src/wire/mcp/messages.ts';
import { parseValue } from './helpers/http/json-body.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './helpers/http/route.ts';
import { textParameters } from './helpers/http/schema.ts';
import { arrivalOf, assertAccepts, assertJsonBody, sessionIdOf } from './helpers/mcp/arrival.ts';
import { answerMessages, assertAllowed, EVENT_STREAM, streamAnswer } from './helpers/mcp/exchange.ts';
import { anyAborted, MessageStream } from './helpers/mcp/message-stream.ts';

/** Maximum size of a message in bytes. Arguments of tools may have images. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const ENDPOINT = {
  surface: 'mcp',
  credential: 'tried',
  paths: ['/mcp', '/mcp/', '/mcp/:servers', '/:servers/mcp', '/toolset/:toolset/mcp'],
  headerSchema: textParameters('mcp-session-id', 'mcp-protocol-version', 'x-mcp-servers', 'x-mcp-access-groups'),
} as const satisfies Partial<RouteRow>;

/** Throws McpProtocolError. */
function parseJson(body: Uint8Array): unknown {
  try {
    return parseValue(body);
  } catch (error) {
    throw error instanceof InvalidInput ? new McpProtocolError('parse', error.message) : error;
  }
}

async function post(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const exchange = await admitMcpRequest(scope, arrivalOf(request, { session: true }));
  assertAccepts(request, ['application/json', EVENT_STREAM]);
  assertJsonBody(request);
  return answerMessages(scope, exchange, { request, body: readMcpMessages(parseJson(request.body)) });
}

/** Opens a stream for messages to the client. The gateway sends none, so the stream only shows that it is there. */
async function get(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const exchange = await admitMcpRequest(scope, arrivalOf(request, { session: true }));
  assertAccepts(request, [EVENT_STREAM]);
  assertAllowed(exchange);
  const { session } = exchange;
  if (session?.takeStream() === false) throw new Conflict('Conflict: Only one SSE stream is allowed per session');
  const ends = watchMcpSession(scope, session);
  const stream = new MessageStream(
    ({ signal }) => anyAborted([...ends, signal]),
    () => session?.releaseStream(),
  );
  return streamAnswer(stream, session, () => new Uint8Array(0));
}

async function end(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  await admitMcpRequest(scope, arrivalOf(request, { session: false }));
  const id = sessionIdOf(request);
  if (id === null) throw new McpProtocolError('request', 'Bad Request: Missing session ID');
  closeMcpSession(scope, id);
  return json({ message: 'Session terminated successfully' });
}

/** Endpoints of the Model Context Protocol over streamable HTTP. */
export const mcpProtocolRoutes: readonly RouteRow[] = [
  {
    ...ENDPOINT,
    name: 'mcpProtocol.send',
    method: 'POST',
    statuses: [200, 202, 400, 401, 403, 404, 406, 413, 415, 429],
    bodySchema: {},
    bodyLimit: MAX_MESSAGE_BYTES,
    handle: post,
  },
  {
    ...ENDPOINT,
    name: 'mcpProtocol.listen',
    method: 'GET',
    statuses: [200, 401, 403, 404, 406, 409],
    bodyLimit: 0,
    handle: get,
  },
  {
    ...ENDPOINT,
    name: 'mcpProtocol.end',
    method: 'DELETE',
    statuses: [200, 400, 401, 403, 404],
    bodyLimit: 1024,
    handle: end,
  },
];
