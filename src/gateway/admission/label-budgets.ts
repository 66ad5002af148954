import type { JsonObject } from '../../domain/json-object.ts';
import { spendCounter } from '../../domain/admission/counters.ts';
import type { Budget, BudgetStore } from '../../domain/budgets/budget.ts';
import { NO_LIMITS, type OwnerLimits } from '../../domain/budgets/limits.ts';
import { type CallLabels, END_USER } from '../../domain/calls/call-labels.ts';
import { ownTags } from '../../domain/calls/spend-labels.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Customer, CustomerStore, Region } from '../../domain/customers/customer.ts';
import { Forbidden } from '../../domain/errors.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { ObjectPermission } from '../../domain/object-permissions/object-permission.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import { truncateLabel } from '../../domain/spend/label.ts';
import type { TagStore } from '../../domain/tags/tag.ts';
import { windowIn } from './budget-texts.ts';
import type { CountedBudgets } from './counted-budgets.ts';

/** The budget and the limits of a tag or an end user of a call, and whether the end user is blocked. */
export interface LabelBudget {
  readonly scope: 'tag' | 'end_user';
  readonly id: string;
  /** Whether calls that name the end user are refused; false for tags. */
  readonly blocked: boolean;
  /** Null for none. */
  readonly budget: Usd | null;
  /** Soft budget, which refuses nothing; null for none. */
  readonly soft: Usd | null;
  readonly limits: OwnerLimits;
  /** Region in which calls of an end user are processed; absent for any. */
  readonly customerRegion?: { readonly region: Region; readonly defaultModel: string | null };
  /** Rights of an end user over MCP servers, agents and vector stores; absent for none. */
  readonly objectPermission?: ObjectPermission;
  /** Maximum tokens of batches per day; absent for no limit. */
  readonly tpdLimit?: number | null;
  /** Budgets of an end user for single models; absent for none. */
  readonly modelMaxBudget?: JsonObject;
  /** Total spend of the tag or end user at the start of the budget window. */
  readonly spentBefore: Usd;
  /** Budget window; null where the spend is never reset. */
  readonly window: { readonly duration: string; readonly resetAt: Date } | null;
}

/**
 * Budgets and blocks of the tags and the end user that a call names. They are cached. A stale entry is read again
 * before it is used; when the read fails, the stale entry is used for up to a minute.
 */
export interface LabelBudgets {
  /** In the order of the checks: tags, then the end user. Synchronous when they are in memory. */
  of(labels: CallLabels | undefined, key: VirtualKey | null): readonly LabelBudget[] | Promise<readonly LabelBudget[]>;
  /** Evicts all entries, after a tag, a customer or a budget was changed. */
  evictAll(): void;
}

const NO_COUNTERS: readonly string[] = Object.freeze([]);

/** The tags and the end user of a call, as counters of spend. */
export function labelCounters(labels: CallLabels | undefined): readonly string[] {
  if (labels === undefined) return NO_COUNTERS;
  const endUser = nullIfBlank(labels[END_USER] ?? null);
  const tags = ownTags(labels).map((tag) => spendCounter('tag', truncateLabel(tag)));
  return endUser === null ? tags : [...tags, spendCounter('end_user', truncateLabel(endUser))];
}

/** Refuses a call whose end user is blocked. Throws Forbidden. */
export function assertNoneBlocked(labels: readonly LabelBudget[]): void {
  for (const { blocked, id } of labels)
    if (blocked)
      throw new Forbidden(
        `End user=${id} is blocked. Update via \`/customer/unblock\` if you're an admin.`,
        'end_user_blocked',
      );
}

export const NO_LABEL_BUDGETS: LabelBudgets = { of: () => [], evictAll() {} };

interface LabelStores {
  readonly budgets: Pick<BudgetStore, 'findMany'>;
  readonly customers: Pick<CustomerStore, 'findMany' | 'count'>;
  readonly tags: Pick<TagStore, 'findMany' | 'count'>;
}

/** Age in ms up to which a cached budget is used without a read. */
const FRESH_MS = 5_000;
/** Age in ms up to which a cached budget is used while the store is unavailable. */
const OUTAGE_MS = 60_000;
/** Maximum number of labels in memory. The oldest is evicted. */
const MAX_LABELS = 50_000;

/** A label of a call. */
interface NamedLabel {
  readonly scope: LabelBudget['scope'];
  readonly id: string;
  /** Id of the budget of a label without its own; null for none. */
  readonly defaultBudgetId: string | null;
}

/** A cached label. */
interface Entry {
  readonly readMs: number;
  /** Null for a label that has neither a budget nor a block nor a region nor rights. */
  readonly found: LabelBudget | null;
}

