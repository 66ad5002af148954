import { join } from 'node:path';
import { type Host, variable } from '../host.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { numberOrNull, textOrNull } from '../values.ts';
import { liteFolder } from './config-file.ts';
import { makePrivateFolder, readText, removeFile, replaceText } from './private-files.ts';

const loginFile = (host: Pick<Host, 'home'>): string => join(liteFolder(host), 'token.json');

/** Data of a PKCE login for the renewal and the revocation of its key. */
export interface Renewal {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  readonly resource: string;
}

export interface StoredLogin {
  /** Server that issued the key. The key is sent to no other server. */
  readonly baseUrl: string;
  /** Null where the key is in the keychain of the system, which this command cannot read. */
  readonly key: string | null;
  readonly userId: string | null;
  readonly userEmail: string | null;
  readonly userRole: string | null;
  readonly teamId: string | null;
  /** Time of the sign-in or the last renewal, Unix s. */
  readonly timestamp: number;
  /** End of the key, Unix s. Null for a login by the browser flow: see `loginHours`. */
  readonly expiresAt: number | null;
  readonly renewal: Renewal | null;
}

function renewalOf(members: JsonObject): Renewal | null {
  const [refreshToken, clientId] = [textOrNull(members['refresh_token']), textOrNull(members['client_id'])];
  const tokenEndpoint = textOrNull(members['token_endpoint']);
  if (refreshToken === null || clientId === null || tokenEndpoint === null) return null;
  const resource = textOrNull(members['resource']) ?? textOrNull(members['base_url']) ?? '';
  return {
    refreshToken,
    clientId,
    tokenEndpoint,
    revocationEndpoint: textOrNull(members['revocation_endpoint']),
    resource,
  };
}

/** The stored login; null for none. A damaged file is ignored, with a warning on stderr. */
export function readLogin(host: Host): StoredLogin | null {
  const path = loginFile(host);
  try {
    const text = readText(path);
    if (text === null) return null;
    const members: unknown = JSON.parse(text);
    if (!isJsonObject(members)) throw new Error('the file is no JSON object');
    const baseUrl = textOrNull(members['base_url']);
    if (baseUrl === null) return null;
    return {
      baseUrl,
      key: textOrNull(members['key']) ?? textOrNull(members['jwt_token']),
      userId: textOrNull(members['user_id']),
      userEmail: textOrNull(members['user_email']),
      userRole: textOrNull(members['user_role']),
      teamId: textOrNull(members['team_id']),
      timestamp: numberOrNull(members['timestamp']) ?? 0,
      expiresAt: numberOrNull(members['expires_at']),
      renewal: renewalOf(members),
    };
  } catch (error) {
    // The message of the JSON parser would repeat a part of the file, which may be a key.
    const reason = error instanceof SyntaxError ? 'it is no JSON' : (error as Error).message;
    host.terminal.note(`Warning: ignoring ${path}: ${reason}`);
    return null;
  }
}

/** Replaces the stored login in one step. A failed write keeps the former login. */
export function writeLogin(host: Host, login: StoredLogin): void {
  const { renewal } = login;
  const members = {
    base_url: login.baseUrl,
    key: login.key,
    user_id: login.userId,
    user_email: login.userEmail,
    user_role: login.userRole,
    auth_header_name: 'Authorization',
    jwt_token: login.key,
    timestamp: login.timestamp,
    ...(login.expiresAt === null ? {} : { expires_at: login.expiresAt }),
    ...(login.teamId === null ? {} : { team_id: login.teamId }),
    ...(renewal === null
      ? {}
      : {
          refresh_token: renewal.refreshToken,
          client_id: renewal.clientId,
          token_endpoint: renewal.tokenEndpoint,
          ...(renewal.revocationEndpoint === null ? {} : { revocation_endpoint: renewal.revocationEndpoint }),
          resource: renewal.resource,
        }),
  };
  makePrivateFolder(liteFolder(host));
  replaceText(loginFile(host), `${JSON.stringify(members, null, 2)}\n`);
}

/** Removes the stored login. Returns whether there was one. */
export const removeLogin = (host: Host): boolean => removeFile(loginFile(host));

const DEFAULT_HOURS = 24;

/** Lifetime of the key of a browser login, in hours. */
export function loginHours(host: Host): number {
  const text = variable(host, 'LITELLM_CLI_JWT_EXPIRATION_HOURS') ?? variable(host, 'CLI_JWT_EXPIRATION_HOURS');
  const hours = Number(text ?? DEFAULT_HOURS);
  return Number.isFinite(hours) && hours > 0 ? hours : DEFAULT_HOURS;
}

/** Whether the key of a login is past its lifetime. */
export function isExpired(host: Host, { expiresAt, timestamp }: StoredLogin): boolean {
  const now = host.nowMs() / 1_000;
  return expiresAt === null ? now - timestamp > loginHours(host) * 3_600 : now >= expiresAt;
}

/** Message after a login that says where the login is stored. */
export function storageNotice(host: Host): string {
  const place = `Credential stored in ${loginFile(host)} (owner-only).`;
  return variable(host, 'LITELLM_CLI_DISABLE_KEYRING') === null
    ? `No OS keychain available. ${place}`
    : `Keychain storage is off (LITELLM_CLI_DISABLE_KEYRING). ${place}`;
}

export const KEYCHAIN_NOTICE =
  "Your credential is in your OS keychain, which this command cannot read. Run 'lite login' to start over.";
