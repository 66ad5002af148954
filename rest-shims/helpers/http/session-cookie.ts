import type { IncomingHttpHeaders } from 'node:http';

/** Cookie with the key of a browser's session. Scripts of pages cannot read it. */
export const SESSION_COOKIE = 'lensgate_session';
/** Cookie whose value a page repeats in a header, which pages of other origins cannot. */
export const CSRF_COOKIE = 'lensgate_csrf';
const CSRF_HEADER = 'x-csrf-token';

function cookieIn(text: string, name: string): string | null {
  const found = text.split(';').find((pair) => pair.trim().startsWith(`${name}=`));
  return found === undefined ? null : found.slice(found.indexOf('=') + 1).trim();
}

/** The key of a browser's session; null without one, and without the proof that a page of this origin sends it. */
export function sessionKey({ cookie, [CSRF_HEADER]: input }: IncomingHttpHeaders): string | null {
  if (cookie === undefined) return null;
  const key = cookieIn(cookie, SESSION_COOKIE);
  const proof = cookieIn(cookie, CSRF_COOKIE);
  return key === null || key === '' || proof === null || proof === '' || input !== proof ? null : key;
}