/** Values of the row of a tag, or of the customer row of an end user. */
interface LabelRow {
  readonly budgetId: string | null;
  readonly blocked: boolean;
  /** Members of the budget that only some customers have. */
  readonly further: Pick<LabelBudget, 'customerRegion' | 'objectPermission'>;
}

const NO_ROW: LabelRow = { budgetId: null, blocked: false, further: {} };

/** The budget row that a label refers to, and the block, the region and the rights of an end user. */
interface LabelLimits extends Pick<LabelRow, 'blocked' | 'further'> {
  readonly row: Budget | null;
}

function furtherOf(customer: Customer | undefined): LabelRow['further'] {
  if (customer === undefined) return {};
  const { allowedModelRegion: region, defaultModel, objectPermission } = customer;
  return {
    ...(region === null ? {} : { customerRegion: { region, defaultModel } }),
    ...(objectPermission === null ? {} : { objectPermission }),
  };
}

/** An end user without a budget, who is blocked, bound to a region or has rights. */
const withoutBudget = ({ scope, id }: NamedLabel, { blocked, further }: LabelLimits): LabelBudget => ({
  scope,
  id,
  blocked,
  ...further,
  budget: null,
  soft: null,
  limits: NO_LIMITS,
  spentBefore: ZERO_USD,
  window: null,
});

const cacheKeyOf = ({ scope, id, defaultBudgetId }: NamedLabel): string => JSON.stringify([scope, id, defaultBudgetId]);

/** Whether the store has tags and customers. Labels of a kind without rows are looked up only for a default budget. */
interface LabelKinds {
  readonly readMs: number;
  readonly tags: boolean;
  readonly customers: boolean;
}

