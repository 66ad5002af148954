import { InvalidInput } from '../src/domain/errors.ts';
import { type Period, periodOfDays } from '../src/domain/spend/report-dates.ts';
import { textOrNull } from '../src/domain/optional-text.ts';

/** Texts of a query, decoded; an empty parameter counts as absent. */
export function wordsOf(search: string): (name: string) => string | null {
  const sent = new URLSearchParams(search);
  return (name) => textOrNull(sent.getAll(name).at(-1) ?? null);
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
  const issues = missing.map((name) => ({ path: ['query', name], rule: 'missing', message: 'Field required' }));
  throw new InvalidInput('The query is not valid.', issues);
}
