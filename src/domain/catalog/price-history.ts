import { decimalFrom } from './numbers.ts';
import { type CatalogChange, fieldKindOf, isEquivalent, type WatchedFields } from './changes.ts';
import type { EntryHistory, HistorySpan } from './history.ts';

/** A period in which a price was valid. */
export interface PriceStep {
  /** The price's name in the price map. */
  readonly field: string;
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive; null while the price is valid. */
  readonly to: Date | null;
  /** Value in the price map; null when there was no such price, or the entry was not in the catalog. */
  readonly value: unknown;
}

/** A price at an instant. */
export interface PriceAtInstant {
  readonly field: string;
  /** False when the history does not cover the instant; `value` is null then. */
  readonly known: boolean;
  readonly value: unknown;
}

/** The prices of an entry at an instant, as far as the history covers them. */
export interface PricesAtInstant {
  readonly entryId: string;
  readonly at: Date;
  /** Whether the entry was in the catalog; null when unknown. */
  readonly listed: boolean | null;
  /** Every price that the entry ever had, by name. */
  readonly prices: readonly PriceAtInstant[];
}

/**
 * A price in USD; null for a factor, a price in another unit, and a value that is not a number. DBU is the billing unit
 * of Databricks.
 */
export function usdOfPrice(field: string, value: unknown): number | null {
  if (!field.includes('cost') || field.includes('dbu')) return null;
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? decimalFrom(value) : null;
}

/**
 * Reads one value (a price, or whether the entry is listed) from the changes of an entry and from its present fields.
 */
interface ValueReader {
  /** Whether a change may affect the value. */
  readonly concerns: (change: CatalogChange) => boolean;
  /** The value after a change; undefined when the change does not contain it. */
  readonly after: (change: CatalogChange) => unknown;
  /** The value before a change; undefined when the change does not contain it. */
  readonly before: (change: CatalogChange) => unknown;
  /** The present value. `fields` is null when the entry is not in the catalog. */
  readonly now: (fields: WatchedFields | null) => unknown;
}

/**
 * A field as recorded with an added or removed entry: null when the entry had none, undefined when no fields were
 * recorded.
 */
const fieldIn = (recorded: unknown, field: string): unknown =>
  typeof recorded === 'object' && recorded !== null ? ((recorded as WatchedFields)[field] ?? null) : undefined;

const priceReader = (field: string): ValueReader => ({
  concerns: (change) => change.op !== 'changed' || change.field === field,
  after({ op, new: recorded }) {
    if (op === 'removed') return null;
    return op === 'added' ? fieldIn(recorded, field) : recorded;
  },
  before({ op, old: recorded }) {
    if (op === 'added') return null;
    return op === 'removed' ? fieldIn(recorded, field) : recorded;
  },
  now: (fields) => fields?.[field] ?? null,
});

const LISTED: ValueReader = {
  concerns: () => true,
  after: ({ op }) => op !== 'removed',
  before: ({ op }) => op !== 'added',
  now: (fields) => fields !== null,
};

/** A part of a span in which a value was constant. */
interface Interval {
  readonly fromMs: number;
  /** Exclusive, except at the end of a span. */
  readonly toMs: number;
  /** Undefined when unknown. */
  readonly value: unknown;
}

/** Whether a change changes this value. */
const changesValue = (change: CatalogChange, { before, after }: ValueReader): boolean =>
  !isEquivalent(before(change), after(change));

/**
 * The value during one span, without gaps and in order. Between two changes it is the value after the first change.
 * When that change does not contain it, it is the value before the second change. If the second change changes the
 * value, the value is unknown between `notBefore` of that change and the change itself. Changes outside the span are
 * not used.
 */
