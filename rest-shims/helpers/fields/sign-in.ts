import type { HttpRequest } from '../http/route.ts';

/** Ids of logins. */
export const LOGIN_ID = /^cli-[\w-]{1,64}$/;

/** Whether the request comes from a page of another site, which could sign users in under a name that it chooses. */
export const isForeign = ({ headers }: HttpRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] === 'navigate';
