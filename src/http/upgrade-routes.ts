import type { IncomingMessage } from 'node:http';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { requireCredential } from '../../rest-shims/helpers/http/credential.ts';
import { offeredProtocols } from '../../rest-shims/helpers/http/handshake.ts';
import type { RouteFacts } from '../../rest-shims/helpers/http/route.ts';
import { renderError } from '../../rest-shims/errors.ts';
import {
  selectedProtocol,
  failureEvent,
  openSession,
  realtimeCredential,
  realtimeRow,
  sessionHeaders,
} from '../../rest-shims/realtime.ts';
import { createResponseReader, RESPONSE_SOCKET_HEADERS, responseSocketRow } from '../../rest-shims/response-socket.ts';
import type { RequestFailure } from '../../rest-shims/helpers/http/row-server.ts';
import type { Caller } from '../domain/caller.ts';
import type { Ids } from '../domain/clock.ts';
import { DomainError, InvalidInput } from '../domain/errors.ts';
import { createTurnMemories } from '../domain/responses/turn-memory.ts';
import { Secret } from '../domain/secret.ts';
import type { ResponseSessions } from '../gateway/sessions/response-sessions.ts';
import type { LazyGraphQL } from '../graphql/lazy-server.ts';
import { type IdentifiedRoute, type OpenRoute, searchOf } from './upgrades.ts';

/** Options of the routes for realtime sessions and responses. */
interface UpgradeRouteOptions {
  readonly scopeFor: (caller: Caller, request: IncomingMessage, signal: AbortSignal) => Scope;
  /** Called once for every failure. */
  readonly failed: (failure: RequestFailure) => void;
}

const statusOf = (failure: unknown): number =>
  renderError('proxy', failure instanceof DomainError ? failure : null, {}).status;

/** Realtime sessions: the upstream session is opened before the client's WebSocket. */
export function realtimeUpgrade({
  scopeFor,
  failed,
  ids,
}: UpgradeRouteOptions & { readonly ids: Ids }): IdentifiedRoute {
  return {
    row: realtimeRow,
    servesOtherMethods: false,
    credential: ({ headers }) => realtimeCredential(headers),
    protocol: ({ headers }) => selectedProtocol(headers),
    async open(caller, { request, requestId, signal }) {
      const scope = scopeFor(caller, request, signal);
      const session = await openSession(scope, { search: searchOf(request), headers: request.headers });
      return {
        answerHeaders: sessionHeaders(session),
        abandon: () => session.abandon(),
        join: (socket) =>
          session.relay({
            socket,
            errorEvent: (failure, about) => failureEvent(ids, failure, about),
            ended(failure) {
              if (failure !== null) failed({ row: realtimeRow, status: statusOf(failure), error: failure, requestId });
            },
          }),
      };
    },
  };
}

/** Responses over a WebSocket: no upstream is called before the first message. */
export function responsesUpgrade({
  scopeFor,
  failed,
  sessions,
  current,
}: UpgradeRouteOptions & {
  readonly sessions: ResponseSessions;
  /** The caller with the current state of its key. Throws as `KeyRing.current`. */
  readonly current: (caller: Caller) => Caller | Promise<Caller>;
}): IdentifiedRoute {
  const memories = createTurnMemories();
  const row = responseSocketRow;
  return {
    row,
    servesOtherMethods: true,
    credential: ({ headers }) => new Secret(requireCredential(headers)),
    protocol: () => null,
    open(caller, { request, requestId }) {
      const slot = sessions.open();
      return {
        answerHeaders: RESPONSE_SOCKET_HEADERS,
        abandon: () => slot.abandon(),
        join(socket) {
          const memory = memories.open();
          const reader = createResponseReader({
            handshake: { search: searchOf(request), headers: request.headers },
            memory,
            scopeFor: async (signal) => scopeFor(await current(caller), request, signal),
            onRefusal: (failure, status) => failed({ row, status, error: failure, requestId }),
          });
          slot.join({
            socket,
            read: (message) => reader.read(message),
            errorEvent: (failure) => reader.errorEvent(failure),
            ended(failure) {
              memory.close();
              if (failure !== null) failed({ row, status: statusOf(failure), error: failure, requestId });
            },
          });
        },
      };
    },
  };
}

const GRAPH_PROTOCOL = 'graphql-transport-ws';
/** Maximum size of one message, in bytes: the limit of a GraphQL request over HTTP. */
const GRAPH_MESSAGE_BYTES = 1024 * 1024;

const graphSocketFacts: RouteFacts = {
  name: 'graphql.socket',
  method: 'GET',
  paths: ['/graphql'],
  surface: 'catalog',
  credential: 'none',
  statuses: [],
  bodyLimit: 0,
};

/** GraphQL over a WebSocket. The handshake or `connection_init` carries the key. */
export function graphUpgrade({ load, sockets }: Pick<LazyGraphQL, 'load' | 'sockets'>): OpenRoute {
  return {
    row: graphSocketFacts,
    servesOtherMethods: true,
    maxMessageBytes: GRAPH_MESSAGE_BYTES,
    credential: null,
    protocol: () => GRAPH_PROTOCOL,
    async open({ request, requestId }) {
      if (!offeredProtocols(request.headers).includes(GRAPH_PROTOCOL))
        throw new InvalidInput(`/graphql: Offer the WebSocket subprotocol \`${GRAPH_PROTOCOL}\`.`);
      await load();
      return { answerHeaders: {}, abandon() {}, join: (socket) => sockets.join(socket, request, requestId) };
    },
  };
}
