/**
 * Escape of a NUL character or an unpaired surrogate in the output of `JSON.stringify`, such as `\u0000`. With an
 * escaped backslash in front, as in `\\u0000`, the text is no escape.
 */
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

/** Whether the output of `JSON.stringify` contains a character that databases refuse. */
export const hasUnstorableCharacter = (json: string): boolean => UNSTORABLE_ESCAPE.test(json);
