import { refreshOpenCosts } from '../resolvers/open-costs.ts';
import type { Platform } from '../resolvers/operation/scope.ts';
import { createScopes } from './http/request-scopes.ts';
import { createBackgroundTasks } from './background-tasks.ts';
import { createBus } from './runtime/bus.ts';
import type { CatalogRecorder } from './runtime/catalog/recorder.ts';
import type { RefreshingCatalog } from './runtime/catalog/source.ts';
import type { Settings } from './runtime/settings/settings.ts';
import { createScheduler } from './runtime/tasks/scheduler.ts';
import type { Log } from './runtime/telemetry/log.ts';
import { composeAdmission } from './startup/compose-admission.ts';
import { composeCatalog } from './startup/compose-catalog.ts';
import { composeChanges, changeListenerOf } from './startup/compose-changes.ts';
import { composeDeployments } from './startup/compose-deployments.ts';
import { composeGateway, composeUpstreams } from './startup/compose-gateway.ts';
import { composeA2aAgents } from './startup/compose-a2a-agents.ts';
import { composeGuardrails } from './startup/compose-guardrails.ts';
import { composeResponseCache } from './startup/compose-response-cache.ts';
import { composeSearchTools } from './startup/compose-search-tools.ts';
import { composeVectorStoreIndexes } from './startup/compose-vector-store-indexes.ts';
import { composeVectorStores } from './startup/compose-vector-stores.ts';
import { composePolicies } from './startup/compose-policies.ts';
import { composeToolPolicies } from './startup/compose-tool-policies.ts';
import { composePrompts } from './startup/compose-prompts.ts';
import { composeMcpServers } from './startup/compose-mcp-servers.ts';
import { composeKeys, composeSales } from './startup/compose-keys.ts';
import { composePlatform } from './startup/compose-platform.ts';
import { composeRecords, addRecordFlushes } from './startup/compose-records.ts';
import { composeReload, type Reloads } from './startup/compose-reload.ts';
import { composeSettings } from './startup/compose-settings.ts';
import { composeStores } from './startup/compose-stores.ts';
import { composeConnections, composeTransports } from './startup/compose-transports.ts';
import type { StartContext } from './startup/context.ts';
import { createShutdownStack } from './startup/shutdown-stack.ts';
import { systemScope } from './startup/system-scope.ts';

/** The running application. */
export interface App {
  /** Address, e.g. `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Refuses new requests, waits at most `graceMs` for those in flight, commits waiting records, and closes. */
  stop(graceMs?: number): Promise<void>;
  /** Reads the configuration file again. A faulty file is logged, and the running configuration stays in force. */
  reload(): Promise<void>;
}

/**
 * Delay of background tasks and of the refresh of the catalog after the start, in ms. Tasks and refresh take half a
 * second of CPU time, which the first requests need.
 */
const BACKGROUND_DELAY_MS = 250;

/** Maximum time that requests in flight may take after the signal to stop, in ms. */
const DRAIN_MS = 7_000;

/** Composes the application from its settings and listens. A failed start releases the resources that it opened. */
export async function startApp(settings: Settings, log: Log): Promise<App> {
  const shutdown = createShutdownStack(log);
  const scheduler = createScheduler(log);
  // Shutdown steps run in reverse order, so this one runs last. Each periodic task is stopped earlier, before the parts
  // that it uses are closed.
  shutdown.add('periodic tasks', () => scheduler.stop());
  const context: StartContext = {
    settings,
    log,
    scheduler,
    shutdown,
    state: { draining: false, url: '', openRequests: () => 0 },
  };
  let reloads: Reloads;
  try {
    reloads = await composeApp(context);
  } catch (error) {
    // Failures of the release are logged; the failure of the start is reported.
    await shutdown.stop(0).catch(() => {});
    throw error;
  }
  return {
    url: context.state.url,
    stop: (graceMs = DRAIN_MS) => shutdown.stop(graceMs),
    reload: () => reloads.reload(),
  };
}

/** Composes all parts and listens. `opening` has the settings without stored ones: `composeBase` adds them. */
async function composeApp(opening: StartContext): Promise<Reloads> {
  const base = await composeBase(opening);
  const parts = await composeParts(base);
  const { context } = base;
  const platform = composePlatform(context, parts);
  await platform.passThrough.refresh();
  const { readVariables } = base;
  const reloads = composeReload(context, { ...parts, readVariables, passThrough: platform.passThrough });
  await reloads.prepare();
  const tasks = createBackgroundTasks(context, platform, {
    alone: parts.stores.processMessages === null,
    authorship: base.authorship,
  });
  context.shutdown.add('background tasks', () => tasks.stop());
  // Shutdown steps run in reverse order. Records are flushed before the end of the background tasks is awaited, because
  // a task may not end before the process exits.
  addRecordFlushes(context, parts);
  await holdOpenCosts(context, platform);
  await serve(base, parts, platform);
  startParts(base, parts, platform);
  const starting = setTimeout(() => tasks.start(), BACKGROUND_DELAY_MS);
  reloads.start();
  context.shutdown.add('start of new work', () => {
    context.state.draining = true;
    clearTimeout(starting);
    // Running tasks end together with the requests in flight; the step `background tasks` waits for the tasks.
    void tasks.stop();
  });
  return reloads;
}

