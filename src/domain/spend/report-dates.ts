import { InvalidInput } from '../errors.ts';
import { DAY_MS } from './daily-activity.ts';

/** A period of start times: `from` inclusive, `to` exclusive. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SECOND = /^(\d{4}-\d{2}-\d{2})[ T]((?!24)\d{2}:\d{2}:\d{2})$/;
/** Length of the default period, in days. */
const DEFAULT_DAYS = 30;

/** Start of a day in UTC; null for text that is not a date of the form `2026-01-31`. */
export function dayFrom(text: string): Date | null {
  // `Date` reads `2026-02-31` as 3 March.
  const day = DAY.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  return day === null || Number.isNaN(day.getTime()) || dayText(day.getTime()) !== text ? null : day;
}

/** A moment in UTC as `2026-01-31 23:59:59`, or the start of a day; null for other text, also for the hour 24. */
export function momentFrom(text: string): Date | null {
  const [, day = '', time = ''] = SECOND.exec(text) ?? [];
  if (day === '') return dayFrom(text);
  const moment = new Date(`${day}T${time}Z`);
  return dayFrom(day) === null || Number.isNaN(moment.getTime()) ? null : moment;
}

/** The UTC day of a moment, as `2026-01-31`. */
export const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * The period of the days from `start` to `end`, both included. Throws InvalidInput for text that is not a day; the
 * error states `field` as the invalid field.
 */
export function periodOfDays(start: string, end: string, field: string): Period {
  const [from, last] = [dayFrom(start), dayFrom(end)];
  if (from === null || last === null) {
    const sent = from === null ? start : end;
    throw new InvalidInput(`Invalid date '${sent.slice(0, 40)}': expected YYYY-MM-DD.`, [], { field });
  }
  return { from, to: new Date(last.getTime() + DAY_MS) };
}

/** Period of reports without dates: from 30 days before now to one day after now. */
export const defaultPeriod = (now: Date): Period => ({
  from: new Date(now.getTime() - DEFAULT_DAYS * DAY_MS),
  to: new Date(now.getTime() + DAY_MS),
});

/** Maximum period of a report with a value per day, in days. */
const MAX_DAYS = 366;

/**
 * Returns the period of the days `from` to `to`, both included. Throws InvalidInput for texts that are not days, and
 * for a reversed or too long period. Every error states the first day as the invalid field.
 */
export function assertReportDays(from: string, to: string): Period {
  const period = periodOfDays(from, to, 'startDate');
  const days = (period.to.getTime() - period.from.getTime()) / DAY_MS;
  if (days < 1) throw new InvalidInput('The first day is after the last one.', [], { field: 'startDate' });
  if (days > MAX_DAYS) throw new InvalidInput(`A period has at most ${MAX_DAYS} days.`, [], { field: 'startDate' });
  return period;
}