function intervalsOf(
  history: EntryHistory,
  span: HistorySpan,
  nowMs: number,
  reader: ValueReader,
): readonly Interval[] {
  const oldest = history.complete ? Number.NEGATIVE_INFINITY : (history.changes[0]?.at.getTime() ?? nowMs);
  const startMs = Math.max(span.from.getTime(), oldest);
  const endMs = span.to?.getTime() ?? nowMs;
  if (startMs > endMs) return [];
  const changes = history.changes.filter(
    (change) => change.at.getTime() >= startMs && change.at.getTime() <= endMs && reader.concerns(change),
  );
  const current = span.to === null ? reader.now(history.fields) : undefined;
  const edges = [startMs, ...changes.map(({ at }) => at.getTime()), endMs];
  return edges.slice(1).flatMap((toMs, place) => {
    // `edges.slice(1)` has the ends of the intervals, `edges` their starts at the same places.
    const fromMs = edges[place] ?? startMs;
    const isLast = place === changes.length;
    // There is no interval between changes of one instant. The last one may be empty, because the end of a span is
    // inclusive.
    if (fromMs === toMs && !isLast) return [];
    const [previous, next] = [changes[place - 1], changes[place]];
    const valueAfterPrevious = previous === undefined ? undefined : reader.after(previous);
    const valueBeforeNext = next === undefined ? current : reader.before(next);
    const value = valueAfterPrevious === undefined ? valueBeforeNext : valueAfterPrevious;
    const period = { fromMs, toMs, value };
    if (next === undefined || !changesValue(next, reader)) return [period];
    const unknownFromMs = Math.max(next.notBefore?.getTime() ?? toMs, fromMs);
    return unknownFromMs === toMs
      ? [period]
      : [
          { ...period, toMs: unknownFromMs },
          { fromMs: unknownFromMs, toMs, value: undefined },
        ];
  });
}

function valueAt(history: EntryHistory, atMs: number, nowMs: number, reader: ValueReader): unknown {
  for (const span of history.spans) {
    const interval = intervalsOf(history, span, nowMs, reader).findLast(
      ({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs,
    );
    if (interval?.value !== undefined) return interval.value;
  }
  return undefined;
}

/** Now, in Unix ms, but not before the latest recorded change: the clock of this process may be behind. */
const presentMs = ({ changes }: EntryHistory, now: Date): number =>
  Math.max(now.getTime(), changes.at(-1)?.at.getTime() ?? 0);

const isPrice = (name: string): boolean => fieldKindOf(name) === 'price';

/** Names of all prices that the entry has or had, sorted. */
function pricesOf({ changes, fields }: EntryHistory): readonly string[] {
  const names = new Set(Object.keys(fields ?? {}).filter(isPrice));
  for (const { field, old, new: added } of changes) {
    if (field !== null) {
      if (isPrice(field)) names.add(field);
      continue;
    }
    for (const recorded of [old, added])
      if (typeof recorded === 'object' && recorded !== null)
        for (const name of Object.keys(recorded).filter(isPrice)) names.add(name);
  }
  return [...names].toSorted();
}

/** The prices at an instant. Values that the history does not contain are unknown. */
export function pricesAt(history: EntryHistory, at: Date, now: Date): PricesAtInstant {
  const read = (reader: ValueReader): unknown => valueAt(history, at.getTime(), presentMs(history, now), reader);
  const listed = read(LISTED);
  return {
    entryId: history.entryId,
    at,
    listed: typeof listed === 'boolean' ? listed : null,
    prices: pricesOf(history).map((field) => {
      const value = read(priceReader(field));
      return { field, known: value !== undefined, value: value ?? null };
    }),
  };
}

/**
 * The prices between two instants, sorted by price name and then by time. Unknown periods are gaps. Null as `from` is
 * the start of the history, null as `to` is the present.
 */
export function priceStepsOf(
  history: EntryHistory,
  { from, to }: { readonly from: Date | null; readonly to: Date | null },
  now: Date,
): readonly PriceStep[] {
  const nowMs = presentMs(history, now);
  const fromMs = from?.getTime() ?? Number.NEGATIVE_INFINITY;
  const toMs = Math.min(to?.getTime() ?? nowMs, nowMs);
  return pricesOf(history).flatMap((field) => {
    const steps: PriceStep[] = [];
    for (const span of history.spans)
      for (const interval of intervalsOf(history, span, nowMs, priceReader(field))) {
        const last = steps.at(-1);
        // Imported spans may overlap: each instant is reported once.
        const start = Math.max(interval.fromMs, fromMs, last?.to?.getTime() ?? fromMs);
        if (interval.value === undefined || start >= Math.min(interval.toMs, toMs)) continue;
        // A step that reaches the present is open, unless the requested period ends before.
        const isOpen = span.to === null && interval.toMs === nowMs && toMs === nowMs;
        const end = isOpen ? null : new Date(Math.min(interval.toMs, toMs));
        if (last?.to?.getTime() === start && isEquivalent(last.value, interval.value))
          steps[steps.length - 1] = { ...last, to: end };
        else steps.push({ field, from: new Date(start), to: end, value: interval.value });
      }
    return steps;
  });
}
