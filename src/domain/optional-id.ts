/**
 * An optional id as it was sent or stored, or null for none. An empty or whitespace-only text is not an id: compared as
 * text, it would equal every other blank one, and their owners would share what they own.
 */
export const idOrNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === '' ? null : text;
