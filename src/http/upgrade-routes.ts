import type { IncomingMessage } from 'node:http';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { requireCredential } from '../../rest-shims/http/credential.ts';
import { renderError } from '../../rest-shims/errors.ts';
import {
  chosenProtocol,
  failureEvent,
  openSession,
  realtimeCredential,
  realtimeRow,
  sessionHead,
} from '../../rest-shims/realtime.ts';
import { createResponseReader, RESPONSE_SOCKET_HEAD, responseSocketRow } from '../../rest-shims/response-socket.ts';
import type { RequestFailure } from '../../rest-shims/http/router.ts';
import type { Caller } from '../domain/caller.ts';
import type { Ids } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { createTurnMemories } from '../domain/responses/turn-memory.ts';
import { Secret } from '../domain/secret.ts';
import type { ResponseSessions } from '../gateway/response-sessions.ts';
import { searchOf, type UpgradeDoor } from './upgrades.ts';

/** What the doors need of the house around them. */
interface DoorOptions {
  readonly scopeFor: (caller: Caller, request: IncomingMessage, signal: AbortSignal) => Scope;
  /** Told of every failure once. */
  readonly failed: (failure: RequestFailure) => void;
}

const statusOf = (failure: unknown): number =>
  renderError('proxy', failure instanceof DomainError ? failure : null, {}).status;

/** Realtime sessions: the upstream is opened first, then the client is joined to it. */
export function realtimeDoor({ scopeFor, failed, ids }: DoorOptions & { readonly ids: Ids }): UpgradeDoor {
  return {
    row: realtimeRow,
    takesOthers: false,
    credential: ({ headers }) => realtimeCredential(headers),
    protocol: ({ headers }) => chosenProtocol(headers),
    async open(caller, request, signal) {
      const scope = scopeFor(caller, request, signal);
      const session = await openSession(scope, { search: searchOf(request), headers: request.headers });
      return {
        head: sessionHead(session),
        abandon: () => session.abandon(),
        join: (socket) =>
          session.relay({
            socket,
            words: (failure, about) => failureEvent(ids, failure, about),
            ended(failure) {
              if (failure !== null) failed({ row: realtimeRow, status: statusOf(failure), error: failure });
            },
          }),
      };
    },
  };
}

/** Responses: nobody is called before the client asks for one. */
export function responsesDoor({
  scopeFor,
  failed,
  sessions,
  current,
}: DoorOptions & {
  readonly sessions: ResponseSessions;
  /** A caller's key as it stands now. Throws Unauthenticated. */
  readonly current: (caller: Caller) => Caller | Promise<Caller>;
}): UpgradeDoor {
  const memories = createTurnMemories();
  const row = responseSocketRow;
  return {
    row,
    takesOthers: true,
    credential: ({ headers }) => new Secret(requireCredential(headers)),
    protocol: () => null,
    open(caller, request) {
      const place = sessions.open();
      return {
        head: RESPONSE_SOCKET_HEAD,
        abandon: () => place.abandon(),
        join(socket) {
          const memory = memories.open();
          const reader = createResponseReader({
            request: { search: searchOf(request), headers: request.headers },
            memory,
            scopeFor: async (signal) => scopeFor(await current(caller), request, signal),
            failed: (failure, status) => failed({ row, status, error: failure }),
          });
          place.join({
            socket,
            read: (message) => reader.read(message),
            words: (failure) => reader.words(failure),
            ended(failure) {
              memory.close();
              if (failure !== null) failed({ row, status: statusOf(failure), error: failure });
            },
          });
        },
      };
    },
  };
}
