import Koa from 'koa';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createLoaders, type Loaders } from '../resolvers/loaders.ts';
import type { Platform, Scope } from '../resolvers/scope.ts';
import { storeSpans } from '../resolvers/traces.ts';
import { catalogRoutes } from '../rest-shims/catalog.ts';
import { chatRoutes } from '../rest-shims/chat.ts';
import { readCredential } from '../rest-shims/credential.ts';
import { docsRoutes } from '../rest-shims/docs.ts';
import { healthRoutes } from '../rest-shims/health.ts';
import { keyRoutes } from '../rest-shims/keys.ts';
import type { RouteRow } from '../rest-shims/route.ts';
import { createRouter, type RequestFailure } from '../rest-shims/router.ts';
import { traceRoutes } from '../rest-shims/traces.ts';
import { schema } from '../schema/index.ts';
import type { Caller } from './domain/caller.ts';
import { DomainError } from './domain/errors.ts';
import type { CallRecord } from './gateway/gateway.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { createKeyRing } from './gateway/create-key-ring.ts';
import { createGraphQL } from './graphql.ts';
import { openStores } from './persistence/orm.ts';
import { demoDeployment, createProviders } from './providers/providers.ts';
import { createBus } from './runtime/bus.ts';
import { createPatternCompiler } from './runtime/catalog-pattern.ts';
import { createCatalogSource } from './runtime/catalog-source.ts';
import { systemClock } from './runtime/clock.ts';
import { createHttpClient } from './runtime/http-client.ts';
import { keySmith, randomIds } from './runtime/identifiers.ts';
import type { Log } from './runtime/log.ts';
import type { Settings } from './runtime/settings.ts';
import { createWriteBehind } from './runtime/write-behind.ts';

/** Every documented HTTP path, as rows. */
const restRoutes: readonly RouteRow[] = [
  ...chatRoutes,
  ...keyRoutes,
  ...traceRoutes,
  ...catalogRoutes,
  ...healthRoutes,
];

/** The running house. */
export interface App {
  /** Where it listens, e.g. `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Stops taking requests, lets those in flight end within `graceMs`, commits what waits, closes. */
  stop(graceMs?: number): Promise<void>;
}

/** Longest a reader of traces waits for records still on their way to the store. */
const READABLE_MS = 1_000;

/** How long requests in flight may take to end once the process is told to stop. */
const DRAIN_MS = 7_000;

