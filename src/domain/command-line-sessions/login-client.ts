import { OauthFailure } from './oauth-failure.ts';

/** Lifetime of a registration, in seconds: 90 days. */
export const CLIENT_SECONDS = 90 * 24 * 3_600;
/** Maximum number of redirect URIs of a client. */
const MAX_REDIRECT_URIS = 5;
/** Maximum length of a redirect URI and of the name of a client, in characters. */
const MAX_URI_LENGTH = 255;
const MAX_NAME_LENGTH = 100;

/** A public OAuth client on the computer of its user (RFC 8252), such as the command line. */
export interface LoginClient {
  /** Name that the sign-in page shows. The client chooses it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/**
 * Ids of clients. An id contains its registration, so that registrations take no space in the database. Any process of
 * the installation reads it.
 */
export interface LoginClients {
  /** The id of a client. */
  issue(client: LoginClient): { readonly id: string; readonly issuedAt: Date };
  /** The client of an id; null for an invalid id and after `CLIENT_SECONDS`. */
  find(id: string): LoginClient | null;
}

/** Client metadata of a registration request (RFC 7591). Absent members are null or empty. */
export interface ClientMetadata {
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly responseTypes: readonly string[];
  readonly authMethod: string | null;
}

export const GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token'];
export const RESPONSE_TYPES: readonly string[] = ['code'];
export const AUTH_METHOD = 'none';

/** A redirect URI to this computer. The path has no fragment and no characters that need escaping in a header. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?(\/[\w\-.~!$&'()*+,;=:@%/?]*)?$/;
const MAX_PORT = 65_535;
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Host and path of a loopback redirect URI; null for any other text. */
function loopbackParts(uri: string): { readonly host: string; readonly path: string } | null {
  const [, host, port = '80', path = '/'] = LOOPBACK.exec(uri) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= MAX_PORT;
  return host === undefined || !isPort || uri.length > MAX_URI_LENGTH ? null : { host, path };
}

/** Whether the client registered the redirect URI. Ports are not compared (RFC 8252, section 7.3). */
export function allowsRedirect({ redirectUris }: LoginClient, uri: string): boolean {
  const requested = loopbackParts(uri);
  if (requested === null) return false;
  return redirectUris.some((registered) => {
    const parts = loopbackParts(registered);
    return parts?.host === requested.host && parts.path === requested.path;
  });
}

/** The client of a registration. Throws OauthFailure. */
export function registeredClient({
  name,
  redirectUris,
  grantTypes,
  responseTypes,
  authMethod,
}: ClientMetadata): LoginClient {
  if (redirectUris.length === 0 || redirectUris.length > MAX_REDIRECT_URIS)
    throw new OauthFailure('invalid_redirect_uri', `redirect_uris must have 1 to ${MAX_REDIRECT_URIS} items.`);
  for (const uri of redirectUris)
    if (loopbackParts(uri) === null)
      throw new OauthFailure(
        'invalid_redirect_uri',
        `A redirect URI must be an http address of 127.0.0.1, [::1] or localhost of at most ${MAX_URI_LENGTH} characters.`,
      );
  const shown = name ?? 'unnamed client';
  if (shown.trim() === '' || shown.length > MAX_NAME_LENGTH || NOT_SHOWN.test(shown))
    throw new OauthFailure(
      'invalid_client_metadata',
      `client_name must have 1 to ${MAX_NAME_LENGTH} visible characters.`,
    );
  if (!grantTypes.every((type) => GRANT_TYPES.includes(type)))
    throw new OauthFailure('invalid_client_metadata', `grant_types may have ${GRANT_TYPES.join(' and ')}.`);
  if (!responseTypes.every((type) => RESPONSE_TYPES.includes(type)))
    throw new OauthFailure('invalid_client_metadata', 'response_types may have code.');
  if (authMethod !== null && authMethod !== AUTH_METHOD)
    throw new OauthFailure('invalid_client_metadata', 'token_endpoint_auth_method must be none.');
  return { name: shown, redirectUris };
}
