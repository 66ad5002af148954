import { NO_KEY_RULES } from '../../src/domain/keys/generation-rules.ts';
import { pause } from '../../src/runtime/clock.ts';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLoaders } from '../../resolvers/operation/loaders.ts';
import type { Platform } from '../../resolvers/operation/scope.ts';
import { publishChanges } from '../../src/domain/traces/publish-changes.ts';
import type { Owner } from '../../src/domain/caller.ts';
import type { CatalogEntry, CatalogSnapshot } from '../../src/domain/catalog/catalog.ts';
import { NEVER_REFRESHED } from '../support/never-refreshed.ts';
import { createCatalogResultCache } from '../../src/domain/catalog/result-cache.ts';
import type { CatalogHistory } from '../../src/domain/catalog/history.ts';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { createCallerWatch } from '../../src/gateway/keys/caller-watch.ts';
import { createCallEstimates } from '../../src/gateway/accounting/estimate-call.ts';
import type { Gateway, GatewayCall } from '../../src/gateway/gateway.ts';
import type { GraphQLOptions } from '../../src/graphql/engine.ts';
import { createLazyGraphQL } from '../../src/graphql/lazy-server.ts';
import { graphUpgrade } from '../../src/http/upgrade-routes.ts';
import { createUpgrades } from '../../src/http/upgrades.ts';
import { createStripe } from '../../src/providers/stripe/stripe.ts';
import { createBus } from '../../src/runtime/bus.ts';
import { createPatternCompiler } from '../../src/runtime/catalog/pattern.ts';
import { keyGenerator, randomIds } from '../../src/runtime/identifiers.ts';
import { webSocketServer } from '../../src/runtime/network/web-sockets.ts';
import { createTraceOutlines } from '../../src/runtime/traces/outlines.ts';
import { identifyByName, KEYS_IN_MEMORY } from '../support/graph-callers.ts';
import { aClient, aFreeTier } from '../support/free-tier.ts';
import { GATEWAY_WITHOUT_CALL } from './gateway-without-call.ts';
import { UNUSED_KEY_STORE } from '../support/unused-key-store.ts';
import { NO_STORED_MODELS } from '../support/no-stored-models.ts';
import { NO_DEFINITIONS, NO_ENDPOINTS, NO_LOAD, NO_UPSTREAMS } from '../support/no-upstreams.ts';
import { noSettings, noSettingsStore } from '../support/no-settings.ts';
import { UNUSED_PLATFORM } from '../support/unused-platform.ts';
import { noTenancy, noTotals, OTHER_STORES } from '../support/no-tenancy.ts';
import { createMemoryTraceStore } from '../support/memory-trace-store.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import type { TypedDocumentString } from './generated/graphql.ts';
import { NO_OUTCOME } from '../support/chat.ts';
import { aScheduler } from '../support/scheduler.ts';

/** Current time: 12 hours after the start of all sample spans. */
const NOW = new Date(1_700_000_000_000 + 43_200_000);

/** Catalog entry with a row of the price map. Provider and mode are `openai` and `chat` by default. */
export function anEntry(id: string, row: Readonly<Record<string, unknown>> = {}): CatalogEntry {
  const { litellm_provider: provider = 'openai', mode = 'chat' } = row;
  return { id, provider: String(provider), mode: String(mode), row: { litellm_provider: provider, mode, ...row } };
}

const snapshotOf = (entries: readonly CatalogEntry[], count: number): CatalogSnapshot => ({
  id: `snapshot-${count}`,
  takenAt: NOW,
  source: 'embedded',
  entries,
  find: (id) => entries.find((entry) => entry.id === id) ?? null,
});

/** Gateway that answers every call with these deltas, without a cost. */
export function scriptedGateway(deltas: () => AsyncIterableIterator<ChatDelta>): Gateway {
  return {
    ...GATEWAY_WITHOUT_CALL,
    async call(): Promise<GatewayCall> {
      const never = (): never => {
        throw new Error('The graph reads deltas, not bytes.');
      };
      return {
        callId: 'call-1',
        traceId: '1'.repeat(32),
        spanId: '2'.repeat(16),
        tries: { retries: 0, maxRetries: null, fallbacks: 0, maxFallbacks: null },
        limits: [],
        modelGroup: 'demo',
        get deployment() {
          return never();
        },
        exchange: {
          status: 200,
          headers: {},
          streaming: true,
          outcome: () => NO_OUTCOME,
        },
        cost: () => null,
        keySpend: () => null,
        elapsedMs: () => 0,
        deltas,
        bytes: never,
        consume: never,
        translated: never,
        withDropped: never,
        guarded: never,
      };
    },
  };
}

