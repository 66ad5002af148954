import type { PriceRow } from './prices.ts';

/** Prices that apply at some hours only. */
export interface OffPeak {
  /** The row, with the off-peak prices in place of its usual ones. */
  readonly row: PriceRow;
  isAt(now: Date): boolean;
}

interface Window {
  /** Minutes of a UTC day; `from` is inclusive, `to` exclusive. */
  readonly spans: readonly (readonly [from: number, to: number])[];
  /** 1 is Monday; null is every day. */
  readonly weekdays: ReadonlySet<number> | null;
}

const DAY_MINUTES = 1_440;
const SPAN = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/;

/**
 * The minutes of `HH:MM-HH:MM`, as two spans when it passes midnight. `00:00-00:00` is the whole day. Empty for other
 * text.
 */
function spansOf(text: unknown): readonly (readonly [number, number])[] {
  const [fromHour, fromMinute, toHour, toMinute] = (SPAN.exec(String(text)) ?? []).slice(1).map(Number);
  if (fromHour === undefined || fromMinute === undefined || toHour === undefined || toMinute === undefined) return [];
  const begin = fromHour * 60 + fromMinute;
  const end = toHour * 60 + toMinute;
  if (begin < end) return [[begin, end]];
  const untilMidnight = [begin, DAY_MINUTES] as const;
  const afterMidnight = [0, end] as const;
  return [untilMidnight, afterMidnight];
}

function windowsOf(value: unknown): readonly Window[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((window: unknown): Window[] => {
    if (typeof window !== 'object' || window === null) return [];
    const { hours_utc: hours = '00:00-00:00', weekdays } = window as PriceRow;
    const spans = (Array.isArray(hours) ? hours : [hours]).flatMap(spansOf);
    const days = Array.isArray(weekdays) ? new Set(weekdays.filter((day) => typeof day === 'number')) : null;
    return spans.length === 0 ? [] : [{ spans, weekdays: days }];
  });
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Returns a function for the day of the week in a time zone, 1 for Monday. An unknown time zone means UTC. */
function weekdayIn(timeZone: unknown): (now: Date) => number {
  const format = (zone: string) => new Intl.DateTimeFormat('en-US', { weekday: 'short', timeZone: zone });
  let formatter: Intl.DateTimeFormat;
  try {
    formatter = format(typeof timeZone === 'string' ? timeZone : 'UTC');
  } catch {
    formatter = format('UTC');
  }
  return (now) => WEEKDAYS.indexOf(formatter.format(now)) + 1;
}

/** The off-peak prices of a row: hours in UTC, weekdays in the zone of the row. Null for none. */
export function offPeakOf(row: PriceRow): OffPeak | null {
  const offPeak = row['off_peak_pricing'];
  if (typeof offPeak !== 'object' || offPeak === null) return null;
  const { windows: listed, weekday_timezone: timeZone, ...prices } = offPeak as PriceRow;
  const windows = windowsOf(listed);
  if (windows.length === 0) return null;
  const weekday = weekdayIn(timeZone);
  return {
    row: { ...row, ...prices },
    isAt(now) {
      const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
      return windows.some(
        ({ spans, weekdays }) =>
          (weekdays === null || weekdays.has(weekday(now))) &&
          spans.some(([from, to]) => minute >= from && minute < to),
      );
    },
  };
}
