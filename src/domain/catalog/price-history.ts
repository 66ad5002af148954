import { decimalFrom } from './numbers.ts';
import { type CatalogChange, fieldKindOf, sameMeaning, type WatchedFields } from './changes.ts';
import type { EntryHistory, HistorySpan } from './history.ts';

/** A stretch of time in which a price stood. */
export interface PriceStep {
  /** The price's name in the price map. */
  readonly field: string;
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive; null while it stands. */
  readonly to: Date | null;
  /** As the price map has it; null when there was no such price, or the entry was not in the catalog. */
  readonly value: unknown;
}

/** A price at an instant. */
export interface PriceThen {
  readonly field: string;
  /** False when history cannot tell; `value` is null then. */
  readonly known: boolean;
  readonly value: unknown;
}

/** What history tells of an entry's prices at an instant. */
export interface PricesThen {
  readonly entryId: string;
  readonly at: Date;
  /** Whether it was in the catalog; null when history cannot tell. */
  readonly listed: boolean | null;
  /** Every price it is known to have had at any time, by name. */
  readonly prices: readonly PriceThen[];
}

/** USD in a price field; null where it is a table of prices, a factor, or a price in another unit. */
export function usdOf(field: string, value: unknown): number | null {
  if (!field.includes('cost') || field.includes('dbu')) return null;
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? decimalFrom(value) : null;
}

/** What is asked of each change: the value it left behind and the value it found. */
interface Question {
  readonly concerns: (change: CatalogChange) => boolean;
  /** Undefined when the change does not tell. */
  readonly after: (change: CatalogChange) => unknown;
  readonly before: (change: CatalogChange) => unknown;
  readonly now: (fields: WatchedFields | null) => unknown;
}

/** Of an entry's fields, noted when it came or went: undefined when nobody noted them. */
const fieldIn = (noted: unknown, field: string): unknown =>
  typeof noted === 'object' && noted !== null ? ((noted as WatchedFields)[field] ?? null) : undefined;

const priceQuestion = (field: string): Question => ({
  concerns: (change) => change.op !== 'changed' || change.field === field,
  after({ op, new: noted }) {
    if (op === 'removed') return null;
    return op === 'added' ? fieldIn(noted, field) : noted;
  },
  before({ op, old: noted }) {
    if (op === 'added') return null;
    return op === 'removed' ? fieldIn(noted, field) : noted;
  },
  now: (fields) => fields?.[field] ?? null,
});

const LISTED: Question = {
  concerns: () => true,
  after: ({ op }) => op !== 'removed',
  before: ({ op }) => op !== 'added',
  now: (fields) => fields !== null,
};

interface Interval {
  readonly fromMs: number;
  /** Exclusive, but for the end of a span. */
  readonly toMs: number;
  /** Undefined when history cannot tell. */
  readonly value: unknown;
}

/** Whether a change is one of the answer, or one of something else. */
const moves = (change: CatalogChange, { before, after }: Question): boolean =>
  !sameMeaning(before(change), after(change));

/**
 * The answer through one span, without gaps and in order. Between two changes it is what the first left behind
 * or, when that one does not tell, what the second found; and nobody knows while nobody looked before the second.
 * Nothing is concluded from one span about another.
 */
function intervalsOf(history: EntryHistory, span: HistorySpan, nowMs: number, question: Question): readonly Interval[] {
  const oldest = history.complete ? Number.NEGATIVE_INFINITY : (history.changes[0]?.at.getTime() ?? nowMs);
  const startMs = Math.max(span.from.getTime(), oldest);
  const endMs = span.to?.getTime() ?? nowMs;
  if (startMs > endMs) return [];
  const changes = history.changes.filter(
    (change) => change.at.getTime() >= startMs && change.at.getTime() <= endMs && question.concerns(change),
  );
  const current = span.to === null ? question.now(history.fields) : undefined;
  const edges = [startMs, ...changes.map(({ at }) => at.getTime()), endMs];
  return edges.slice(1).flatMap((toMs, place) => {
    const fromMs = edges[place] ?? startMs;
    const isLast = place === changes.length;
    // Changes of one instant leave nothing in between; the end of a span is an instant of its own.
    if (fromMs === toMs && !isLast) return [];
    const [left, right] = [changes[place - 1], changes[place]];
    const value = left === undefined ? undefined : question.after(left);
    const found = right === undefined ? current : question.before(right);
    const told = { fromMs, toMs, value: value === undefined ? found : value };
    if (right === undefined || !moves(right, question)) return [told];
    const unseenMs = Math.max(right.notBefore?.getTime() ?? toMs, fromMs);
    return unseenMs === toMs
      ? [told]
      : [
          { ...told, toMs: unseenMs },
          { fromMs: unseenMs, toMs, value: undefined },
        ];
  });
}

function valueAt(history: EntryHistory, atMs: number, nowMs: number, question: Question): unknown {
  for (const span of history.spans) {
    const there = intervalsOf(history, span, nowMs, question).findLast(
      ({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs,
    );
    if (there?.value !== undefined) return there.value;
  }
  return undefined;
}

/** Clocks differ: what was recorded is past, whatever our clock says. */
const presentMs = ({ changes }: EntryHistory, now: Date): number =>
  Math.max(now.getTime(), changes.at(-1)?.at.getTime() ?? 0);

const isPrice = (name: string): boolean => fieldKindOf(name) === 'price';

/** Every price the entry has or is known to have had, by name. */
function pricesOf({ changes, fields }: EntryHistory): readonly string[] {
  const names = new Set(Object.keys(fields ?? {}).filter(isPrice));
  for (const { field, old, new: since } of changes) {
    if (field !== null) {
      if (isPrice(field)) names.add(field);
      continue;
    }
    for (const noted of [old, since])
      if (typeof noted === 'object' && noted !== null)
        for (const name of Object.keys(noted).filter(isPrice)) names.add(name);
  }
  return [...names].toSorted();
}

/** The prices as they stood at an instant: what history tells, and nothing it does not. */
export function pricesAt(history: EntryHistory, at: Date, now: Date): PricesThen {
  const ask = (question: Question): unknown => valueAt(history, at.getTime(), presentMs(history, now), question);
  const listed = ask(LISTED);
  return {
    entryId: history.entryId,
    at,
    listed: typeof listed === 'boolean' ? listed : null,
    prices: pricesOf(history).map((field) => {
      const value = ask(priceQuestion(field));
      return { field, known: value !== undefined, value: value ?? null };
    }),
  };
}

/**
 * How the prices went between two instants, by price and then by time. Where history cannot tell there is a gap;
 * null bounds reach as far as history does.
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
      for (const interval of intervalsOf(history, span, nowMs, priceQuestion(field))) {
        const last = steps.at(-1);
        // Imported spans may overlap: an instant is told once.
        const start = Math.max(interval.fromMs, fromMs, last?.to?.getTime() ?? fromMs);
        if (interval.value === undefined || start >= Math.min(interval.toMs, toMs)) continue;
        // What reaches the present goes on, unless the question ends before.
        const stands = span.to === null && interval.toMs === nowMs && toMs === nowMs;
        const end = stands ? null : new Date(Math.min(interval.toMs, toMs));
        if (last?.to?.getTime() === start && sameMeaning(last.value, interval.value))
          steps[steps.length - 1] = { ...last, to: end };
        else steps.push({ field, from: new Date(start), to: end, value: interval.value });
      }
    return steps;
  });
}
