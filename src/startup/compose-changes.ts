import type { Bus } from '../domain/bus.ts';
import {
  type ChangeAnnouncer,
  type ChangedRows,
  type ChangeKind,
  keyChangeId,
  keyHashesOf,
} from '../domain/cache-changes.ts';
import type { DeploymentRegistry } from '../domain/deployments/deployment-source.ts';
import type { FallbackRegistry } from '../domain/fallbacks/fallback.ts';
import type { A2aAgents } from '../domain/a2a-agents/agents.ts';
import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import type { McpServers } from '../domain/mcp-servers/mcp-server.ts';
import type { PassThroughEndpoints } from '../domain/pass-through/endpoints.ts';
import type { SearchTools } from '../domain/search-tools/search-tool.ts';
import type { Policies } from '../domain/policies/policies.ts';
import type { Prompts } from '../domain/prompts/prompt.ts';
import type { ToolPolicies } from '../domain/tools/tool-policies.ts';
import type { VectorStoreIndexes } from '../domain/vector-store-indexes/vector-store-index.ts';
import type { VectorStores } from '../domain/vector-stores/vector-store.ts';
import { withChangeListener } from '../domain/row-store.ts';
import type { CatalogKeyRing } from '../gateway/keys/catalog-key-ring.ts';
import type { KeyRing } from '../gateway/keys/key-ring.ts';
import type { LabelBudgets } from '../gateway/admission/label-budgets.ts';
import type { CredentialRing } from '../gateway/keys/credential-ring.ts';
import type { Stores } from '../persistence/stores.ts';
import type { TeamLogging } from '../recording/team-logging.ts';
import { type CacheChanges, createCacheChanges } from '../runtime/cache-changes.ts';
import { shareMessages } from '../runtime/process-messages.ts';
import { createSharedBus, type SharedBus } from '../runtime/shared-bus.ts';
import type { RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import type { StartContext } from './context.ts';
import { feedLinks } from './feed-links.ts';

const OWNER_KINDS = ['userId', 'teamId', 'projectId', 'organizationId'] as const;

interface ComposedChanges<Own extends Bus> {
  /** Stores that announce changes after their commit. */
  readonly stores: Stores;
  readonly changes: CacheChanges;
  readonly feeds: SharedBus<Own>;
}

/** Messages between processes: changes of cached rows, and events of live feeds. */
export function composeChanges<Own extends Bus>(
  { scheduler, shutdown }: StartContext,
  { stores, bus }: { readonly stores: Stores; readonly bus: Own },
): ComposedChanges<Own> {
  const messages = stores.processMessages === null ? null : shareMessages(stores.processMessages);
  const changes = createCacheChanges(messages);
  const feeds = createSharedBus(bus, messages, { links: feedLinks(stores), scheduler });
  shutdown.add('messages between processes', () => Promise.all([changes.stop(), feeds.stop()]));
  return { stores: announcingStores(stores, changes), changes, feeds };
}

function announcingStores(stores: Stores, { announce }: ChangeAnnouncer): Stores {
  const { budgets, credentials, customers, deployments, fallbacks, guardrails, passThrough, settings, tags } = stores;
  /** Listener that announces a change of all rows of a kind: null in place of ids. */
  const announcing = (kind: ChangeKind) => () => announce(kind, null);
  return {
    ...stores,
    budgets: withChangeListener(budgets, (how) => {
      announce('labelBudgets', null);
      // A budget that was just added belongs to no key yet.
      if (how !== 'added') announce('keyBudgets', null);
    }),
    credentials: { ...credentials, ...withChangeListener(credentials, announcing('models')) },
    customers: withChangeListener(customers, announcing('labelBudgets')),
    deployments: { ...deployments, ...withChangeListener(deployments, announcing('models')) },
    fallbacks: { ...fallbacks, ...withChangeListener(fallbacks, announcing('fallbacks')) },
    a2aAgents: withChangeListener(stores.a2aAgents, announcing('a2aAgents')),
    guardrails: withChangeListener(guardrails, announcing('guardrails')),
    mcpServers: { ...stores.mcpServers, ...withChangeListener(stores.mcpServers, announcing('mcpServers')) },
    passThrough: withChangeListener(passThrough, announcing('endpoints')),
    policies: withChangeListener(stores.policies, announcing('policies')),
    policyAttachments: withChangeListener(stores.policyAttachments, announcing('policies')),
    prompts: withChangeListener(stores.prompts, announcing('prompts')),
    settings: {
      ...settings,
      async change(section, change, about) {
        const stored = await settings.change(section, change, about);
        announce('settings', null);
        return stored;
      },
    },
    tags: withChangeListener(tags, announcing('labelBudgets')),
    tokenMappings: withChangeListener(stores.tokenMappings, announcing('tokenMappings')),
    vectorStores: withChangeListener(stores.vectorStores, announcing('vectorStores')),
    vectorStoreIndexes: withChangeListener(stores.vectorStoreIndexes, announcing('vectorStoreIndexes')),
    searchTools: withChangeListener(stores.searchTools, announcing('searchTools')),
    toolOverrides: withChangeListener(stores.toolOverrides, announcing('toolPolicies')),
    tools: withChangeListener(stores.tools, announcing('toolPolicies')),
  };
}

/** The same ring, which also announces its evictions to other processes. */
export const announcingKeys = (ring: CredentialRing, { announce }: ChangeAnnouncer): CredentialRing => ({
  ...ring,
  evict(...keys) {
    ring.evict(...keys);
    announce('key', keys.map(keyChangeId));
  },
  evictOwner(...owners) {
    ring.evictOwner(...owners);
    for (const { kind, id } of owners) announce(kind, [id]);
  },
  evictTracingKey(tokenHash) {
    ring.evictTracingKey(tokenHash);
    announce('tracingKeys', null);
  },
});

/** The same ring of catalog keys, which also announces its evictions to other processes. */
export const announcingCatalogKeys = (ring: CatalogKeyRing, { announce }: ChangeAnnouncer): CatalogKeyRing => ({
  ...ring,
  evict(hash) {
    ring.evict(hash);
    announce('catalogKey', [hash]);
  },
});

/**
 * Caches of rows. The key rings here do not announce evictions; otherwise each announcement would cause another one.
 */
interface Caches {
  readonly keyRing: CredentialRing;
  readonly catalogKeys: CatalogKeyRing;
  readonly labelBudgets: LabelBudgets;
  readonly deployments: Pick<DeploymentRegistry, 'refresh'>;
  readonly fallbacks: Pick<FallbackRegistry, 'refresh'>;
  readonly configuration: Pick<RunningConfiguration, 'refresh'>;
  readonly passThrough: Pick<PassThroughEndpoints, 'refresh'>;
  readonly guardrails: Pick<Guardrails, 'refresh'>;
  readonly policies: Pick<Policies, 'refresh'>;
  readonly prompts: Pick<Prompts, 'refresh'>;
  readonly a2aAgents: Pick<A2aAgents, 'refresh'>;
  readonly vectorStores: Pick<VectorStores, 'refresh'>;
  readonly vectorStoreIndexes: Pick<VectorStoreIndexes, 'refresh'>;
  readonly searchTools: Pick<SearchTools, 'refresh'>;
  readonly mcpServers: Pick<McpServers, 'refresh'>;
  readonly toolPolicies: Pick<ToolPolicies, 'refresh'>;
  readonly teamLogging: Pick<TeamLogging, 'evict' | 'evictAll'>;
}

/** Returns a listener that evicts or refreshes cached rows that other processes have changed. */
export const changeListenerOf =
  (caches: Caches) =>
  (changed: ChangedRows): void => {
    evictKeys(caches.keyRing, changed);
    evictCallbacks(caches.teamLogging, changed);
    evictCatalogKeys(caches.catalogKeys, changed);
    if (changed.has('tracingKeys')) caches.keyRing.evictTracingKeys();
    if (changed.has('labelBudgets')) caches.labelBudgets.evictAll();
    if (changed.has('models')) refreshCache(caches.deployments);
    if (changed.has('fallbacks')) refreshCache(caches.fallbacks);
    if (changed.has('settings')) refreshCache(caches.configuration);
    if (changed.has('endpoints')) refreshCache(caches.passThrough);
    if (changed.has('guardrails')) refreshCache(caches.guardrails);
    if (changed.has('policies')) refreshCache(caches.policies);
    if (changed.has('prompts')) refreshCache(caches.prompts);
    if (changed.has('a2aAgents')) refreshCache(caches.a2aAgents);
    if (changed.has('vectorStores')) refreshCache(caches.vectorStores);
    if (changed.has('vectorStoreIndexes')) refreshCache(caches.vectorStoreIndexes);
    if (changed.has('searchTools')) refreshCache(caches.searchTools);
    if (changed.has('mcpServers')) refreshCache(caches.mcpServers);
    if (changed.has('toolPolicies')) refreshCache(caches.toolPolicies);
  };

/** Reads the rows of a cache again. When the read fails, the background task of the cache repeats it. */
function refreshCache(cache: { refresh(): Promise<unknown> }): void {
  cache.refresh().catch(() => {});
}

function evictKeys(keyRing: KeyRing, changed: ChangedRows): void {
  // Null in place of ids means every row of the kind.
  const changesAll = (['key', ...OWNER_KINDS] as const).some((kind) => changed.get(kind) === null);
  if (changesAll || changed.has('keyBudgets') || changed.has('tokenMappings')) {
    keyRing.markStale();
    void keyRing.refresh();
  }
  const keys = [...(changed.get('key') ?? [])].map(keyHashesOf);
  if (keys.length > 0) keyRing.evict(...keys);
  const owners = OWNER_KINDS.flatMap((kind) => [...(changed.get(kind) ?? [])].map((id) => ({ kind, id })));
  if (owners.length > 0) keyRing.evictOwner(...owners);
}

function evictCallbacks(teamLogging: Pick<TeamLogging, 'evict' | 'evictAll'>, changed: ChangedRows): void {
  const teamIds = changed.get('teamId');
  if (teamIds === null) teamLogging.evictAll();
  for (const teamId of teamIds ?? []) teamLogging.evict(teamId);
}

function evictCatalogKeys(ring: CatalogKeyRing, changed: ChangedRows): void {
  const hashes = changed.get('catalogKey');
  if (hashes === null) ring.evictAll();
  for (const hash of hashes ?? []) ring.evict(hash);
}
