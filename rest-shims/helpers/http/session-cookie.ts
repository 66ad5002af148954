import type { IncomingHttpHeaders } from 'node:http';

/** Cookie with the key of a browser session (HttpOnly). */
export const SESSION_COOKIE = 'lensgate_session';
/** Cookie for the double-submit check: pages of this origin repeat its value in the header `x-csrf-token`. */
export const CSRF_COOKIE = 'lensgate_csrf';
const CSRF_HEADER = 'x-csrf-token';

function cookieIn(text: string, name: string): string | null {
  const cookie = text.split(';').find((pair) => pair.trim().startsWith(`${name}=`));
  return cookie === undefined ? null : cookie.slice(cookie.indexOf('=') + 1).trim();
}

/** The value of a cookie of a request; null without one. */
export const cookieOf = ({ cookie }: IncomingHttpHeaders, name: string): string | null =>
  cookie === undefined ? null : cookieIn(cookie, name);

/** The key of a browser session; null without one, or if the CSRF header does not match the CSRF cookie. */
export function sessionKey({ cookie, [CSRF_HEADER]: csrfHeader }: IncomingHttpHeaders): string | null {
  if (cookie === undefined) return null;
  const key = cookieIn(cookie, SESSION_COOKIE);
  const csrfToken = cookieIn(cookie, CSRF_COOKIE);
  if (key === null || key === '' || csrfToken === null || csrfToken === '') return null;
  return csrfHeader === csrfToken ? key : null;
}
