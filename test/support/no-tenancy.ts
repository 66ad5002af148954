import { ZERO_USD } from '../../src/domain/money.ts';
import type { RowStore } from '../../src/domain/row-store.ts';
import type { SpendStore } from '../../src/domain/spend/spend-row.ts';
import type { TenancyStores } from '../../src/domain/tenancy-stores.ts';

const refuse = (): never => {
  throw new Error('Users and teams are tested with a real store.');
};

const NO_ROWS: RowStore<never, unknown, string> = {
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
  accessGroups: NO_ROWS,
  tokenMappings: NO_ROWS,
  budgets: NO_ROWS,
  customers: NO_ROWS,
  invitations: NO_ROWS,
  organizations: NO_ROWS,
  organizationMembers: NO_ROWS,
  projects: NO_ROWS,
  tags: NO_ROWS,
  teams: NO_ROWS,
  teamMembers: NO_ROWS,
  users: NO_ROWS,
};

const NO_STORED_ROWS = { ...NO_ROWS, fingerprint: refuse };

/** Store whose methods all throw. */
const unused = new Proxy(Object.create(null), { get: () => refuse });

/** All other stores. Methods that a start or a list calls return nothing. Every other method throws. */
export const OTHER_STORES = {
  jobs: unused,
  lenses: unused,
  lensWorkers: unused,
  ownerWindows: unused,
  tracingKeys: NO_ROWS,
  datasets: NO_ROWS,
  datasetRevisions: NO_ROWS,
  signalConfigs: NO_ROWS,
  traceSignals: NO_ROWS,
  traceQueries: unused,
  annotations: NO_ROWS,
  auditLog: NO_ROWS,
  codingAgents: NO_ROWS,
  decisions: NO_ROWS,
  decisionOutcomes: { ...NO_ROWS, latest: async () => [] },
  catalogReleases: { all: async () => [], put: async () => {}, remove: async () => {} },
  gatewayActivity: { groups: async () => [] },
  guardrailUse: { days: async () => [], runs: async () => ({ runs: [], totalCount: 0 }) },
  responses: { removeBefore: async () => 0 },
  credentials: NO_STORED_ROWS,
  deployments: NO_STORED_ROWS,
  fallbacks: NO_STORED_ROWS,
  ping: async () => {},
  writable: async () => {},
};

/** Totals of an empty spend store. */
export const noTotals: Pick<SpendStore, 'totalOf' | 'totalsOf' | 'totalsOfOwners' | 'totalsSince'> = {
  totalOf: async () => ZERO_USD,
  totalsOf: async () => new Map(),
  totalsOfOwners: async () => new Map(),
  totalsSince: async () => new Map(),
};
