import { InvalidInput } from '../errors.ts';

type Unit = 's' | 'm' | 'h' | 'd' | 'w' | 'mo';

interface Duration {
  readonly count: number;
  readonly unit: Unit;
}

const DURATION = /^(\d{1,9})(s|mo|m|h|d|w)$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DAY_MS = UNIT_MS.d;
/** Latest time of a Date, in Unix ms. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/** Reads `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`; null for anything else. */
function durationOf(text: string): Duration | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  return count === undefined ? null : { count: Number(count), unit: unit as Unit };
}

/** Length of a duration in ms, a month as 30 days; null for a malformed text. */
export function durationMs(text: string): number | null {
  const parsed = durationOf(text);
  if (parsed === null) return null;
  return parsed.count * (parsed.unit === 'mo' ? 30 * DAY_MS : UNIT_MS[parsed.unit]);
}

const startOfDay = (now: Date): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());

/** The instant some months later, at the same day and time; the last day in a shorter month. */
function monthsAfter(now: Date, months: number): number {
  const target = new Date(now);
  target.setUTCDate(1);
  target.setUTCMonth(target.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1, 0)).getUTCDate();
  return target.setUTCDate(Math.min(now.getUTCDate(), lastDay));
}

function endOf({ count, unit }: Duration, now: Date): number {
  return unit === 'mo' ? monthsAfter(now, count) : now.getTime() + count * UNIT_MS[unit];
}

/** Whether `duration` ends after `other` when both begin now. False for a malformed text. */
export function endsAfter(duration: string, other: string, now: Date): boolean {
  const [parsed, parsedOther] = [durationOf(duration), durationOf(other)];
  return parsed !== null && parsedOther !== null && endOf(parsed, now) > endOf(parsedOther, now);
}

/**
 * The end of a duration that begins now. Throws InvalidInput, naming the field, for a malformed or too long duration.
 */
export function instantAfter(duration: string, now: Date, field: 'duration' | 'grace_period'): Date {
  const parsed = durationOf(duration);
  const endMs = parsed === null ? Number.NaN : endOf(parsed, now);
  if (endMs <= MAX_DATE_MS) return new Date(endMs);
  throw new InvalidInput('The duration cannot be read.', [
    {
      path: ['body', field],
      rule: 'value_error',
      message: 'Value error, write a duration as 30s, 30m, 30h, 30d, 2w or 1mo',
      input: duration,
    },
  ]);
}

/** See `windowEnd`. */
function windowEndMs({ count, unit }: Duration, now: Date): number {
  const today = startOfDay(now);
  if (unit === 'mo' || (unit === 'd' && count === 30))
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + (unit === 'mo' ? count : 1), 1);
  const days = daysOf({ count, unit });
  if (days === 7) {
    // Sunday is day 0.
    const daysSinceMonday = (now.getUTCDay() + 6) % 7;
    return today + (7 - daysSinceMonday) * DAY_MS;
  }
  if (days !== null) return today + days * DAY_MS;
  // Windows of hours, minutes and seconds count from the start of the day, the hour or the minute.
  const cycle = cycleMs(unit);
  const cycleStart = today + Math.floor((now.getTime() - today) / cycle) * cycle;
  return nextMultiple(count * UNIT_MS[unit], now, cycleStart);
}

/** Length of a duration of days or weeks, in days; null for other units. */
function daysOf({ count, unit }: Duration): number | null {
  if (unit === 'd') return count;
  return unit === 'w' ? count * 7 : null;
}

/** The minute for seconds, the hour for minutes, the day for other units; in ms. */
function cycleMs(unit: Unit): number {
  if (unit === 's') return UNIT_MS.m;
  return unit === 'm' ? UNIT_MS.h : DAY_MS;
}

/** The first multiple of `step` after `now`, counted from `start`. */
const nextMultiple = (step: number, now: Date, start: number): number =>
  start + (Math.floor((now.getTime() - start) / step) + 1) * step;

