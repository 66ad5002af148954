import { createLoaders, type Loaders } from '../../resolvers/operation/loaders.ts';
import type { Platform, Scope } from '../../resolvers/operation/scope.ts';
import { offeredCredential, readCredential } from '../../rest-shims/helpers/http/credential.ts';
import type { Incoming, Outgoing } from '../../rest-shims/helpers/http/outgoing.ts';
import type { Caller } from '../domain/caller.ts';
import { Unauthenticated } from '../domain/errors.ts';
import { Client } from '../domain/free-tier/client.ts';
import { assertRoute } from '../domain/keys/route-rights.ts';
import type { PaidKeys } from '../domain/free-tier/paid-keys.ts';
import type { Requester } from '../graphql/requester.ts';

/** The network or the address of the client of a request, by its peer and `X-Forwarded-For`. */
type ClientOf = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** How clients are identified. */
interface ClientIdentification {
  readonly networkOf: ClientOf;
  readonly addressOf: ClientOf;
}

/** Creates the scope of each request. */
export interface Scopes {
  /** For a REST row, with the caller it has identified. */
  forRequest(caller: Caller | null, response: Outgoing): Scope;
  /** For a request that opens a WebSocket, or for a turn on one. `signal` becomes the signal of the scope. */
  forUpgrade(caller: Caller, request: Incoming, signal: AbortSignal): Scope;
  /**
   * For a GraphQL request. The caller is null without a key, and with a key that only lifts the limit of the free tier.
   * Throws Unauthenticated for an invalid key, and Forbidden for an address or a key that may not use the graph.
   */
  forGraph(requester: Requester): Promise<Scope>;
}

export function createScopes(
  platform: Platform,
  {
    paidKeys,
    networkOf,
    addressOf,
    admit,
    authenticated,
  }: {
    readonly paidKeys: PaidKeys;
    readonly networkOf: ClientOf;
    readonly addressOf: ClientOf;
    /** Throws Forbidden for a request of the graph from an address that may not call. */
    readonly admit: (request: Pick<Incoming, 'headers' | 'socket'>) => void;
    /** Called with the connection of every request that has a known key. */
    readonly authenticated: (socket: object) => void;
  },
): Scopes {
  const clients: ClientIdentification = { networkOf, addressOf };

  /** Null for a key that only lifts the limit of the free tier. Throws Unauthenticated for any other unknown key. */
  async function callerOfKey(key: string, request: Requester['request']): Promise<Caller | null> {
    try {
      return await platform.keyRing.identify(key, request);
    } catch (error) {
      if (error instanceof Unauthenticated && (await paidKeys.holds(key))) return null;
      throw error;
    }
  }

  return {
    forRequest(caller, response) {
      if (caller !== null) authenticated(response.req.socket);
      return new RequestScope(platform, caller, clients, response);
    },
    forUpgrade(caller, request, signal) {
      authenticated(request.socket);
      return {
        platform,
        caller,
        client: clientOf(request, clients),
        signal,
        loaders: createLoaders(platform.stores, caller),
      };
    },
    async forGraph(requester) {
      const { request } = requester;
      admit(request);
      const key = readCredential(request.headers);
      const caller = key === null || key === '' ? null : await callerOfKey(key, request);
      // The graph includes every operation, so it belongs to no group of routes.
      assertRoute(caller?.key ?? null, { path: '/graphql', groups: [] });
      if (caller !== null) authenticated(request.socket);
      const client = clientOf(request, clients);
      let loaders: Loaders | null = null;
      return {
        platform,
        caller,
        client,
        get signal() {
          return requester.signal;
        },
        // Lazy: of several subscribers to the same events only one uses its loaders.
        get loaders() {
          loaders ??= createLoaders(platform.stores, caller);
          return loaders;
        },
      };
    },
  };
}

/** The client disconnected before the answer was complete. */
export class ClientDisconnected extends Error {
  constructor() {
    super('The client disconnected before the answer was complete.');
    this.name = 'ClientDisconnected';
  }
}

/** The client of a request. Node joins repeated header lines into one. */
function clientOf(
  { headers, socket }: Pick<Incoming, 'headers' | 'socket'>,
  { networkOf, addressOf }: ClientIdentification,
): Client {
  const forwardedFor = headers['x-forwarded-for']?.toString();
  const network = networkOf(socket.remoteAddress, forwardedFor);
  return new Client(network, offeredCredential(headers), addressOf(socket.remoteAddress, forwardedFor));
}

/** A scope that creates its client, signal and loaders on first use. */
class RequestScope implements Scope {
  readonly platform: Platform;
  readonly caller: Caller | null;
  readonly #clients: ClientIdentification;
  readonly #response: Outgoing;
  #client: Client | null = null;
  #controller: AbortController | null = null;
  #loaders: Loaders | null = null;

  constructor(platform: Platform, caller: Caller | null, clients: ClientIdentification, response: Outgoing) {
    this.platform = platform;
    this.caller = caller;
    this.#clients = clients;
    this.#response = response;
  }

  get client(): Client {
    this.#client ??= clientOf(this.#response.req, this.#clients);
    return this.#client;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController();
      const response = this.#response;
      /** Aborts the request with a failure. Without one, the client has disconnected. */
      const abort = (failure?: Error): void => {
        if (!response.writableFinished) controller.abort(failure ?? new ClientDisconnected());
      };
      if (response.destroyed) abort();
      else {
        response.on('close', abort);
        response.abort = abort;
      }
      this.#controller = controller;
    }
    return this.#controller.signal;
  }

  get loaders(): Loaders {
    this.#loaders ??= createLoaders(this.platform.stores, this.caller);
    return this.#loaders;
  }
}
