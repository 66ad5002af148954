import { conditionList, conditionsOfList } from '../annotations/annotation-conditions.ts';
import { cursorState, cursorText } from '../cursor-text.ts';
import { InvalidInput } from '../errors.ts';
import type { Usd } from '../money.ts';
import { nullIfBlank } from '../optional-text.ts';
import { TRACE_REF } from './cursor.ts';
import { SPAN_STATUSES } from './span.ts';
import type { TraceSummary } from './trace.ts';
import { traceRankOf, TRACE_ORDERS, type TraceFilters, type TraceSearch } from './trace-search.ts';

/** Parameters of a search that a caller sends with a cursor. */
export interface SearchParameters {
  /** Null takes the filters of the cursor. */
  readonly filters: TraceFilters | null;
  /** Null takes the order of the cursor. */
  readonly order: TraceSearch['order'] | null;
}

/** Filter members in the order of a cursor. */
const MEMBERS = [
  'status',
  'service',
  'agent',
  'model',
  'keyHash',
  'teamId',
  'minSpend',
  'minDurationNs',
  'minErrors',
  'text',
  'sessionId',
  'userId',
  'tag',
  'internal',
  'annotation',
] as const satisfies readonly (keyof TraceFilters)[];

/** Filters as canonical text. */
export const textOfFilters = (filters: TraceFilters): string =>
  JSON.stringify(
    MEMBERS.map((member): unknown => {
      if (member === 'annotation') return filters.annotation === null ? null : conditionList(filters.annotation);
      const value = filters[member];
      return typeof value === 'bigint' ? String(value) : value;
    }),
  );

/** The cursor after this row. It contains the whole search. */
export function searchCursorAfter(search: TraceSearch, row: TraceSummary): string {
  const { startMs, endMs, order, filters } = search;
  return cursorText([startMs, endMs, order, textOfFilters(filters), String(traceRankOf(row, order)), row.traceRef]);
}

type Label = 'sessionId' | 'userId' | 'tag';

const INVALID_CURSOR = 'Invalid cursor.';
/** Number of values in a search cursor. */
const SEARCH_CURSOR_LENGTH = 6;
/** Number of values in the cursor of a list without a search. */
const LIST_CURSOR_LENGTH = 4;

/** Whether a cursor has the form of a search cursor. */
export const isSearchCursor = (cursor: string): boolean => cursorState(cursor).length === SEARCH_CURSOR_LENGTH;

/** The search of a cursor. Throws InvalidInput for an invalid cursor, and for a cursor of another search. */
export function readSearchCursor(cursor: string, wanted: SearchParameters): TraceSearch {
  const state = cursorState(cursor);
  if (state.length === LIST_CURSOR_LENGTH) throw new InvalidInput('The cursor belongs to another search.');
  if (state.length !== SEARCH_CURSOR_LENGTH) throw new InvalidInput(INVALID_CURSOR);
  const [startMs, endMs, ordered, filterText, rank, traceRef] = state;
  const order = TRACE_ORDERS.find((known) => known === ordered);
  if (!Number.isSafeInteger(startMs) || !Number.isSafeInteger(endMs) || order === undefined)
    throw new InvalidInput(INVALID_CURSOR);
  if (typeof traceRef !== 'string' || !TRACE_REF.test(traceRef)) throw new InvalidInput(INVALID_CURSOR);
  const filters = filtersOfText(filterText);
  if (wanted.order !== null && wanted.order !== order) throw new InvalidInput('The cursor belongs to another search.');
  if (wanted.filters !== null && textOfFilters(wanted.filters) !== textOfFilters(filters))
    throw new InvalidInput('The cursor belongs to another search.');
  return {
    startMs: Number(startMs),
    endMs: Number(endMs),
    filters,
    order,
    after: { rank: int64In(rank), traceRef },
  };
}

/** Inverse of `textOfFilters`. Throws InvalidInput for any other value. */
export function filtersOfText(filterText: unknown): TraceFilters {
  const state = typeof filterText === 'string' ? listIn(filterText) : [];
  if (state.length !== MEMBERS.length) throw new InvalidInput(INVALID_CURSOR);
  const valueAt = (member: (typeof MEMBERS)[number]): unknown => state[MEMBERS.indexOf(member)] ?? null;
  function text(member: 'service' | 'agent' | 'model' | 'keyHash' | 'teamId' | 'text' | Label): string | null {
    const value = valueAt(member);
    if (value !== null && typeof value !== 'string') throw new InvalidInput(INVALID_CURSOR);
    return value;
  }
  const amount = (member: 'minSpend' | 'minDurationNs'): bigint | null =>
    valueAt(member) === null ? null : int64In(valueAt(member));
  const status = SPAN_STATUSES.find((known) => known === valueAt('status')) ?? null;
  const minErrors = valueAt('minErrors');
  const internal = valueAt('internal');
  if (internal !== null && typeof internal !== 'boolean') throw new InvalidInput(INVALID_CURSOR);
  if (status !== valueAt('status') || (minErrors !== null && !isInt32(minErrors)))
    throw new InvalidInput(INVALID_CURSOR);
  const annotation = valueAt('annotation') === null ? null : conditionsOfList(valueAt('annotation'));
  if (annotation === undefined) throw new InvalidInput(INVALID_CURSOR);
  return {
    status,
    service: text('service'),
    agent: text('agent'),
    model: text('model'),
    keyHash: text('keyHash'),
    teamId: nullIfBlank(text('teamId')),
    minSpend: amount('minSpend') as Usd | null,
    minDurationNs: amount('minDurationNs'),
    minErrors: minErrors === null ? null : Number(minErrors),
    sessionId: text('sessionId'),
    userId: text('userId'),
    tag: text('tag'),
    internal,
    annotation,
    text: text('text'),
  };
}

/** Whether a value is a 32-bit integer. */
const isInt32 = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;

/** Reads a 64-bit integer, the largest type of the stores. Throws InvalidInput for any other value. */
function int64In(value: unknown): bigint {
  const number = typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : null;
  if (number === null || BigInt.asIntN(64, number) !== number) throw new InvalidInput(INVALID_CURSOR);
  return number;
}

function listIn(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
