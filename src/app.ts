import Koa from 'koa';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Platform } from '../resolvers/operation/scope.ts';
import { tellChanges } from '../resolvers/traces.ts';
import { docsRoutes } from '../rest-shims/docs.ts';
import { createRouter } from '../rest-shims/http/router.ts';
import { createCallRecords } from './recording/call-records.ts';
import { createFailedKeys } from './domain/keys/failed-keys.ts';
import { createPace } from './domain/rate-limiter.ts';
import { createSlots } from './domain/concurrency-limit.ts';
import { createDrain } from './http/drain.ts';
import { createConnections } from './http/connections.ts';
import { edgeFailureLog, failureLog, notHttp, refusedConnections } from './http/failure-log.ts';
import { addressOf, createEdge, listen } from './http/server.ts';
import { createCallerWatch } from './gateway/caller-watch.ts';
import { createCatalogKeyRing } from './gateway/create-catalog-key-ring.ts';
import { createCallEstimates } from './gateway/estimate-call.ts';
import { createKeyRing } from './gateway/create-key-ring.ts';
import { gatewayPaidKeys } from './gateway/gateway-paid-keys.ts';
import { paidKeysOf } from './gateway/paid-keys.ts';
import { createResponseSessions } from './gateway/create-response-sessions.ts';
import { createGraphQLDoor } from './graphql/lazy-server.ts';
import { openGateway } from './open-gateway.ts';
import { openStores } from './persistence/database/orm.ts';
import { lockDatabase } from './persistence/database/process-lock.ts';
import { createStripe } from './providers/stripe/stripe.ts';
import { createBus } from './runtime/bus.ts';
import { createCallerAddresses } from './runtime/network/caller-addresses.ts';
import { createPatternCompiler } from './runtime/catalog/pattern.ts';
import { createCatalogRecorder } from './runtime/catalog/recorder.ts';
import { createCatalogSource } from './runtime/catalog/source.ts';
import { createClientNetworks, createPeerNetworks } from './runtime/network/client-network.ts';
import { pause, systemClock } from './runtime/clock.ts';
import { createFreeTier } from './runtime/free-tier/free-tier.ts';
import { keySmith, randomIds } from './runtime/identifiers.ts';
import { createIpHash } from './runtime/free-tier/ip-hash.ts';
import type { Log } from './runtime/telemetry/log.ts';
import { createMemoryAdmission } from './runtime/admission/memory-admission.ts';
import { createMetrics } from './runtime/telemetry/metrics.ts';
import { createResponseIds } from './runtime/responses/response-ids.ts';
import { createResponseKeeper } from './runtime/responses/response-keeper.ts';
import type { Settings } from './runtime/settings/settings.ts';
import { openUpstreamClient } from './runtime/http-client/open-client.ts';
import { createStoredSpend } from './runtime/admission/stored-spend.ts';
import { webSocketServer } from './runtime/network/web-sockets.ts';
import { createTraceOutlines } from './runtime/traces/outlines.ts';
import { createRounds } from './background-tasks.ts';
import { HOT_PATHS, restRoutes } from './http/routes.ts';
import { createScopes } from './http/request-scopes.ts';
import { openSpanExport, recordAndExport } from './recording/span-export.ts';
import { createTracePacker } from './ingest/export-packer.ts';
import { realtimeDoor, responsesDoor } from './http/upgrade-routes.ts';
import { createUpgrades } from './http/upgrades.ts';

/** The running application. */
export interface App {
  /** Where it listens, e.g. `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Stops taking requests, lets those in flight end within `graceMs`, commits what waits, closes. */
  stop(graceMs?: number): Promise<void>;
}

/** Longest a reader of traces waits for records still on their way to the store. */
const READABLE_MS = 1_000;

/** Beginning a purchase is open to everyone, and each leaves a row and a session at the payment provider. */
const CHECKOUT_PACE = { most: 60, windowMs: 3_600_000, what: 'checkouts' } as const;

/**
 * How long the first requests have the process to themselves: noting a catalog that is not on record yet takes half a
 * second of a core, and so does reading one that was fetched. The state served is noted before another can come.
 */
const SETTLE_MS = 250;

/** How long the last spans may take to their collector. */
const EXPORT_DRAIN_MS = 1_500;

/** How long requests in flight may take to end after the signal to stop, in ms. */
const DRAIN_MS = 7_000;

