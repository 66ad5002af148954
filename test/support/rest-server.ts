import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRestRouter, type RestRouterOptions } from '../../rest-shims/helpers/http/router.ts';
import { createKoaApp, type KoaAppOptions } from '../../src/http/koa-app.ts';

/** Request listener that serves route rows through the Koa application, without GraphQL. */
export function serveRows(rest: RestRouterOptions, options: Partial<KoaAppOptions> = {}): RequestListener {
  const failed = (error: Error): void => {
    throw error;
  };
  const app = createKoaApp({
    rest: createRestRouter(rest),
    graph: null,
    corsOrigins: [],
    drain: null,
    failed,
    ...options,
  });
  const callback = app.callback();
  return (request, response) => void callback(request, response);
}

/** Serves route rows on a free loopback port. */
export async function openRowServer(
  rest: RestRouterOptions,
  options: Partial<KoaAppOptions> = {},
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(serveRows(rest, options)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
