const CALLER_ID = /^[\x21-\x7e]{1,200}$/;

/** An id from a caller; null unless it is 1 to 200 visible ASCII characters, which are safe in headers and rows. */
export const callerId = (sent: unknown): string | null =>
  typeof sent === 'string' && CALLER_ID.test(sent) ? sent : null;
