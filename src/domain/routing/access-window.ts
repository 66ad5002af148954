import type { AccessWindow } from './selection-policy.ts';

const MINUTES_OF_HOUR = 60;

/**
 * Formatters by time zone, because their creation is slow. Zones come from the configuration, so their number is small.
 */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Minutes after midnight, in local time. */
function localMinute(now: Date, timezone: string): number {
  let formatter = formatters.get(timezone);
  if (formatter === undefined) {
    const options = { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    formatter = new Intl.DateTimeFormat('en-GB', options);
    formatters.set(timezone, formatter);
  }
  const [hour = '0', minute = '0'] = formatter.format(now).split(':');
  return Number(hour) * MINUTES_OF_HOUR + Number(minute);
}

/** Whether a window contains a time. The start is inclusive, the end is exclusive. */
function isOpen({ startMinute, endMinute, timezone }: AccessWindow, now: Date): boolean {
  const minute = localMinute(now, timezone);
  const isAfterStart = minute >= startMinute;
  const isBeforeEnd = minute < endMinute;
  const crossesMidnight = startMinute > endMinute;
  return crossesMidnight ? isAfterStart || isBeforeEnd : isAfterStart && isBeforeEnd;
}

/**
 * The open window that reserves a deployment for other teams. Null when the team may call the deployment: no window is
 * open, or any open window names the team.
 */
export function reservingWindow(
  windows: readonly AccessWindow[],
  teamId: string | null,
  now: Date,
): AccessWindow | null {
  const open = windows.filter((window) => isOpen(window, now));
  if (teamId !== null && open.some(({ teamIds }) => teamIds.includes(teamId))) return null;
  return open[0] ?? null;
}

/** End of a window as text, e.g. `18:00 Europe/Vienna`. */
export function windowEndText({ endMinute, timezone }: AccessWindow): string {
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  const hour = Math.floor(endMinute / MINUTES_OF_HOUR);
  return `${twoDigits(hour)}:${twoDigits(endMinute % MINUTES_OF_HOUR)} ${timezone}`;
}
