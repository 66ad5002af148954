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
  /** Every price that the entry ever had, sorted by name. */
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
 * Reads one value of an entry from its changes and its present fields. The value is a price, or whether the entry is
 * listed.
 */
interface ValueReader {
  /** Whether a change may affect the value. */
  readonly concerns: (change: CatalogChange) => boolean;
  /** The value after a change; undefined when the change does not contain it. */
  readonly after: (change: CatalogChange) => unknown;
  /** The value before a change; undefined when the change does not contain it. */
  readonly before: (change: CatalogChange) => unknown;
  /** The current value. `fields` is null when the entry is not in the catalog. */
  readonly now: (fields: WatchedFields | null) => unknown;
}

/**
 * A field of an added or removed entry, from the fields that were recorded with the change. Null when the entry did not
 * have the field, undefined when no fields were recorded.
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

/** A part of a span in which a value was constant, or unknown. */
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
 * The value during one span, as intervals in order and without gaps. Only the changes within the span are used.
 *
 * Between two changes, the value is the one after the earlier change. When the earlier change does not contain the
 * value, it is the one before the later change. If the later change has a `notBefore` and changes the value, the value
 * is unknown from that time until the change.
 */
function intervalsOf(
  history: EntryHistory,
  span: HistorySpan,
  nowMs: number,
  reader: ValueReader,
): readonly Interval[] {
  const firstReadMs = history.complete ? Number.NEGATIVE_INFINITY : (history.changes[0]?.at.getTime() ?? nowMs);
  const startMs = Math.max(span.from.getTime(), firstReadMs);
  const endMs = span.to?.getTime() ?? nowMs;
  if (startMs > endMs) return [];
  const changes = history.changes.filter(
    (change) => change.at.getTime() >= startMs && change.at.getTime() <= endMs && reader.concerns(change),
  );
  const present = span.to === null ? reader.now(history.fields) : undefined;
  const intervals: Interval[] = [];
  let fromMs = startMs;
  let valueAfterPrevious: unknown;
  for (const change of changes) {
    const changeMs = change.at.getTime();
    // Changes of one instant have no interval between them.
    if (changeMs !== fromMs) {
      const value = valueAfterPrevious === undefined ? reader.before(change) : valueAfterPrevious;
      const knownUntilMs = changesValue(change, reader)
        ? Math.max(change.notBefore?.getTime() ?? changeMs, fromMs)
        : changeMs;
      intervals.push({ fromMs, toMs: knownUntilMs, value });
      if (knownUntilMs !== changeMs) intervals.push({ fromMs: knownUntilMs, toMs: changeMs, value: undefined });
    }
    fromMs = changeMs;
    valueAfterPrevious = reader.after(change);
  }
  // The end of a span is inclusive: the last interval may begin there.
  intervals.push({ fromMs, toMs: endMs, value: valueAfterPrevious === undefined ? present : valueAfterPrevious });
  return intervals;
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

/** Now, in Unix ms, but at least the time of the latest recorded change: the clock of this process may be behind. */
const presentMs = ({ changes }: EntryHistory, now: Date): number =>
  Math.max(now.getTime(), changes.at(-1)?.at.getTime() ?? 0);

const isPrice = (name: string): boolean => fieldKindOf(name) === 'price';

/** Names of all prices that the entry has or had, sorted. */
function pricesOf({ changes, fields }: EntryHistory): readonly string[] {
  const names = new Set(Object.keys(fields ?? {}).filter(isPrice));
  const addPricesOf = (recorded: unknown): void => {
    if (typeof recorded !== 'object' || recorded === null) return;
    for (const name of Object.keys(recorded).filter(isPrice)) names.add(name);
  };
  for (const change of changes)
    if (change.field === null) {
      addPricesOf(change.old);
      addPricesOf(change.new);
    } else if (isPrice(change.field)) names.add(change.field);
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
        // A step that reaches the present is open, unless the requested period ends earlier.
        const isOpen = span.to === null && interval.toMs === nowMs && toMs === nowMs;
        const end = isOpen ? null : new Date(Math.min(interval.toMs, toMs));
        if (last?.to?.getTime() === start && isEquivalent(last.value, interval.value))
          steps[steps.length - 1] = { ...last, to: end };
        else steps.push({ field, from: new Date(start), to: end, value: interval.value });
      }
    return steps;
  });
}
