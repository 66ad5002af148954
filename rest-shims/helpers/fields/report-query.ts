import { InvalidInput } from '../../../src/domain/errors.ts';
import { type Period, periodOfDays, dayText, usualPeriod } from '../../../src/domain/spend/report-dates.ts';
import { textOrNull } from '../../../src/domain/optional-text.ts';
import { missingParameters } from '../http/query.ts';
import type { FieldValues, SpendField, SpendGroup } from '../../../src/domain/spend/spend-reports.ts';
import type { GroupingRequest } from '../../../resolvers/spend.ts';
import { DAY_MS } from '../../../src/domain/spend/daily-activity.ts';

/** Texts of a query, decoded; an empty parameter counts as absent. */
export function wordsOf(search: string): (name: string) => string | null {
  const parameters = new URLSearchParams(search);
  return (name) => textOrNull(parameters.getAll(name).at(-1) ?? null);
}

/** Values of a parameter that takes several, separated by commas; undefined when it is absent. */
export function listOf(search: string, name: string): readonly string[] | undefined {
  const word = wordsOf(search)(name);
  return word === null ? undefined : word.split(',').map((one) => one.trim());
}

/** Refusal of a missing period. */
export interface DateFault {
  readonly field: string;
  readonly message: string;
}

export const RANGE_FAULT: DateFault = { field: 'date_range', message: 'Please provide start_date and end_date' };

/** The days of `start_date` and `end_date`. Throws InvalidInput when one is missing or no day. */
export function requiredPeriod(search: string, fault: DateFault = RANGE_FAULT): Period {
  const word = wordsOf(search);
  const [start, end] = [word('start_date'), word('end_date')];
  if (start === null || end === null) throw new InvalidInput(fault.message, [], { field: fault.field });
  return periodOfDays(start, end, fault.field);
}

/** The same; null when both are missing. */
export function periodIn(search: string): Period | null {
  const word = wordsOf(search);
  return word('start_date') === null && word('end_date') === null ? null : requiredPeriod(search);
}

/** As `requiredPeriod`; missing parameters are a validation error. */
export function validatedPeriod(search: string, ...further: readonly string[]): Period {
  const word = wordsOf(search);
  const missing = ['start_date', 'end_date', ...further].filter((name) => word(name) === null);
  if (missing.length === 0) return requiredPeriod(search);
  throw missingParameters(...missing);
}

/** Fields that the parameters of a query limit a report to. */
export function fieldsIn(search: string, parameters: Readonly<Record<string, SpendField>>): FieldValues {
  const named = Object.entries(parameters).flatMap(([parameter, field]) => {
    const values = listOf(search, parameter);
    return values === undefined ? [] : [[field, values] as const];
  });
  return Object.fromEntries(named);
}

/** Most groups of a report. */
export const MOST_REPORT_GROUPS = 100_000;

/** Fields that calls are grouped by, and filters of these calls. */
export interface Grouped {
  readonly by: readonly SpendField[];
  readonly any?: FieldValues;
  readonly byDay?: boolean;
}

/** A grouping of all calls of a period, by day in UTC. */
export const grouping = (period: Period, { by, any = {}, byDay = false }: Grouped): GroupingRequest => ({
  filter: { ...period, any },
  by,
  limit: MOST_REPORT_GROUPS,
  ...(byDay ? { bucket: { ms: DAY_MS, offsetMs: 0 } } : {}),
});

/** The default period of a report: the last 30 days. */
export const lastDays = (): Period => usualPeriod(new Date());

/** Groups of each day, the earliest first. */
export const days = (groups: readonly SpendGroup[]): readonly (readonly [day: string, groups: SpendGroup[]])[] =>
  [...Map.groupBy(groups, ({ startMs }) => dayText(startMs ?? 0))].toSorted(([left], [right]) =>
    left < right ? -1 : 1,
  );
