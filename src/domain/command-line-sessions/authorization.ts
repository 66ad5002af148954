import type { KeyGenerator } from '../keys/virtual-key.ts';
import type { StoredSignIn } from '../users/session.ts';
import { allowsRedirect, type LoginClient } from './login-client.ts';
import { OauthFailure, type OauthFault } from './oauth-failure.ts';

/** Maximum length of `state`, in characters. */
const MAX_STATE_LENGTH = 1_024;
/** Base64url of a SHA-256 hash (RFC 7636, section 4.2). */
const CHALLENGE = /^[\w-]{43}$/;
const VERIFIER = /^[\w\-.~]{43,128}$/;

/** Parameters of an authorization request, as the browser sends them. Null: absent. */
export interface AuthorizationRequest {
  readonly responseType: string | null;
  readonly clientId: string | null;
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
  readonly codeChallengeMethod: string | null;
  readonly state: string | null;
  readonly resource: string | null;
}

/** Facts of a request that the code of its sign-in is bound to. */
export interface AuthorizedRequest {
  readonly clientHash: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string | null;
}

/** What an authorization code stands for. */
export interface LoginGrant extends AuthorizedRequest {
  readonly signed: StoredSignIn;
  readonly teamId: string | null;
  /** Whether the session ends when its user leaves the team. */
  readonly needsMembership: boolean;
}

/** A sign-in of a person with several teams, before one of them is selected. */
export interface PendingGrant extends AuthorizedRequest {
  readonly signed: StoredSignIn;
}

/**
 * Checks the members that decide where the browser may be sent. Until then, a failure is shown to the person. Throws
 * OauthFailure.
 */
export function assertRedirect(
  { redirectUri, state }: AuthorizationRequest,
  client: LoginClient | null,
): asserts client is LoginClient {
  if (client === null)
    throw new OauthFailure(
      'invalid_request',
      'The client is unknown, or its registration has expired. Start the login again.',
    );
  if (!allowsRedirect(client, redirectUri))
    throw new OauthFailure('invalid_request', 'The client did not register this redirect_uri.');
  if (state !== null && state.length > MAX_STATE_LENGTH)
    throw new OauthFailure('invalid_request', `state must have at most ${MAX_STATE_LENGTH} characters.`);
}

/** Whether a resource (RFC 8707) is the server itself. An absent one is. */
export const isOwnResource = (resource: string | null, base: string): boolean =>
  resource === null || (resource.startsWith(base) && /^\/*$/.test(resource.slice(base.length)));

/** Why the client gets no code; null for a correct request. */
export function authorizationFault(
  { responseType, codeChallenge, codeChallengeMethod, resource }: AuthorizationRequest,
  base: string,
): { readonly fault: OauthFault; readonly message: string } | null {
  if (responseType === null) return { fault: 'invalid_request', message: 'response_type is missing.' };
  if (responseType !== 'code') return { fault: 'unsupported_response_type', message: 'response_type must be code.' };
  if (codeChallengeMethod !== 'S256')
    return { fault: 'invalid_request', message: 'code_challenge_method must be S256.' };
  if (codeChallenge === null || !CHALLENGE.test(codeChallenge))
    return { fault: 'invalid_request', message: 'code_challenge must be a SHA-256 hash as base64url.' };
  if (!isOwnResource(resource, base)) return { fault: 'invalid_target', message: `resource must be ${base}.` };
  return null;
}

/** Whether a verifier is the one of a challenge with the method `S256`. */
export const isVerifier = (
  verifier: string,
  challenge: string,
  { hash, same }: Pick<KeyGenerator, 'hash' | 'same'>,
): boolean => VERIFIER.test(verifier) && same(Buffer.from(hash(verifier), 'hex').toString('base64url'), challenge);

/** Address that the browser is sent to, with the answer to the client. Null parameters are left out. */
export function callbackAddress(redirectUri: string, answer: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== null) query.append(name, value);
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query.toString()}`;
}
