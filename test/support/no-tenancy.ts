import { ZERO_USD } from '../../src/domain/money.ts';
import type { RowStore } from '../../src/domain/row-store.ts';
import type { SpendStore } from '../../src/domain/spend/spend-row.ts';
import type { TenancyStores } from '../../src/domain/tenancy-stores.ts';

const refuse = (): never => {
  throw new Error('This store is tested with a real database.');
};

const UNUSED_ROWS: RowStore<never, unknown, string> = {
  add: refuse,
  find: refuse,
  findMany: refuse,
  all: refuse,
  list: refuse,
  count: refuse,
  change: refuse,
  remove: refuse,
};

/** Stores for tests without users, teams and related rows. Every method throws. */
export const noTenancy: TenancyStores = {
  accessGroups: UNUSED_ROWS,
  tokenMappings: UNUSED_ROWS,
  budgets: UNUSED_ROWS,
  customers: UNUSED_ROWS,
  invitations: UNUSED_ROWS,
  organizations: UNUSED_ROWS,
  organizationMembers: UNUSED_ROWS,
  projects: UNUSED_ROWS,
  tags: UNUSED_ROWS,
  teams: UNUSED_ROWS,
  teamMembers: UNUSED_ROWS,
  users: UNUSED_ROWS,
};

const UNUSED_DEFINITIONS = { ...UNUSED_ROWS, fingerprint: refuse };

/** Store whose methods all throw. */
const unused = new Proxy(Object.create(null), { get: () => refuse });

/**
 * Further stores of the platform. Methods that the start of a server or a list calls return empty results. Every other
 * method throws.
 */
export const OTHER_STORES = {
  jobs: unused,
  lenses: unused,
  lensWorkers: unused,
  ownerWindows: unused,
  tracingKeys: UNUSED_ROWS,
  datasets: UNUSED_ROWS,
  datasetRevisions: UNUSED_ROWS,
  signalConfigs: UNUSED_ROWS,
  traceSignals: UNUSED_ROWS,
  traceQueries: unused,
  annotations: UNUSED_ROWS,
  auditLog: UNUSED_ROWS,
  autoRouters: unused,
  codingAgents: UNUSED_ROWS,
  commandLineSessions: UNUSED_ROWS,
  decisions: UNUSED_ROWS,
  decisionOutcomes: { ...UNUSED_ROWS, latest: async () => [] },
  catalogReleases: { all: async () => [], put: async () => {}, remove: async () => {} },
  gatewayActivity: { groups: async () => [] },
  mcpToolsets: UNUSED_ROWS,
  memory: { ...UNUSED_ROWS, exclusively: refuse },
  plugins: UNUSED_ROWS,
  tools: UNUSED_ROWS,
  toolOverrides: UNUSED_ROWS,
  toolUse: { spend: async () => ({ tools: [], days: [] }), calls: async () => ({ calls: [], totalCount: 0 }) },
  workflows: {
    ...UNUSED_ROWS,
    appendEvent: async () => null,
    appendMessage: async () => null,
    events: async () => [],
    messages: async () => [],
    lastEvent: async () => null,
    sizeOf: async () => 0,
    removeRun: async () => false,
  },
  guardrailUse: { days: async () => [], runs: async () => ({ runs: [], totalCount: 0 }) },
  responses: { removeBefore: async () => 0 },
  credentials: UNUSED_DEFINITIONS,
  deployments: UNUSED_DEFINITIONS,
  fallbacks: UNUSED_DEFINITIONS,
  ping: async () => {},
  writable: async () => {},
};

/** Totals of an empty spend store. */
export const noTotals: Pick<
  SpendStore,
  'totalOf' | 'totalsOf' | 'totalsOfOwners' | 'totalsOfEarlierOwners' | 'totalsSince'
> = {
  totalOf: async () => ZERO_USD,
  totalsOf: async () => new Map(),
  totalsOfOwners: async () => new Map(),
  totalsOfEarlierOwners: async () => new Map(),
  totalsSince: async () => new Map(),
};