/**
 * The end of the budget window that `now` is in, in UTC:
 *
 * - `7d` and `1w`: the next Monday;
 * - `30d` and months: the first of a month;
 * - other days and weeks: midnight after that many days, today included;
 * - hours, minutes and seconds: the next multiple from the start of the day, the hour or the minute.
 *
 * Throws InvalidInput for a malformed duration, for a count of zero, and for an end after the latest time of a Date.
 */
export function windowEnd(duration: string, now: Date): Date {
  const parsed = durationOf(duration);
  const endMs = parsed === null || parsed.count === 0 ? Number.NaN : windowEndMs(parsed, now);
  if (endMs <= MAX_DATE_MS) return new Date(endMs);
  throw new InvalidInput(`Invalid budget_duration '${duration}'. Use a format like '1h', '24h', '7d', or '30d'.`);
}

/**
 * The time from which `windowStart` counts windows at the latest. Windows up to the length of their cycle have the same
 * ends in each cycle, so cycles before the previous one need no steps.
 */
function firstStepMs({ count, unit }: Duration, now: Date): number {
  if (daysOf({ count, unit }) !== null || unit === 'mo') return Number.NEGATIVE_INFINITY;
  const cycle = cycleMs(unit);
  if (count * UNIT_MS[unit] <= cycle) return (Math.floor(now.getTime() / cycle) - 1) * cycle;
  // Longer windows of minutes and seconds could need a step a minute. Those before yesterday are not counted.
  return unit === 'h' ? Number.NEGATIVE_INFINITY : startOfDay(now) - DAY_MS;
}

/**
 * The start of the window that `now` is in. A first window starts at `start`, which is not after `now`. Each end by
 * `windowEnd` starts the next window. Exception: windows of seconds above a minute, or of minutes above an hour, start
 * again at each midnight UTC when `start` is before yesterday. Throws what `windowEnd` throws.
 */
export function windowStart(duration: string, start: Date, now: Date): Date {
  const parsed = durationOf(duration);
  const firstMs = parsed === null ? Number.NEGATIVE_INFINITY : firstStepMs(parsed, now);
  let current = new Date(Math.max(start.getTime(), firstMs));
  let end = windowEnd(duration, current);
  while (end <= now) {
    current = end;
    end = windowEnd(duration, current);
  }
  return current;
}

/**
 * The end of the window that `now` is in, where windows follow each other without a stored start:
 *
 * - `7d`, `1w` and `30d`, and hours, minutes and seconds that divide a day, an hour or a minute: as `windowEnd`;
 * - months: the next multiple from year 0;
 * - all others: the next multiple from 1970.
 *
 * Throws what `windowEnd` throws.
 */
export function fixedWindowEnd(duration: string, now: Date): Date {
  const end = windowEnd(duration, now);
  const { count, unit } = durationOf(duration) ?? { count: 1, unit: 'd' };
  if (unit === 'mo') {
    const monthNow = now.getUTCFullYear() * 12 + now.getUTCMonth();
    const endMonth = (Math.floor(monthNow / count) + 1) * count;
    // Counted from 1970, because `Date.UTC` reads year 0 as 1900.
    return new Date(Date.UTC(1970, endMonth - 1970 * 12, 1));
  }
  const days = daysOf({ count, unit });
  if (days === 7 || (unit === 'd' && days === 30)) return end;
  const step = count * UNIT_MS[unit];
  const dividesCycle = days === null && cycleMs(unit) % step === 0;
  return dividesCycle ? end : new Date(nextMultiple(step, now, 0));
}

/** Maximum number of budget windows of a key or team: each call reserves its cost in all of them. */
export const MAX_WINDOWS = 32;

/** Throws InvalidInput for too many windows. */
export function assertWindowCount({ length }: readonly unknown[]): void {
  if (length > MAX_WINDOWS) throw new InvalidInput(`budget_limits has more than ${MAX_WINDOWS} windows.`);
}