/** Holds the costs of objects that earlier processes have left open, before the first call is admitted. */
async function holdOpenCosts({ log }: StartContext, platform: Platform): Promise<void> {
  try {
    await refreshOpenCosts(systemScope(platform, 'open-costs', new AbortController().signal), undefined);
  } catch (error) {
    log.warn({ err: error }, 'the expected costs of open objects could not be read; trying again');
  }
}

type Base = Awaited<ReturnType<typeof composeBase>>;
type Parts = Awaited<ReturnType<typeof composeParts>>;

/** Stores, messages between processes, and the settings, including stored ones. */
async function composeBase(opening: StartContext) {
  const { stores: plainStores, exports } = await composeStores(opening);
  const {
    stores: announcingStores,
    changes,
    feeds,
  } = composeChanges(opening, { stores: plainStores, bus: createBus() });
  const { bus } = feeds;
  const { settings, ...configured } = await composeSettings(opening, { stores: announcingStores, bus });
  const context: StartContext = { ...opening, settings };
  return { context, ...configured, exports, changes, feeds, bus, authorship: plainStores.authorship };
}

/** Parts that operations use: models, keys, records, limits and the gateway over them. */
async function composeParts({ context, stores, configuration, exports, changes, bus }: Base) {
  const http = await composeUpstreams(context);
  const { catalog, recorder } = await composeCatalog(context, { stores, bus });
  const models = await composeDeployments(context, { stores, configuration });
  const guardrails = await composeGuardrails(context, stores);
  const a2aAgents = await composeA2aAgents(context, stores);
  const vectorStores = await composeVectorStores(context, stores);
  const vectorStoreIndexes = await composeVectorStoreIndexes(stores);
  const searchTools = await composeSearchTools(context, stores);
  const policies = await composePolicies(context, stores);
  const toolPolicies = await composeToolPolicies(stores);
  const prompts = await composePrompts(context, stores);
  const mcpServers = await composeMcpServers(context, stores);
  const recording = composeRecords(context, { stores, bus, http });
  const { countedBudgets, earlierSpend, records } = recording;
  const keys = await composeKeys(context, { stores, deployments: models.deployments, countedBudgets, earlierSpend });
  const sales = composeSales(context, { stores, keyRing: keys.keyRing });
  const limits = await composeAdmission(context, { stores, records });
  const responseCache = composeResponseCache(context, configuration);
  const vectors = { vectorStores, vectorStoreIndexes };
  const ruled = { guardrails, policies, toolPolicies };
  const owned = { ...ruled, prompts, a2aAgents, mcpServers, searchTools, ...vectors, responseCache };
  const shared = { stores, configuration, http, bus, catalog, ...owned, ...models, ...recording, ...limits };
  const engine = composeGateway(context, { ...shared, keyOf: keys.keyOf });
  const connections = composeConnections(context);
  return { ...shared, ...keys, ...sales, ...engine, recorder, exports, changes, connections };
}

/** Opens the port. */
function serve({ context, addressOf, admit, authorship }: Base, parts: Parts, platform: Platform): Promise<void> {
  const { bus, keyRing, paidKeys, networkOf, gateway, connections, activity } = parts;
  const { authenticated } = connections;
  return composeTransports(context, {
    bus,
    scopes: createScopes(platform, { paidKeys, networkOf, addressOf, admit, authenticated }),
    admit,
    keyRing,
    realtime: gateway.realtime,
    passThrough: platform.passThrough,
    connections,
    activity,
    authorship,
    mcpSessions: platform.mcpSessions,
    copies: gateway,
  });
}

/** Starts the background work of the parts. The tasks of `background-tasks.ts` start later. */
function startParts({ context, changes, feeds }: Base, parts: Parts, { passThrough, records }: Platform): void {
  changes.start(changeListenerOf({ ...parts, passThrough }));
  feeds.start(records.readable);
  startCatalog(context, parts);
  parts.freeTier.start();
  parts.records.start();
  parts.activity.start();
  parts.guardrailUse.start();
  parts.toolUse.start();
}

function startCatalog(
  { shutdown }: StartContext,
  { catalog, recorder }: { readonly catalog: RefreshingCatalog; readonly recorder: CatalogRecorder },
): void {
  // The restored catalog is recorded before a refresh can replace it.
  const starting = setTimeout(() => {
    recorder.enqueue(catalog.current());
    catalog.start();
  }, BACKGROUND_DELAY_MS);
  shutdown.add('catalog', () => {
    clearTimeout(starting);
    catalog.stop();
  });
}
