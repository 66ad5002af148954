/** Null for empty text. */
export const textOrNull = (text: string): string | null => (text === '' ? null : text);
