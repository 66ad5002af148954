/**
 * The text; null for one that is missing, empty or only whitespace. Optional ids need this: callers whose ids are equal
 * blank texts would share what they own.
 */
export const nullIfBlank = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === '' ? null : text;

/** The text; null for an empty one. */
export const nullIfEmpty = (text: string | null): string | null => (text === '' ? null : text);
