/**
 * An optional id as it was sent or stored, or null for none. An empty or whitespace-only text is not an id. A blank id
 * would equal every other blank id, and callers with blank ids would share what they own.
 */
export const idOrNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === '' ? null : text;