/** Composes the house from its settings and opens its door. */
export async function startApp(settings: Settings, log: Log): Promise<App> {
  const stores = await openStores({
    databaseUrl: settings.databaseUrl,
    dataDir: settings.dataDir,
    sqliteDriver: settings.sqliteDriver,
    log,
  });
  const bus = createBus();
  const http = createHttpClient();
  const catalog = createCatalogSource({
    url: settings.catalogUrl,
    refreshSeconds: settings.catalogRefreshSeconds,
    clock: systemClock,
    log,
  });
  const records = createWriteBehind<CallRecord>({
    async commit(calls) {
      await stores.spend.append(calls.map(({ spend }) => spend));
      await storeSpans(
        platform,
        calls.map(({ spend, span }) => ({
          owner: { teamId: spend.teamId ?? '', keyHash: spend.keyHash },
          spans: [span],
        })),
      );
    },
    failed: (error, waiting) =>
      log.error({ err: error, waiting }, 'gateway records could not be committed; trying again'),
    dropped: (count) => log.error({ count }, 'gateway records were lost: the store stayed away too long'),
  });
  const keyRing = createKeyRing({
    masterKey: settings.masterKey,
    store: stores.keys,
    smith: keySmith,
    clock: systemClock,
  });
  const gateway = createGateway({
    deployments: settings.demoModel ? [...settings.deployments, demoDeployment] : settings.deployments,
    providers: createProviders(http),
    catalog,
    recorder: { record: records.push },
    spend: stores.spend,
    clock: systemClock,
    ids: randomIds,
    capturePrompts: settings.capturePrompts,
  });
  let draining = false;
  const platform: Platform = {
    stores,
    catalog,
    patterns: createPatternCompiler(),
    gateway,
    keyRing,
    keySmith,
    bus,
    clock: systemClock,
    ids: randomIds,
    draining: () => draining,
    recordsWaiting: records.waiting,
    recordsReadable: () => records.caughtUp(READABLE_MS),
  };

  const graph = createGraphQL({
    schema,
    scopeFor: (headers, signal) => graphScope(platform, headers, signal),
    log,
    settings: { introspection: settings.introspection, graphiql: settings.graphiql },
  });
  const serveRest = createRouter({
    rows: [...restRoutes, ...docsRoutes(restRoutes)],
    identify: keyRing.identify,
    scopeFor: (caller, response) => new RequestScope(platform, caller, response),
    failed: (failure) => logFailure(log, failure),
    maxRequestBytes: settings.maxRequestBytes,
  });

  const koa = new Koa();
  // Clients that leave mid-answer, or stop speaking HTTP, surface here; Node and the doors have dealt with them.
  koa.on('error', (error: NodeJS.ErrnoException) => {
    const code = error.code ?? '';
    if (code.startsWith('HPE_')) log.warn({ code, reason: error.message }, 'a request broke off or is not HTTP');
    else if (!LEAVING.has(code)) log.error({ err: error }, 'edge failure');
  });
  koa.use((ctx) => {
    ctx.respond = false;
    if (ctx.path === '/graphql') return graph.handle(ctx);
    if (ctx.path === '/graphql/stream') return graph.handleStream(ctx);
    return serveRest(ctx.req, ctx.res, randomIds.uuid());
  });

  const edge = koa.callback();
  const server = createServer(
    { keepAliveTimeout: 72_000, headersTimeout: 75_000, requestTimeout: 0 },
    (request, response) => void edge(request, response),
  );
  const inFlight = countInFlight(server);
  await listen(server, settings);
  catalog.start();

  async function shutDown(graceMs: number): Promise<void> {
    draining = true;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    catalog.stop();
    // The graph first: its subscribers hear why they end before their source runs dry.
    graph.close();
    bus.close();
    server.closeIdleConnections();
    await inFlight.ended(graceMs);
    server.closeAllConnections();
    await closed;
    await records.flush().catch((error: unknown) => log.error({ err: error }, 'last gateway records were lost'));
    await http.close();
    await stores.close();
  }

  let stopped: Promise<void> | null = null;
  return {
    url: addressOf(server, settings.host),
    stop: (graceMs = DRAIN_MS) => (stopped ??= shutDown(graceMs)),
  };
}

const LEAVING = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECANCELED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** The caller left before the answer was complete. */
class CallerGone extends Error {
  constructor() {
    super('The caller left.');
    this.name = 'CallerGone';
  }
}

/** A scope that makes its signal and loaders only when an operation asks for them. */
class RequestScope implements Scope {
  readonly platform: Platform;
  readonly caller: Caller | null;
  readonly #response: ServerResponse;
  #controller: AbortController | null = null;
  #loaders: Loaders | null = null;

  constructor(platform: Platform, caller: Caller | null, response: ServerResponse) {
    this.platform = platform;
    this.caller = caller;
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController();
      const response = this.#response;
      if (response.destroyed) controller.abort(new CallerGone());
      else
        response.once('close', () => {
          if (!response.writableFinished) controller.abort(new CallerGone());
        });
      this.#controller = controller;
    }
    return this.#controller.signal;
  }

  get loaders(): Loaders {
    this.#loaders ??= createLoaders(this.platform.stores, this.caller);
    return this.#loaders;
  }
}

/** A scope for the graph: its caller may be nobody, and its loaders are made when first asked for. */
async function graphScope(
  platform: Platform,
  headers: IncomingMessage['headers'],
  signal: AbortSignal,
): Promise<Scope> {
  const key = readCredential(headers);
  const caller = key === null || key === '' ? null : await platform.keyRing.identify(key);
  return { platform, caller, signal, loaders: createLoaders(platform.stores, caller) };
}

/** Warnings are what callers did; errors, with their cause, are ours. */
function logFailure(log: Log, { row, requestId, status, error }: RequestFailure): void {
  const facts = { requestId, route: row.name, status };
  if (error instanceof DomainError) log.warn({ ...facts, code: error.code, reason: error.message }, 'request refused');
  else log.error({ ...facts, err: error }, 'request failed');
}

/** Knows how many requests are being served, and when the last has ended. */
function countInFlight(server: Server): { ended(withinMs: number): Promise<void> } {
  let count = 0;
  let idle: (() => void) | null = null;
  server.on('request', (_request, response: ServerResponse) => {
    count += 1;
    response.once('close', () => {
      count -= 1;
      if (count === 0) idle?.();
    });
  });
  return {
    ended(withinMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

function listen(server: Server, { port, host }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
