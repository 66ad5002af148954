import type { HttpRequest } from '../http/route.ts';

/** Format of the id of a command line login. */
export const LOGIN_ID = /^cli-[\w-]{1,64}$/;

/**
 * Whether the browser reports that a page of another site sent the form by a navigation, not by a script. Such a page
 * could sign a user in with the attacker's account (login CSRF).
 */
export const isCrossSiteNavigation = ({ headers }: HttpRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] === 'navigate';