const noHistory: CatalogHistory = {
  head: async () => null,
  recorded: async () => [],
  record: async ({ head }) => head,
  confirm: async () => {},
  importChanges: async () => 0,
  importSpan: async () => {},
  list: async () => [],
  ofEntries: async (entryIds) =>
    entryIds.map((entryId) => ({ entryId, changes: [], complete: true, fields: null, spans: [] })),
  spans: async () => [],
};

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: Readonly<Record<string, unknown>>;
  readonly event: string;
}

export interface GraphAnswer<Data> {
  readonly data: Data;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
}

/** Serves the graph on a loopback port over stores in memory. */
export async function openGraph(
  options: Partial<GraphQLOptions['settings']> & {
    readonly entries?: readonly CatalogEntry[];
    readonly gateway?: Gateway;
    readonly history?: CatalogHistory;
    readonly spend?: readonly SpendRow[];
    readonly queueLimit?: number;
    readonly socketLimits?: GraphQLOptions['socketLimits'];
    readonly traces?: TraceStore;
    /** Parts of the platform that a test replaces. */
    readonly platform?: Partial<Platform>;
  } = {},
) {
  const { introspection = true, graphiql = false, plans = true } = options;
  const bus = createBus(options.queueLimit ? { queueLimit: options.queueLimit } : {});
  const traces = options.traces ?? createMemoryTraceStore();
  /** Numbers of calls of some methods of the stores. `findKeys` counts `keys.findMany`. */
  const reads = { listSpans: 0, findBySpans: 0, findElsewhere: 0, findKeys: 0 };
  const keys = new Map<string, VirtualKey>();
  const lines: LogLine[] = [];
  let catalog = snapshotOf(options.entries ?? [], 1);
  const snapshots = [catalog];
  const keyRing = options.platform?.keyRing ?? { ...KEYS_IN_MEMORY, identify: identifyByName };
  const callerWatch = createCallerWatch(keyRing);
  const platform: Platform = {
    stores: {
      catalogHistory: options.history ?? noHistory,
      get checkouts(): never {
        throw new Error('Purchases are tested with a real store.');
      },
      get healthChecks(): never {
        throw new Error('Health checks are tested with a real store.');
      },
      get upstreamObjects(): never {
        throw new Error('Files and batches are tested with a real store.');
      },
      ...noTenancy,
      ...OTHER_STORES,
      settings: noSettingsStore,
      traces: {
        ...traces,
        listSpans(refs) {
          reads.listSpans += 1;
          return traces.listSpans(refs);
        },
      },
      spend: {
        append: async () => {},
        removeStartedBefore: async () => 0,
        async findBySpans(spanKeys) {
          reads.findBySpans += 1;
          return (options.spend ?? []).filter(({ traceId, spanId }) => spanKeys.includes(`${traceId}:${spanId}`));
        },
        async findElsewhere(sought) {
          reads.findElsewhere += 1;
          const responseIds = new Set(sought.map(({ responseId }) => responseId));
          return (options.spend ?? []).filter(({ responseId }) => responseId !== null && responseIds.has(responseId));
        },
        newestStart: async () => null,
        removeErrorTexts: async () => {},
        ...noTotals,
      },
      spendReports: { rows: async () => [], count: async () => 0, groups: async () => [] },
      keys: {
        add: async (key) => void keys.set(key.hash, key),
        find: async (hash) => keys.get(hash) ?? null,
        async findMany(hashes) {
          reads.findKeys += 1;
          return [...keys.values()].filter(({ hash }) => hashes.includes(hash));
        },
        ...UNUSED_KEY_STORE,
      },
    },
    exposesApiBase: true,
    ...noSettings,
    estimates: createCallEstimates({ current: () => catalog }),
    exports: aTracePacker(),
    outlines: createTraceOutlines(),
    responses: {
      ids: { seal: () => '', open: () => null },
      idSecurity: true,
      queue: {
        mayStore: () => false,
        enqueue: () => false,
        find: async () => null,
        findAll: async () => [],
        conversation: async () => ({ kind: 'broken' }),
        remove: async () => {},
      },
    },
    catalog: {
      current: () => catalog,
      status: () => ({
        source: catalog.source,
        takenAt: catalog.takenAt,
        count: catalog.entries.length,
        lastCheckedAt: null,
        lastError: null,
        quarantined: 0,
        checks: { taken: 0, unchanged: 0, refused: 0, failed: 0 },
      }),
      findSnapshot: (id) => snapshots.find((snapshot) => snapshot.id === id) ?? null,
      ...NEVER_REFRESHED,
    },
    catalogKeys: { holds: () => false, evict() {} },
    catalogResults: createCatalogResultCache({ current: () => catalog }),
    patterns: createPatternCompiler(),
    freeTier: aFreeTier(),
    checkoutRateLimiter: { count() {} },
    payments: createStripe({ secretKey: null, webhookSecret: null, priceId: null, mode: 'payment', apiBase: null }),
    healthChecks: { background: false, details: true, queue: { caughtUp: async () => true } },
    ...NO_LOAD,
    fileLimits: { file: null, batchFile: null },
    ...NO_STORED_MODELS,
    passThrough: NO_ENDPOINTS,
    ...NO_DEFINITIONS,
    activeGuardrails: { current: () => [], faultOf: () => null },
    ...UNUSED_PLATFORM,
    gateway: { ...NO_UPSTREAMS, ...(options.gateway ?? scriptedGateway(() => [][Symbol.iterator]() as never)) },
    keyRing,
    ownedKeys: { evictOwner() {} },
    availableTeams: [],
    keyRules: NO_KEY_RULES,
    callerWatch,
    keyGenerator,
    metrics: { read: async () => ({ contentType: 'text/plain', text: '' }) },
    bus,
    clock: { now: () => NOW, monotonicMs: () => performance.now() },
    ids: randomIds,
    lensService: null,
    publicUrl: () => 'http://127.0.0.1',
    draining: () => false,
    claimedRuns: { find: () => null, put() {}, drop() {} },
    tracingKeyRing: { evictTracingKey() {} },
    pause,
    earlierSpend: { totalsOfEarlierOwners: async () => new Map() },
    records: {
      waiting: () => 0,
      readable: async () => true,
      spendStored: async () => true,
      newestStartMs: async () => Infinity,
    },
    teamLogging: { evict() {} },
    callbackSecrets: { seal: (text) => text },
    ...options.platform,
  };
  const note = (level: LogLine['level']) => (facts: object, event: string) =>
    void lines.push({ level, facts: { ...facts }, event });
  const transport = createLazyGraphQL({
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    settings: { introspection, graphiql, plans },
    async scopeFor({ request, signal }) {
      const key = request.headers.authorization?.replace('Bearer ', '');
      const identified = key === undefined ? null : await platform.keyRing.identify(key);
      const loaders = createLoaders(platform.stores, identified);
      return { platform, caller: identified, client: aClient(), signal, loaders };
    },
    ...(options.socketLimits ? { socketLimits: options.socketLimits } : {}),
  });
  const server: Server = createServer((req, res) => {
    const stream = req.url?.startsWith('/graphql/stream') ?? false;
    void (stream ? transport.handleStream({ req, res }) : transport.handle({ req, res }));
  });
  const upgrades = createUpgrades({
    identify: platform.keyRing.identify,
    sockets: webSocketServer,
    routes: [graphUpgrade(transport)],
    sessions: [transport.sockets],
    scheduler: aScheduler(),
    draining: () => false,
    failed() {},
    // No effect: the only route has its own limit.
    maxMessageBytes: 1,
  });
  server.on('upgrade', upgrades.serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;

  /** Sends a raw body. */
  const post = (body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

  return {
    url,
    transport,
    bus,
    reads,
    lines,
    post,
    checkCallers: callerWatch.runChecks,
    /** Runs an operation with `key`. Null sends no credential. */
    async call<Data, Variables>(
      document: TypedDocumentString<Data, Variables>,
      variables: Variables,
      key: string | null = 'sk-admin',
    ): Promise<GraphAnswer<Data>> {
      const headers = key === null ? {} : { authorization: `Bearer ${key}` };
      const answer = await post(JSON.stringify({ query: document.toString(), variables }), headers);
      return (await answer.json()) as GraphAnswer<Data>;
    },
    addKey: (key: VirtualKey) => platform.stores.keys.add(key),
    /** Stores spans of this owner and notifies subscribers. */
    ingest: async (owner: Owner, ...spans: readonly Span[]) =>
      publishChanges(platform.bus, await platform.stores.traces.ingest([{ owner, spans }])),
    replaceCatalog(entries: readonly CatalogEntry[]) {
      catalog = snapshotOf(entries, snapshots.length + 1);
      snapshots.push(catalog);
    },
    async close() {
      transport.close();
      transport.sockets.endAll();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits until `holds` returns true. Fails after a minute. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
