/** Null for empty text. */
export const textOrNull = (text: string | null): string | null => (text === '' ? null : text);
