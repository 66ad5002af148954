import { isJsonObject, type JsonObject } from '../json-object.ts';
import { targetFault } from '../pass-through/endpoint.ts';
import { headersFault } from '../pass-through/headers.ts';

/** Methods of a kill switch. */
export const KILL_SWITCH_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The value of a header or a query parameter; null for one that cannot be sent. YAML reads digits as numbers. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;

/** The values of a map that can be sent, as texts; empty for a value that is no map. */
export const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isJsonObject(value) ? value : {}).flatMap(([name, member]) => {
      const text = textOf(member);
      return text === null ? [] : [[name, text]];
    }),
  );

/** `Authorization` for the `auth` of a kill switch: a bearer token, or a user name and a password. */
export function authorizationOf(auth: unknown): Readonly<Record<string, string>> {
  const { token, username, password } = textsIn(auth);
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

/** Whether a value is absent, or a map of values that can be sent. */
const isTextMap = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (isJsonObject(value) && Object.values(value).every((member) => textOf(member) !== null));

/** Why a kill switch cannot be sent, with the name of the member; null when it can. */
export function killSwitchFault({ url, method, headers, query_params: query, auth }: JsonObject): string | null {
  const wrongUrl = typeof url === 'string' ? targetFault(url) : 'is required';
  if (wrongUrl !== null) return `url ${wrongUrl}`;
  const isMethod = typeof method === 'string' && KILL_SWITCH_METHODS.some((one) => one === method.toUpperCase());
  if (method !== undefined && method !== null && !isMethod)
    return `method must be one of ${KILL_SWITCH_METHODS.join(', ')}`;
  if (!isTextMap(headers)) return 'headers must be a map of texts';
  if (!isTextMap(query)) return 'query_params must be a map of texts';
  if (!isTextMap(auth)) return 'auth must be a map of texts';
  const wrongHeaders = headersFault(textsIn(headers));
  if (wrongHeaders !== null) return `headers ${wrongHeaders}`;
  return headersFault(authorizationOf(auth)) === null ? null : 'auth has a character that a header cannot have';
}
