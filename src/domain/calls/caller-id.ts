const FORM = /^[\x21-\x7e]{1,200}$/;

/** An id that a caller chose, where it is 1 to 200 visible ASCII characters: safe in headers and rows. Else null. */
export const callerId = (sent: unknown): string | null => (typeof sent === 'string' && FORM.test(sent) ? sent : null);
