import { InvalidInput } from '../../../src/domain/errors.ts';
import { type Period, periodOfDays, dayText, defaultPeriod } from '../../../src/domain/spend/report-dates.ts';
import { nullIfEmpty } from '../../../src/domain/optional-text.ts';
import { missingParameters } from '../http/query.ts';
import type { FieldValues, SpendField, SpendGroup } from '../../../src/domain/spend/spend-reports.ts';
import type { GroupingRequest } from '../../../resolvers/spend.ts';
import { DAY_MS } from '../../../src/domain/spend/daily-activity.ts';

/** Reads parameters of a query by name: the last value, decoded; null when absent or empty. */
export function queryParameters(search: string): (name: string) => string | null {
  const parameters = new URLSearchParams(search);
  return (name) => nullIfEmpty(parameters.getAll(name).at(-1) ?? null);
}

/** Comma-separated values of a parameter; undefined when it is absent or empty. */
export function listParameter(search: string, name: string): readonly string[] | undefined {
  const value = queryParameters(search)(name);
  return value === null ? undefined : value.split(',').map((one) => one.trim());
}

/** Error for a missing period: the field and the message of the InvalidInput. */
export interface MissingPeriod {
  readonly field: string;
  readonly message: string;
}

export const MISSING_DATE_RANGE: MissingPeriod = {
  field: 'date_range',
  message: 'Please provide start_date and end_date',
};

/** The period from `start_date` to `end_date`. Throws InvalidInput when a date is missing or not a day. */
export function requiredPeriod(search: string, fault: MissingPeriod = MISSING_DATE_RANGE): Period {
  const parameter = queryParameters(search);
  const [start, end] = [parameter('start_date'), parameter('end_date')];
  if (start === null || end === null) throw new InvalidInput(fault.message, [], { field: fault.field });
  return periodOfDays(start, end, fault.field);
}

/** As `requiredPeriod`, but null when both dates are missing. */
export function periodIn(search: string): Period | null {
  const parameter = queryParameters(search);
  return parameter('start_date') === null && parameter('end_date') === null ? null : requiredPeriod(search);
}

/** As `requiredPeriod`, but missing dates and missing parameters of `names` are issues of the InvalidInput. */
export function validatedPeriod(search: string, ...names: readonly string[]): Period {
  const parameter = queryParameters(search);
  const missing = ['start_date', 'end_date', ...names].filter((name) => parameter(name) === null);
  if (missing.length === 0) return requiredPeriod(search);
  throw missingParameters(...missing);
}

/** Filter of a report: values of each field. `parameters` maps query parameters to fields. */
export function fieldsIn(search: string, parameters: Readonly<Record<string, SpendField>>): FieldValues {
  const entries = Object.entries(parameters).flatMap(([parameter, field]) => {
    const values = listParameter(search, parameter);
    return values === undefined ? [] : [[field, values] as const];
  });
  return Object.fromEntries(entries);
}

/** Maximum number of groups in a report. */
export const MAX_REPORT_GROUPS = 100_000;

/**
 * Fields to group calls by (`by`), and a filter (`any`): the values of each field that a counted call may have. `byDay`
 * also groups by day in UTC.
 */
export interface ReportGrouping {
  readonly by: readonly SpendField[];
  readonly any?: FieldValues;
  readonly byDay?: boolean;
}

/** A grouping of the calls of a period that match the filter. */
export const grouping = (period: Period, { by, any = {}, byDay = false }: ReportGrouping): GroupingRequest => ({
  filter: { ...period, any },
  by,
  limit: MAX_REPORT_GROUPS,
  ...(byDay ? { bucket: { ms: DAY_MS, offsetMs: 0 } } : {}),
});

/** The default period of a report: from 30 days before now to one day after now. */
export const last30Days = (): Period => defaultPeriod(new Date());

/** Groups by UTC day, the earliest first. */
export const groupsByDay = (groups: readonly SpendGroup[]): readonly (readonly [day: string, groups: SpendGroup[]])[] =>
  [...Map.groupBy(groups, ({ startMs }) => dayText(startMs ?? 0))].toSorted(([left], [right]) =>
    left < right ? -1 : 1,
  );
