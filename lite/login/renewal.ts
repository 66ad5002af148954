import { CommandFailure, HttpFailure, textOf } from '../failure.ts';
import { readLogin, type StoredLogin, writeLogin } from '../files/login-file.ts';
import type { Host } from '../host.ts';
import { createClient } from '../server/client.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { numberOrNull, textOrNull } from '../values.ts';

/** A key is renewed when it expires in less than this time, in s. */
const RENEW_BEFORE_S = 360;

/** Answer of a token endpoint. */
export interface IssuedTokens {
  readonly key: string;
  readonly refreshToken: string;
  /** Lifetime of the key, in s. */
  readonly expiresIn: number;
  readonly userId: string | null;
  readonly teamId: string | null;
}

/** Reads the answer of a token endpoint. Throws CommandFailure where a required member is absent. */
export function readTokens(answer: unknown): IssuedTokens {
  const members = jsonObjectOf(answer);
  const [key, refreshToken] = [textOrNull(members['access_token']), textOrNull(members['refresh_token'])];
  const expiresIn = numberOrNull(members['expires_in']);
  if (!key || !refreshToken || expiresIn === null)
    throw new CommandFailure('The token endpoint answered without access_token, refresh_token or expires_in.');
  const [userId, teamId] = [textOrNull(members['user_id']), textOrNull(members['team_id'])];
  return { key, refreshToken, expiresIn, userId, teamId };
}

/** Sends a form without an API key. */
export const postForm = (endpoint: string, form: Readonly<Record<string, string>>): Promise<unknown> => {
  const url = new URL(endpoint);
  return createClient(url.origin, null).send('POST', url.pathname + url.search, { form });
};

/**
 * Key of a stored login. Renews a key that expires soon. Null for an unreadable key, and for an expired key after a
 * failed renewal.
 */
export async function freshKey(host: Host, login: StoredLogin): Promise<string | null> {
  const { renewal, expiresAt, key } = login;
  if (renewal === null || expiresAt === null) return key;
  const remaining = expiresAt - host.nowMs() / 1_000;
  if (remaining > RENEW_BEFORE_S) return key;
  try {
    const answer = await postForm(renewal.tokenEndpoint, {
      grant_type: 'refresh_token',
      refresh_token: renewal.refreshToken,
      client_id: renewal.clientId,
      resource: renewal.resource,
    });
    const tokens = readTokens(answer);
    const now = host.nowMs() / 1_000;
    writeLogin(host, {
      ...login,
      key: tokens.key,
      timestamp: now,
      expiresAt: now + tokens.expiresIn,
      renewal: { ...renewal, refreshToken: tokens.refreshToken },
    });
    return tokens.key;
  } catch (error) {
    return keyAfterFailure(host, login, error);
  }
}

/** Key after a failed renewal: a newer key that another process stored, else the current key while it is valid. */
function keyAfterFailure(host: Host, login: StoredLogin, error: unknown): string | null {
  const now = host.nowMs() / 1_000;
  const newer = readLogin(host);
  const isNewer = newer !== null && newer.baseUrl === login.baseUrl && newer.timestamp > login.timestamp;
  if (isNewer && newer.expiresAt !== null && newer.expiresAt > now) return newer.key;
  if (login.expiresAt !== null && login.expiresAt > now) {
    host.terminal.note(`Warning: the key could not be renewed (${textOf(error)}). It is still valid.`);
    return login.key;
  }
  const reason = error instanceof HttpFailure ? error.message : textOf(error);
  host.terminal.note(`Warning: the key has expired and could not be renewed (${reason}). Run 'lite login --pkce'.`);
  return null;
}
