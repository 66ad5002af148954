import { compare } from '../compare.ts';
import { addUsd, ZERO_USD } from '../money.ts';
import type { SpendField, SpendGroup, SpendSums } from './spend-reports.ts';

export const DAY_MS = 86_400_000;

export const NO_SPEND: SpendSums = {
  calls: 0,
  failures: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: ZERO_USD,
  successMs: 0,
};

export const addSums = (left: SpendSums, right: SpendSums): SpendSums => ({
  calls: left.calls + right.calls,
  failures: left.failures + right.failures,
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
  cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
  cost: addUsd(left.cost, right.cost),
  successMs: left.successMs + right.successMs,
});

export const sumOfSpend = (all: Iterable<SpendSums>): SpendSums => [...all].reduce(addSums, NO_SPEND);

/** Fields that a day is broken down by. */
export const ACTIVITY_FIELDS = ['model', 'modelGroup', 'provider', 'callType'] as const;
type ActivityField = (typeof ACTIVITY_FIELDS)[number];

/** Field whose values are the entities of a report. Each day is also broken down by this field. */
export type ActivityEntity = Extract<SpendField, 'user' | 'team' | 'organization' | 'agent' | 'tag' | 'endUser'>;

/** Sums of the calls with one value of a field, in total and by key hash. */
export interface ActivityPart {
  /** The value; null for calls without one in the field. */
  readonly name: string | null;
  readonly sums: SpendSums;
  readonly byKey: ReadonlyMap<string, SpendSums>;
}

/** The calls of one day. */
export interface DayActivity {
  /** Start of the day, Unix ms. */
  readonly startMs: number;
  readonly sums: SpendSums;
  readonly parts: Readonly<Record<ActivityField, readonly ActivityPart[]>>;
  /** One part per value of the report's entity field, for example per team. */
  readonly entities: readonly ActivityPart[];
  /** Sums by key hash. */
  readonly byKey: ReadonlyMap<string, SpendSums>;
}

const keyOf = ({ values }: SpendGroup): string => values.key ?? '';

function byKeyOf(groups: readonly SpendGroup[]): ReadonlyMap<string, SpendSums> {
  return new Map([...Map.groupBy(groups, keyOf)].map(([key, own]) => [key, sumOfSpend(own)]));
}

const partsOf = (groups: readonly SpendGroup[], field: SpendField): readonly ActivityPart[] =>
  [...Map.groupBy(groups, ({ values }) => values[field] ?? null)].map(([name, own]) => ({
    name,
    sums: sumOfSpend(own),
    byKey: byKeyOf(own),
  }));

/**
 * Days with calls, newest first. `groups` are by day, key and `ACTIVITY_FIELDS`, `entityGroups` are by day, key and
 * entity. A call with several tags counts for each tag, and once in its day.
 */
export function dailyActivity(
  groups: readonly SpendGroup[],
  entityGroups: readonly SpendGroup[],
  entity: ActivityEntity,
): readonly DayActivity[] {
  const entitiesByDay = Map.groupBy(entityGroups, ({ startMs }) => startMs);
  return [...Map.groupBy(groups, ({ startMs }) => startMs)]
    .map(([day, own]) => ({
      startMs: day ?? 0,
      sums: sumOfSpend(own),
      parts: {
        model: partsOf(own, 'model'),
        modelGroup: partsOf(own, 'modelGroup'),
        provider: partsOf(own, 'provider'),
        callType: partsOf(own, 'callType'),
      },
      entities: partsOf(entitiesByDay.get(day) ?? [], entity),
      byKey: byKeyOf(own),
    }))
    .toSorted((left, right) => right.startMs - left.startMs);
}

/** Sums of the calls of one key. */
export interface KeySums {
  readonly hash: string;
  readonly sums: SpendSums;
}

/** Sums by key, the highest cost first; keys of equal cost in the order of their hashes. */
export const sumsByKey = (groups: readonly SpendGroup[]): readonly KeySums[] =>
  [...byKeyOf(groups)]
    .map(([hash, sums]) => ({ hash, sums }))
    .toSorted((left, right) => compare(right.sums.cost, left.sums.cost) || compare(left.hash, right.hash));

const uncachedInput = ({ inputTokens, cacheReadTokens }: SpendSums): number => inputTokens - cacheReadTokens;
const uncachedTokens = ({ sums }: KeySums): number => uncachedInput(sums);

/** The same keys without the input tokens of `hits`, which no provider received. */
export function withoutHits(keys: readonly KeySums[], hits: readonly KeySums[]): readonly KeySums[] {
  if (hits.length === 0) return keys;
  const cached = new Map(hits.map(({ hash, sums }) => [hash, uncachedInput(sums)]));
  return keys.map(({ hash, sums }) => ({
    hash,
    sums: { ...sums, inputTokens: sums.inputTokens - (cached.get(hash) ?? 0) },
  }));
}

/** Keys with input tokens that were not read from a provider's cache, the most of these tokens first. */
export const byUncachedTokens = (keys: readonly KeySums[]): readonly KeySums[] =>
  keys
    .filter((key) => uncachedTokens(key) > 0)
    .toSorted((left, right) => uncachedTokens(right) - uncachedTokens(left) || compare(left.hash, right.hash));

const narrowed = (byKey: ReadonlyMap<string, SpendSums>, shown: ReadonlySet<string>): ReadonlyMap<string, SpendSums> =>
  new Map([...byKey].filter(([hash]) => shown.has(hash)));

/** A day whose breakdowns by key have only the keys in `shown`. Its sums stay those of all keys. */
export function withShownKeys(day: DayActivity, shown: ReadonlySet<string>): DayActivity {
  const partsWith = (parts: readonly ActivityPart[]): readonly ActivityPart[] =>
    parts.map((part) => ({ ...part, byKey: narrowed(part.byKey, shown) }));
  const { model, modelGroup, provider, callType } = day.parts;
  return {
    ...day,
    parts: {
      model: partsWith(model),
      modelGroup: partsWith(modelGroup),
      provider: partsWith(provider),
      callType: partsWith(callType),
    },
    entities: partsWith(day.entities),
    byKey: narrowed(day.byKey, shown),
  };
}

/** Number of keys of each entity. Calls without an entity are left out. */
export function keysByEntity(days: readonly DayActivity[]): ReadonlyMap<string, number> {
  const hashes = new Map<string, Set<string>>();
  for (const { name, byKey } of days.flatMap(({ entities }) => entities)) {
    if (name === null) continue;
    const own = hashes.get(name) ?? new Set();
    for (const hash of byKey.keys()) own.add(hash);
    hashes.set(name, own);
  }
  return new Map([...hashes].map(([name, own]) => [name, own.size]));
}
