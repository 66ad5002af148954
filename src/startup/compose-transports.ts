import { configSchemaRoutes } from '../../rest-shims/config-schema.ts';
import { docsRoutes } from '../../rest-shims/docs.ts';
import { changeAuthor } from '../../rest-shims/helpers/http/change-author.ts';
import type { RunWithAuthor, RequestFailure } from '../../rest-shims/helpers/http/row-server.ts';
import { openApiRoutes } from '../../rest-shims/openapi.ts';
import type { Authorship } from '../domain/audit-log/audit-entry.ts';
import type { McpSessions } from '../domain/mcp-sessions/sessions.ts';
import type { PassThroughRoutes } from '../domain/pass-through/routes.ts';
import type { createBus } from '../runtime/bus.ts';
import { createResponseSessions } from '../gateway/sessions/create-response-sessions.ts';
import type { CopyGateway } from '../gateway/gateway.ts';
import type { KeyRing } from '../gateway/keys/key-ring.ts';
import type { Realtime } from '../gateway/sessions/realtime.ts';
import { createLazyGraphQL, type LazyGraphQL } from '../graphql/lazy-server.ts';
import { type Connections, createConnections } from '../http/connections.ts';
import { createHttpApplication, type HttpApplication } from '../http/application.ts';
import { connectionFailureLog, failureLog, notHttpLog, refusedConnectionLog } from '../http/failure-log.ts';
import type { Scopes } from '../http/request-scopes.ts';
import { restRoutes } from '../http/routes.ts';
import { graphUpgrade, realtimeUpgrade, responsesUpgrade } from '../http/upgrade-routes.ts';
import { createUpgrades, type Upgrades } from '../http/upgrades.ts';
import { systemClock } from '../runtime/clock.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createPeerNetworks } from '../runtime/network/client-network.ts';
import { webSocketServer } from '../runtime/network/web-sockets.ts';
import type { RequestCounter } from '../domain/gateway-activity/gateway-activity.ts';
import type { ComposedSettings } from './compose-settings.ts';
import { configSchema } from '../runtime/settings/config-schema.ts';
import { setWriteCoalescing } from '../runtime/write-coalescing/write-coalescing.ts';
import type { StartContext } from './context.ts';

/** Time beyond the grace period in which requests in flight end, in ms. */
const DRAIN_MARGIN_MS = 1_000;

/**
 * Time after the start at which the graph is built, in ms, unless a request needs it before. The build takes 100 to
 * 300 ms of a core and 17 MB, which must not delay the start and the first requests.
 */
const GRAPH_DELAY_MS = 5_000;

interface HttpParts {
  readonly graph: LazyGraphQL;
  readonly upgrades: Upgrades;
  readonly failed: (failure: RequestFailure) => void;
}

interface TransportParts {
  readonly bus: ReturnType<typeof createBus>;
  readonly scopes: Scopes;
  readonly keyRing: KeyRing;
  readonly admit: ComposedSettings['admit'];
  readonly realtime: Realtime;
  readonly connections: Connections;
  readonly activity: RequestCounter;
  readonly passThrough: PassThroughRoutes;
  readonly authorship: Authorship;
  readonly mcpSessions: Pick<McpSessions, 'closeAll'>;
  readonly copies: CopyGateway;
}

/** Runs work whose changes the audit log records with the caller as author. */
const authoredBy =
  (authorship: Authorship): RunWithAuthor =>
  (caller, headers, work) =>
    authorship.by(changeAuthor(caller, headers, systemClock.now()), work);

/** Limits the connections, in total and of each network. */
export const composeConnections = ({ settings, log }: StartContext): Connections =>
  createConnections({
    maxOpen: settings.maxConnections,
    networkOf: createPeerNetworks(settings.trustedProxies),
    refused: refusedConnectionLog(log),
  });

