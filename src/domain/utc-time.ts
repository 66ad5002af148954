const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(?:Z|([+-]\d{2}):?(\d{2}))?)?$/i;

/**
 * Time of ISO 8601 text, such as `2026-01-31`, `2026-01-31 10:00` or `2026-01-31T10:00:00.5+01:00`. Text without an
 * offset is in UTC. Text without a time is the start of the day. Null for other text, for days that do not exist, and
 * for the hour 24, which `Date` would accept and the reference does not.
 */
export function utcTimeFrom(text: string): Date | null {
  const [, day = '', time = '00:00', offsetHours, offsetMinutes = '00'] = ISO_TIME.exec(text.trim()) ?? [];
  const start = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== day || time.startsWith('24')) return null;
  const offset = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
  const found = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(found.getTime()) ? null : found;
}
