import { createServer, type RequestListener, type Server } from 'node:http';

/** How long a client may take, in ms. */
interface EdgeLimits {
  /** From an answer to the next request on the same connection. */
  readonly keepAliveTimeout: number;
  /** To the end of a request's head. */
  readonly headersTimeout: number;
  /** To the end of a request's body; how long its answer takes is not counted. */
  readonly requestTimeout: number;
  /** How often the last two are looked at. */
  readonly connectionsCheckingInterval: number;
}

const LIMITS: EdgeLimits = {
  // Longer than the 60 s of common load balancers, so that it is never we who close first.
  keepAliveTimeout: 72_000,
  headersTimeout: 75_000,
  requestTimeout: 300_000,
  connectionsCheckingInterval: 15_000,
};

/** The HTTP server, before it listens. A client that never ends its request is answered 408, or cut off. */
export function createEdge(serve: RequestListener, limits: EdgeLimits = LIMITS): Server {
  return createServer({ ...limits }, (request, response) => {
    request.url = originForm(request.url ?? '/');
    serve(request, response);
  });
}

/** A target as proxies write it, `http://host/path`, without its scheme and host: there is one house behind this door. */
const originForm = (target: string): string =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
