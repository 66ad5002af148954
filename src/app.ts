import { createScopes } from './http/request-scopes.ts';
import { createBackgroundTasks } from './background-tasks.ts';
import { createBus } from './runtime/bus.ts';
import type { CatalogRecorder } from './runtime/catalog/recorder.ts';
import type { RefreshingCatalog } from './runtime/catalog/source.ts';
import type { Settings } from './runtime/settings/settings.ts';
import type { Log } from './runtime/telemetry/log.ts';
import { composeAdmission } from './startup/compose-admission.ts';
import { composeCatalog } from './startup/compose-catalog.ts';
import { composeChanges, evictionFrom } from './startup/compose-changes.ts';
import { composeDeployments } from './startup/compose-deployments.ts';
import { composeGateway, composeRecords, composeUpstreams, flushRecords } from './startup/compose-gateway.ts';
import { composeGuardrails } from './startup/compose-guardrails.ts';
import { composeKeys, composeSales } from './startup/compose-keys.ts';
import { composePlatform } from './startup/compose-platform.ts';
import { composeReload, type Reloads } from './startup/compose-reload.ts';
import { composeSettings } from './startup/compose-settings.ts';
import { composeStores } from './startup/compose-stores.ts';
import { composeConnections, composeTransports } from './startup/compose-transports.ts';
import type { StartContext } from './startup/context.ts';
import { createShutdownStack } from './startup/shutdown-stack.ts';

/** The running application. */
export interface App {
  /** Address, e.g. `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Refuses requests, lets those in flight end within `graceMs`, commits what is not stored yet, and closes. */
  stop(graceMs?: number): Promise<void>;
  /** Reads the configuration file again. A faulty one is logged, and the running configuration stays in force. */
  reload(): Promise<void>;
}

/**
 * Delay before the catalog is recorded and refreshed, in ms: either takes half a second of a core, which the first
 * requests need. The state served is recorded before another can replace it.
 */
const CATALOG_DELAY_MS = 250;

/** How long requests in flight may take to end after the signal to stop, in ms. */
const DRAIN_MS = 7_000;

/** Composes the application from its settings and listens. A start that fails releases what was opened. */
export async function startApp(settings: Settings, log: Log): Promise<App> {
  const shutdown = createShutdownStack(log);
  const context: StartContext = {
    settings,
    log,
    shutdown,
    state: { draining: false, url: '', openRequests: () => 0, routing: settings.routing },
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

async function composeApp(opening: StartContext): Promise<Reloads> {
  const opened = await composeStores(opening);
  const { exports } = opened;
  const shared = composeChanges(opening, { stores: opened.stores, bus: createBus() });
  const { stores: announcing, changes, feeds } = shared;
  const { bus } = feeds;
  const { settings, stores, configuration, readVariables, addressOf, admit } = await composeSettings(opening, {
    stores: announcing,
    bus,
  });
  const context: StartContext = { ...opening, settings };
  const http = await composeUpstreams(context);
  const { catalog, recorder } = await composeCatalog(context, { stores, bus });
  const models = await composeDeployments(context, stores);
  const { deployments, fallbacks } = models;
  const guardrails = await composeGuardrails(context, stores);
  const recording = composeRecords(context, { stores, bus, http });
  const keys = await composeKeys(context, { stores, deployments, countedBudgets: recording.countedBudgets });
  const { paidKeys, ...sales } = composeSales(context, { stores, keyRing: keys.keyRing });
  const admitting = await composeAdmission(context, { stores, records: recording.records });
  const engine = composeGateway(context, {
    ...recording,
    ...admitting,
    stores,
    http,
    bus,
    catalog,
    deployments,
    configuration,
    fallbacks,
    guardrails,
  });
  const connections = composeConnections(context);
  const parts = {
    ...keys,
    ...recording,
    ...models,
    ...admitting,
    ...engine,
    ...sales,
    guardrails,
    stores,
    configuration,
    exports,
    bus,
    http,
    catalog,
    connections,
    changes,
  };
  const platform = composePlatform(context, parts);
  await platform.passThrough.refresh();
  const reloads = composeReload(context, {
    configuration,
    readVariables,
    deployments,
    passThrough: platform.passThrough,
    guardrails,
  });
  await reloads.prepare();
  const tasks = createBackgroundTasks(context, platform, {
    alone: stores.processMessages === null,
    authorship: opened.stores.authorship,
  });
  context.shutdown.add('background tasks', () => tasks.stop());
  // Flushed before the background tasks end, because they may outlast the process.
  flushRecords(context, recording);
  const { networkOf } = keys;
  await composeTransports(context, {
    bus,
    scopes: createScopes(platform, { paidKeys, networkOf, addressOf, admit, authenticated: connections.authenticated }),
    admit,
    keyRing: keys.keyRing,
    realtime: engine.gateway.realtime,
    passThrough: platform.passThrough,
    connections,
    activity: recording.activity,
    authorship: opened.stores.authorship,
  });
  changes.start(evictionFrom({ ...parts, passThrough: platform.passThrough }));
  feeds.start(platform.records.readable);
  startCatalog(context, { catalog, recorder });
  sales.freeTier.start();
  tasks.start();
  reloads.start();
  recording.records.start();
  recording.activity.start();
  recording.guardrailUse.start();
  context.shutdown.add('start of new work', () => {
    context.state.draining = true;
    // Running tasks end together with the requests in flight; the step `background tasks` waits for them.
    void tasks.stop();
  });
  return reloads;
}

function startCatalog(
  { shutdown }: StartContext,
  { catalog, recorder }: { readonly catalog: RefreshingCatalog; readonly recorder: CatalogRecorder },
): void {
  const starting = setTimeout(() => {
    recorder.see(catalog.current());
    catalog.start();
  }, CATALOG_DELAY_MS);
  shutdown.add('catalog', () => {
    clearTimeout(starting);
    catalog.stop();
  });
}