/** Serves GraphQL, HTTP and WebSockets on the configured port. Resolves when the server listens. */
export async function composeTransports(context: StartContext, parts: TransportParts): Promise<void> {
  const { log, settings, state } = context;
  const failed = failureLog(log);
  setWriteCoalescing(settings.http.writeCoalescing);
  const graph = createLazyGraphQL({
    scopeFor: parts.scopes.forGraph,
    authored: authoredBy(parts.authorship),
    log,
    settings: {
      introspection: settings.introspection,
      graphiql: settings.graphiql,
      plans: settings.http.graphPlans,
      sharedSubscriptions: settings.http.sharedSubscriptions,
    },
  });
  const upgrades = composeUpgrades(context, parts, { graph, failed });
  const http = composeHttp(context, parts, { graph, upgrades, failed });
  addTransportShutdown(context, { ...parts, http, graph });
  state.openRequests = http.openRequests;
  state.url = await http.listen();
  buildGraphLater(context, graph);
}

function buildGraphLater({ log, shutdown }: StartContext, graph: LazyGraphQL): void {
  const building = setTimeout(() => {
    graph.load().catch((err: unknown) => log.error({ err }, 'the graph could not be built'));
  }, GRAPH_DELAY_MS).unref();
  shutdown.add('build of the graph', () => clearTimeout(building));
}

function composeUpgrades(
  { settings, scheduler, state }: StartContext,
  { keyRing, admit, scopes, realtime }: TransportParts,
  { graph, failed }: Omit<HttpParts, 'upgrades'>,
): Upgrades {
  const responses = createResponseSessions(systemClock);
  return createUpgrades({
    identify(key, request) {
      admit(request);
      return keyRing.identify(key, request);
    },
    sockets: webSocketServer,
    routes: [
      realtimeUpgrade({ scopeFor: scopes.forUpgrade, failed, ids: randomIds }),
      responsesUpgrade({ scopeFor: scopes.forUpgrade, failed, sessions: responses, current: keyRing.current }),
      graphUpgrade(graph),
    ],
    sessions: [realtime, responses, graph.sockets],
    scheduler,
    draining: () => state.draining,
    failed,
    maxMessageBytes: settings.maxRequestBytes,
  });
}

/** The HTTP server in front of the REST routes, the graph and the upgrades. It does not listen yet. */
function composeHttp(
  { settings, log }: StartContext,
  { keyRing, admit, scopes, connections, activity, passThrough, authorship }: TransportParts,
  { graph, upgrades, failed }: HttpParts,
): HttpApplication {
  const rows = restRoutes();
  return createHttpApplication({
    settings: { ...settings, ...settings.http },
    rest: {
      rows: [...rows, ...docsRoutes(rows), ...configSchemaRoutes(configSchema), ...openApiRoutes(rows)],
      passThrough,
      admit,
      identify: keyRing.identify,
      scopeFor: scopes.forRequest,
      withAuthor: authoredBy(authorship),
      onFailure: failed,
      bodyLimits: { setting: settings.maxRequestBytes, otlp: settings.otlp.limits.bodyBytes },
      jsonScan: settings.http.jsonScan,
      heartbeatMs: settings.streamHeartbeatSeconds * 1000,
      stallMs: settings.upstream.stalledReaderSeconds * 1000,
    },
    graph,
    upgrades,
    connections,
    activity,
    failed: connectionFailureLog(log),
    socketFailed: notHttpLog(log),
  });
}

/**
 * Adds the end of the transports to the shutdown: refuse, end feeds, drain, then close connections. The last added step
 * runs first.
 */
function addTransportShutdown(
  { shutdown }: StartContext,
  {
    http,
    graph,
    bus,
    mcpSessions,
    copies,
  }: Pick<TransportParts, 'bus' | 'mcpSessions' | 'copies'> & {
    readonly http: HttpApplication;
    readonly graph: LazyGraphQL;
  },
): void {
  shutdown.add(
    'requests in flight',
    (graceMs) => Promise.all([http.finishShutdown(graceMs), copies.drainCopies(graceMs)]),
    (graceMs) => graceMs + DRAIN_MARGIN_MS,
  );
  shutdown.add('live feeds', () => {
    // The graph first: subscribers receive the reason before their source ends.
    graph.close();
    bus.close();
    mcpSessions.closeAll();
  });
  shutdown.add('port', () => http.beginShutdown());
}
