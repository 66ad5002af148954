import { statusOf } from '../../rest-shims/errors.ts';
import type { Incoming, Outgoing } from '../../rest-shims/helpers/http/outgoing.ts';
import { type DomainError, Unavailable } from '../domain/errors.ts';
import { OpenList, type Place } from '../domain/open-list.ts';
import { withDeadline } from '../domain/with-deadline.ts';

/** Ends the open requests of a server before the process ends. */
export interface Drain {
  /**
   * Answers a request that arrives during the shutdown with 503. Returns false before the shutdown, and for probes and
   * unknown paths, which are served. During the shutdown, every connection closes after its answer.
   */
  refuseIfDraining(request: Incoming, response: Outgoing): boolean;
  /** Adds a request that is open until its place is removed. */
  add(request: Incoming, response: Outgoing): Place<Exchange>;
  /** Called once, when the answer of a request is complete or its connection has closed. */
  remove(place: Place<Exchange>): void;
  /** Number of open requests. */
  open(): number;
  /** Begins the shutdown: from now on, `refuseIfDraining` refuses requests. */
  begin(): void;
  /**
   * Resolves when no answer is open, after `graceMs` at the latest. Shortly before `graceMs`, streams that are still
   * open end with an error event of their dialect, and other open requests are answered 503.
   */
  finish(graceMs: number): Promise<void>;
}

/** A request, and its answer. */
interface Exchange {
  readonly request: Incoming;
  readonly response: Outgoing;
}

/** How long before the end of the grace period open answers are ended, in ms. At most a quarter of the grace period. */
const CUT_BEFORE_END_MS = 1_000;

/** Paths that are served until the process ends. */
const PROBES = /^\/(?:health|metrics)\b/;
const GRAPH = /^\/graphql(?:\/stream)?(?:\?|$)/;

/** `refuse` answers a request in the form of its row; it returns false when no row matches. */
export function createDrain(refuse: (request: Incoming, response: Outgoing, error: DomainError) => boolean): Drain {
  const open = new OpenList<Exchange>();
  let onIdle: (() => void) | null = null;
  let hasBegun = false;

  /** Resolves when no request is open, or after `withinMs`. */
  function waitUntilIdle(withinMs: number): Promise<void> {
    if (open.size === 0) return Promise.resolve();
    const idle = Promise.withResolvers<void>();
    onIdle = idle.resolve;
    return withDeadline(idle.promise, withinMs, () => {});
  }

  /** Answers 503 in the form of the request's transport. Returns false for an unknown path. */
  function refuseRequest(request: Incoming, response: Outgoing): boolean {
    const failure = shuttingDown();
    if (refuse(request, response, failure)) return true;
    if (!GRAPH.test(request.url ?? '')) return false;
    refuseInGraph(response, failure);
    return true;
  }

  return {
    add: (request, response) => open.add({ request, response }),
    remove(place) {
      if (open.remove(place) && open.size === 0) onIdle?.();
    },
    open: () => open.size,
    refuseIfDraining(request, response) {
      if (!hasBegun) return false;
      response.shouldKeepAlive = false;
      return !PROBES.test(request.url ?? '') && refuseRequest(request, response);
    },
    begin() {
      hasBegun = true;
      for (const { response } of open) response.shouldKeepAlive = false;
    },
    async finish(graceMs) {
      const cutMs = Math.min(CUT_BEFORE_END_MS, graceMs / 4);
      await waitUntilIdle(graceMs - cutMs);
      for (const { response } of open) response.abort?.(shuttingDown());
      await waitUntilIdle(cutMs / 2);
      for (const { request, response } of open) if (!response.headersSent) refuseRequest(request, response);
      await waitUntilIdle(cutMs / 2);
    },
  };
}

const shuttingDown = (): Unavailable => new Unavailable('The process is shutting down.');

/** Answers in the form of a GraphQL response. */
function refuseInGraph(response: Outgoing, failure: Unavailable): void {
  const { code, message, retryAfterSeconds } = failure;
  const body = Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code, retryAfterSeconds } }] }));
  // As for other failures of GraphQL requests: the statuses of this product's own REST paths.
  response.writeHead(statusOf('catalog', failure), {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  });
  response.end(body);
}