/** Locks the database for this process, composes the application from its settings, and listens. */
export async function startApp(settings: Settings, log: Log): Promise<App> {
  const lock = await lockDatabase({ databaseUrl: settings.databaseUrl, dataDir: settings.dataDir, log });
  try {
    const app = await composeApp(settings, log);
    return { url: app.url, stop: (graceMs) => app.stop(graceMs).finally(() => lock.release()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function composeApp(settings: Settings, log: Log): Promise<App> {
  const exports = createTracePacker({
    limits: settings.otlp.limits,
    offloadBytes: settings.otlp.offloadBytes,
    unpacking: createSlots(settings.otlp.concurrentIngests, 'exports are being unpacked'),
  });
  const stores = await openStores({
    bodies: exports,
    databaseUrl: settings.databaseUrl,
    dataDir: settings.dataDir,
    sqliteDriver: settings.sqliteDriver,
    lockTimeoutMs: settings.lockTimeoutMs,
    traces: settings.clickHouse,
    log,
  });
  const bus = createBus();
  const http = await openUpstreamClient(settings.upstream, createCallerAddresses(settings.callers.allowedHosts));
  const recorder = createCatalogRecorder({
    history: stores.catalogHistory,
    bus,
    clock: systemClock,
    log,
    freshAt() {
      const { lastCheckedAt, lastError } = catalog.status();
      return lastError === null ? lastCheckedAt : null;
    },
  });
  const catalog = createCatalogSource({
    url: settings.catalogUrl,
    refreshSeconds: settings.catalogRefreshSeconds,
    clock: systemClock,
    log,
    swapped: (_from, to) => recorder.see(to),
    lastGoodFile: join(settings.dataDir, 'price-map'),
    releases: stores.catalogReleases,
  });
  await catalog.restore();
  const records = createCallRecords({
    stores: stores.callSpans === null ? [stores.calls] : [stores.calls, stores.callSpans],
    async changed(summaries) {
      if (bus.subscriberCount() > 0) tellChanges(bus, await summaries());
    },
    log,
  });
  const networkOf = createClientNetworks(settings.trustedProxies);
  const keyRing = createKeyRing({
    masterKey: settings.masterKey,
    store: stores.keys,
    smith: keySmith,
    clock: systemClock,
    failures: createFailedKeys({
      perMinute: settings.wrongKeysPerMinute,
      networkOf: ({ socket, headers }) => networkOf(socket.remoteAddress, headers['x-forwarded-for']?.toString()),
      clock: systemClock,
    }),
    pause,
  });
  const callerWatch = createCallerWatch(keyRing);
  keyRing.onChange(callerWatch.check);
  const keeper = createResponseKeeper({
    store: stores.responses,
    masterKey: settings.masterKey,
    keeps: settings.storeResponses,
    log,
  });
  const spanExport = openSpanExport(settings, http, log);
  const admission = createMemoryAdmission({
    totals: createStoredSpend(stores.spend, records),
    clock: systemClock,
    failed(error) {
      if (!draining) log.warn({ err: error }, 'stored spend could not be read; budgets go on with what is in memory');
    },
  });
  const gateway = openGateway(settings, {
    http,
    catalog,
    recorder: spanExport === null ? records : recordAndExport(records.record, spanExport),
    admission,
    log,
  });
  const catalogKeys = createCatalogKeyRing({ store: stores.checkouts, smith: keySmith, clock: systemClock });
  const paidKeys = paidKeysOf({ catalog: catalogKeys, gateway: gatewayPaidKeys(keyRing) });
  const payments = createStripe(settings.billing);
  const freeTier = createFreeTier({
    store: stores.freeTier,
    paidKeys,
    ipHash: createIpHash(settings.masterKey),
    limit: settings.catalogDailyLimit,
    onSale: payments.configured,
    clock: systemClock,
    failed: (error) => log.warn({ err: error }, 'the free tier could not reserve, give back or forget calls'),
  });
  const connections = createConnections({
    most: settings.maxConnections,
    networkOf: createPeerNetworks(settings.trustedProxies),
    refused: refusedConnections(log),
  });
  let url = '';
  let draining = false;
  const platform: Platform = {
    stores,
    catalog,
    catalogKeys,
    patterns: createPatternCompiler(),
    freeTier,
    payments,
    checkoutPace: createPace({ ...CHECKOUT_PACE, clock: systemClock }),
    gateway,
    objects: gateway,
    tokens: gateway,
    prober: gateway,
    healthChecks: { background: settings.healthChecks.everySeconds > 0, details: settings.healthChecks.details },
    fileLimits: settings.fileLimits,
    exposesApiBase: settings.callers.exposeApiBase,
    estimates: createCallEstimates(catalog),
    exports,
    outlines: createTraceOutlines(),
    keyRing,
    callerWatch,
    responses: { ids: createResponseIds(settings.masterKey), idSecurity: settings.responseIdSecurity, keeper },
    keySmith,
    metrics: createMetrics({
      catalog,
      spanExport,
      calls: { waiting: records.waiting, backlog: stores.calls.backlog },
      connections: connections.counts,
      upstreams: () => http.connections(),
      failedWrites: stores.failedWrites,
      reservations: admission.counts,
      clock: systemClock,
    }),
    bus,
    clock: systemClock,
    ids: randomIds,
    publicUrl: () => settings.billing.publicUrl ?? url,
    draining: () => draining,
    recordsWaiting: records.waiting,
    recordsReadable: () => records.caughtUp(READABLE_MS),
  };
  const scopes = createScopes(platform, { paidKeys, networkOf, authenticated: connections.authenticated });

  const rounds = createRounds(settings, { platform, stores, keyRing, log });
  const graph = createGraphQLDoor({
    scopeFor: scopes.forGraph,
    log,
    settings: { introspection: settings.introspection, graphiql: settings.graphiql },
  });
  const failed = failureLog(log);
  const serveRest = createRouter({
    rows: [...restRoutes, ...docsRoutes(restRoutes)],
    identify: keyRing.identify,
    scopeFor: scopes.forRequest,
    failed,
    bodyLimits: { setting: settings.maxRequestBytes, otlp: settings.otlp.limits.bodyBytes },
    heartbeatMs: settings.streamHeartbeatSeconds * 1000,
    stallMs: settings.upstream.stalledReaderSeconds * 1000,
  });

  const responses = createResponseSessions(systemClock);
  const upgrades = createUpgrades({
    identify: keyRing.identify,
    sockets: webSocketServer,
    doors: [
      realtimeDoor({ scopeFor: scopes.forUpgrade, failed, ids: randomIds }),
      responsesDoor({ scopeFor: scopes.forUpgrade, failed, sessions: responses, current: keyRing.current }),
    ],
    sessions: [gateway.realtime, responses],
    draining: () => draining,
    failed,
    maxMessageBytes: settings.maxRequestBytes,
  });

  const koa = new Koa();
  const edgeFailed = edgeFailureLog(log);
  koa.on('error', edgeFailed);
  koa.use((ctx) => {
    ctx.respond = false;
    if (ctx.path === '/graphql') return graph.handle(ctx);
    if (ctx.path === '/graphql/stream') return graph.handleStream(ctx);
    return serveRest(ctx.req, ctx.res);
  });

  const throughKoa = koa.callback();
  const serveEdge: RequestListener = (request, response) => {
    if (drain.refuses(request, response)) return;
    if (!HOT_PATHS.has(request.url ?? '')) return void throughKoa(request, response);
    response.on('error', edgeFailed);
    return void serveRest(request, response);
  };
  const { keyHeader } = settings;
  const server = createEdge(serveEdge, { hotPaths: HOT_PATHS, upgrades, keyHeader, connections });
  const brokeOff = notHttp(log);
  server.on('connection', (socket) => socket.on('error', brokeOff));
  const drain = createDrain(server, serveRest.refuse);
  await listen(server, settings);
  url = addressOf(server, settings.host);
  const settling = setTimeout(() => {
    recorder.see(catalog.current());
    catalog.start();
  }, SETTLE_MS);
  freeTier.start();
  upgrades.start();
  rounds.start();
  records.start();

  async function shutDown(graceMs: number): Promise<void> {
    draining = true;
    drain.begin();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    clearTimeout(settling);
    catalog.stop();
    const roundsEnded = rounds.stop();
    // The graph first: its subscribers hear why they end before their source runs dry.
    graph.close();
    bus.close();
    server.closeIdleConnections();
    await Promise.all([drain.finish(graceMs), upgrades.drain(graceMs)]);
    server.closeAllConnections();
    await closed;
    await recorder.stop();
    await records.flush().catch((error: unknown) => log.error({ err: error }, 'last gateway records were lost'));
    await keeper.flush().catch((error: unknown) => log.error({ err: error }, 'last responses were lost'));
    await records.stop();
    await spanExport?.drain(EXPORT_DRAIN_MS);
    await freeTier.stop();
    await roundsEnded;
    await http.close();
    await stores.close();
    await exports.close();
  }

  let stopped: Promise<void> | null = null;
  return {
    url,
    stop: (graceMs = DRAIN_MS) => (stopped ??= shutDown(graceMs)),
  };
}