export function createLabelBudgets(
  stores: LabelStores,
  counted: Pick<CountedBudgets, 'of'>,
  clock: Pick<Clock, 'monotonicMs'>,
  /** Id of the budget of end users without their own, for keys that name none. */
  endUserBudgetId: string | null = null,
): LabelBudgets {
  const entries = new Map<string, Entry>();
  let kinds: LabelKinds | null = null;
  /** Number of `evictAll` calls. A read that began before the latest one does not fill the cache. */
  let generation = 0;
  /** The running `readKinds`, which concurrent calls share. */
  let readingKinds: Promise<LabelKinds> | null = null;

  async function readKinds(): Promise<LabelKinds> {
    const readMs = clock.monotonicMs();
    const startGeneration = generation;
    try {
      const [tags, customers] = await Promise.all([
        stores.tags.count({ ids: null }),
        stores.customers.count({ ids: null }),
      ]);
      const read = { readMs, tags: tags > 0, customers: customers > 0 };
      if (startGeneration === generation) kinds = read;
      return read;
    } catch (error) {
      if (kinds === null || !isUsable(kinds)) throw error;
      return kinds;
    }
  }

  async function entryOf(label: NamedLabel, labelLimits: LabelLimits, readMs: number): Promise<Entry> {
    const { row, blocked, further } = labelLimits;
    const isRestricted = blocked || Object.keys(further).length > 0;
    if (row === null) return { readMs, found: isRestricted ? withoutBudget(label, labelLimits) : null };
    const { scope, id } = label;
    const limits = await counted.of({ kind: scope, id }, row);
    const { maxBudget: budget, softBudget: soft, rpmLimit, tpmLimit, maxParallelRequests } = limits;
    return {
      readMs,
      found: {
        scope,
        id,
        blocked,
        budget,
        soft,
        limits: { rpmLimit, tpmLimit, maxParallelRequests },
        spentBefore: limits.spentBefore ?? ZERO_USD,
        window: windowIn(limits),
        ...further,
        ...(row.tpdLimit === null ? {} : { tpdLimit: row.tpdLimit }),
        ...(row.modelMaxBudget === null ? {} : { modelMaxBudget: row.modelMaxBudget }),
      },
    };
  }

  /** The row of each label: the id of its budget, and the block and the region of an end user. */
  async function rowsOf(namedLabels: readonly NamedLabel[]): Promise<ReadonlyMap<NamedLabel, LabelRow>> {
    const idsOf = (scope: NamedLabel['scope']) => namedLabels.filter((one) => one.scope === scope).map(({ id }) => id);
    const [tagIds, userIds] = [idsOf('tag'), idsOf('end_user')];
    const [tags, customers] = await Promise.all([
      tagIds.length === 0 ? [] : stores.tags.findMany(tagIds),
      userIds.length === 0 ? [] : stores.customers.findMany(userIds),
    ]);
    const rows = { tag: tags, end_user: customers };
    const byId = new Map(customers.map((customer) => [customer.id, customer]));
    return new Map(
      namedLabels.map((label) => {
        const ownBudgetId = rows[label.scope].find(({ id }) => id === label.id)?.budgetId ?? null;
        const customer = label.scope === 'end_user' ? byId.get(label.id) : undefined;
        const budgetId = ownBudgetId ?? label.defaultBudgetId;
        return [label, { budgetId, blocked: customer?.blocked ?? false, further: furtherOf(customer) }];
      }),
    );
  }

  async function readLabels(namedLabels: readonly NamedLabel[]): Promise<ReadonlyMap<string, Entry>> {
    const startGeneration = generation;
    const readMs = clock.monotonicMs();
    const rows = await rowsOf(namedLabels);
    const budgetIds = [...new Set([...rows.values()].flatMap(({ budgetId }) => budgetId ?? []))];
    const budgets = budgetIds.length === 0 ? [] : await stores.budgets.findMany(budgetIds);
    const byId = new Map(budgets.map((budget) => [budget.id, budget]));
    const read = new Map(
      await Promise.all(
        namedLabels.map(async (label) => {
          const { budgetId, blocked, further } = rows.get(label) ?? NO_ROW;
          const labelLimits = { row: byId.get(budgetId ?? '') ?? null, blocked, further };
          return [cacheKeyOf(label), await entryOf(label, labelLimits, readMs)] as const;
        }),
      ),
    );
    if (startGeneration !== generation) return read;
    for (const [cacheKey, entry] of read) {
      entries.delete(cacheKey);
      entries.set(cacheKey, entry);
    }
    for (const cacheKey of entries.keys()) {
      if (entries.size <= MAX_LABELS) break;
      entries.delete(cacheKey);
    }
    return read;
  }

  const isFresh = (entry: Pick<Entry, 'readMs'> | undefined): boolean =>
    entry !== undefined && clock.monotonicMs() - entry.readMs <= FRESH_MS;
  /** Whether an entry may be used after a failed read. */
  const isUsable = ({ readMs }: Pick<Entry, 'readMs'>): boolean => clock.monotonicMs() - readMs <= OUTAGE_MS;
  const foundOf = (namedLabels: readonly NamedLabel[]): readonly LabelBudget[] =>
    namedLabels.flatMap((label) => entries.get(cacheKeyOf(label))?.found ?? []);

  async function refreshed(namedLabels: readonly NamedLabel[]): Promise<readonly LabelBudget[]> {
    // A copy: `evictAll` may evict entries during the read, and a call must not pass without its budgets.
    const known = new Map(namedLabels.map((label) => [label, entries.get(cacheKeyOf(label))]));
    const stale = namedLabels.filter((label) => !isFresh(known.get(label)));
    let read: ReadonlyMap<string, Entry> = new Map();
    try {
      read = await readLabels(stale);
    } catch (error) {
      if (!stale.every((label) => isUsable(known.get(label) ?? NEVER))) throw error;
    }
    return namedLabels.flatMap((label) => (read.get(cacheKeyOf(label)) ?? known.get(label))?.found ?? []);
  }

  function namedLabelsOf(
    { tags, customers }: LabelKinds,
    labels: CallLabels,
    key: VirtualKey | null,
  ): readonly NamedLabel[] {
    const namedLabels: NamedLabel[] = [];
    if (tags)
      for (const tag of ownTags(labels))
        namedLabels.push({ scope: 'tag', id: truncateLabel(tag), defaultBudgetId: null });
    const endUser = nullIfBlank(labels[END_USER] ?? null);
    const defaultBudgetId = key?.settings.endUserBudgetId ?? endUserBudgetId;
    if (endUser !== null && (customers || defaultBudgetId !== null))
      namedLabels.push({ scope: 'end_user', id: truncateLabel(endUser), defaultBudgetId });
    return namedLabels;
  }

  function budgetsOf(known: LabelKinds, labels: CallLabels, key: VirtualKey | null) {
    const namedLabels = namedLabelsOf(known, labels, key);
    if (namedLabels.every((label) => isFresh(entries.get(cacheKeyOf(label))))) return foundOf(namedLabels);
    return refreshed(namedLabels);
  }

  return {
    of(labels, key) {
      if (labels === undefined) return [];
      if (kinds !== null && isFresh(kinds)) return budgetsOf(kinds, labels, key);
      readingKinds ??= readKinds().finally(() => {
        readingKinds = null;
      });
      return readingKinds.then((read) => budgetsOf(read, labels, key));
    },
    evictAll() {
      generation += 1;
      kinds = null;
      readingKinds = null;
      entries.clear();
    },
  };
}

/** Stands for a label that was never read. */
const NEVER: Entry = { readMs: Number.NEGATIVE_INFINITY, found: null };
