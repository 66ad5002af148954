import {
  assertRedirect,
  authorizationFault,
  type AuthorizationRequest,
  type AuthorizedRequest,
  callbackAddress,
  isOwnResource,
  type PendingGrant,
} from '../src/domain/command-line-sessions/authorization.ts';
import {
  type ClientMetadata,
  type LoginClient,
  registeredClient,
} from '../src/domain/command-line-sessions/login-client.ts';
import { OauthFailure, UnknownLoginClient } from '../src/domain/command-line-sessions/oauth-failure.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { SignedIn } from '../src/domain/users/session.ts';
import type { SignIn } from '../src/domain/users/sign-in.ts';
import { sessionUserOf } from '../src/domain/command-line-sessions/command-line-session.ts';
import { anyone, isAnyAdmin } from './operation/access.ts';
import { commandLineSessionReader } from './operation/command-line-session-access.ts';
import {
  type CodeExchange,
  endSessions,
  exchangeGrant,
  findLoginToken,
  type IssuedTokens,
  type LoginToken,
  type Renewal,
  renewSession,
  sessionOfKey,
  sessionOfToken,
} from './operation/command-line-tokens.ts';
import { chosenTeam, type NamedTeam, teamsOf, withKey } from './operation/login-teams.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import type { SignInPlatform } from './operation/sign-in-platform.ts';
import { checkSignIn } from './operation/sign-in-sessions.ts';

type SignInScope = Scope<SignInPlatform>;

/** Address of the server as the client of a request knows it. */
interface Addressed {
  readonly requestBase: string;
}

const baseOf = ({ platform: { signIns } }: SignInScope, { requestBase }: Addressed): string =>
  signIns.publicUrl ?? requestBase;

/** Address of the server: issuer, resource, and start of the endpoints of the login with PKCE. */
export const findLoginIssuer = operation({
  name: 'findLoginIssuer',
  access: anyone,
  run: (scope: SignInScope, addressed: Addressed): string => baseOf(scope, addressed),
});

/** A registered client. */
export interface RegisteredClient extends LoginClient {
  readonly id: string;
  readonly issuedAt: Date;
}

/** Registers a public client (RFC 7591). Throws OauthFailure and LimitExceeded. */
export const registerLoginClient = operation({
  name: 'registerLoginClient',
  access: anyone,
  run({ platform: { signIns }, client }: SignInScope, metadata: ClientMetadata): RegisteredClient {
    signIns.registrationRateLimiter.count(client.network);
    const registered = registeredClient(metadata);
    return { ...registered, ...signIns.clients.issue(registered) };
  },
});

/** What the browser does next: it goes to the client, or shows a form of this server. */
export type AuthorizationStep =
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'sign-in';
      readonly request: AuthorizationRequest;
      readonly clientName: string;
      /** Text that the form repeats, so that no other site sends it. */
      readonly csrfToken: string;
    }
  | {
      readonly kind: 'team';
      /** Stands for the sign-in, once. */
      readonly ticket: string;
      readonly teams: readonly NamedTeam[];
      readonly clientName: string;
      readonly redirectUri: string;
    };

type AddressedRequest = Addressed & { readonly request: AuthorizationRequest };

/** The client of a request, and the redirect that refuses the request, if it is wrong. Throws OauthFailure. */
function checkedRequest(scope: SignInScope, { request, requestBase }: AddressedRequest) {
  const { clients } = scope.platform.signIns;
  const client = request.clientId === null ? null : clients.find(request.clientId);
  assertRedirect(request, client);
  const fault = authorizationFault(request, baseOf(scope, { requestBase }));
  const refusal = fault === null ? null : refused(request, fault.fault, fault.message);
  return { client, refusal };
}

const refused = (
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  error: string,
  message: string,
): AuthorizationStep => ({
  kind: 'redirect',
  location: callbackAddress(redirectUri, { error, error_description: message, state }),
});

/** Checks an authorization request of a browser. Throws OauthFailure if the browser must not be sent to the client. */
export const checkAuthorization = operation({
  name: 'checkAuthorization',
  access: anyone,
  run(scope: SignInScope, input: AddressedRequest): AuthorizationStep {
    const { client, refusal } = checkedRequest(scope, input);
    if (refusal !== null) return refusal;
    const csrfToken = scope.platform.keyGenerator.token();
    return { kind: 'sign-in', request: input.request, clientName: client.name, csrfToken };
  },
});

/** Form of a person: name and password, the selected team, or a refusal. */
export type AuthorizationForm =
  | (AddressedRequest & SignIn & { readonly kind: 'sign-in' })
  | (AddressedRequest & { readonly kind: 'refusal' })
  | { readonly kind: 'team'; readonly ticket: string; readonly teamId: string };

/**
 * Takes the form of a person. With several teams, the person must select one. Throws OauthFailure, and what `signIn`
 * throws. Throws Forbidden for a team of which the person is no member.
 */
export const authorizeLogin = operation({
  name: 'authorizeLogin',
  access: anyone,
  async run(scope: SignInScope, form: AuthorizationForm): Promise<AuthorizationStep> {
    if (form.kind === 'team') return selectTeam(scope, form);
    const { request } = form;
    const { client, refusal } = checkedRequest(scope, form);
    if (refusal !== null) return refusal;
    if (form.kind === 'refusal') return refused(request, 'access_denied', 'The person refused the sign-in.');
    const signed = await checkSignIn(scope, form);
    scope.platform.signIns.authorizationRateLimiter.count(signed.userId);
    const authorized: AuthorizedRequest = {
      clientHash: scope.platform.keyGenerator.hash(request.clientId ?? ''),
      clientName: client.name,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge ?? '',
      state: request.state,
    };
    const teams = await teamsOf(scope, signed);
    if (teams.length <= 1)
      return grant(scope, { ...authorized, signed: storedSignIn(signed) }, signed, teams[0] ?? null);
    const ticket = await scope.platform.signIns.teamChoices.issue({ ...authorized, signed: storedSignIn(signed) });
    return { kind: 'team', ticket, teams, clientName: client.name, redirectUri: request.redirectUri };
  },
});

const storedSignIn = ({ userId, role, openedBy, key }: SignedIn): PendingGrant['signed'] => ({
  userId,
  role,
  openedBy,
  secretHash: key?.secretHash ?? null,
});

async function selectTeam(
  scope: SignInScope,
  { ticket, teamId }: Extract<AuthorizationForm, { readonly kind: 'team' }>,
): Promise<AuthorizationStep> {
  const pending = await scope.platform.signIns.teamChoices.take(ticket);
  if (pending === null)
    throw new OauthFailure('invalid_request', 'The sign-in was completed or has expired. Start the login again.');
  const signed = await withKey(scope, pending.signed);
  return grant(scope, pending, signed, chosenTeam(await teamsOf(scope, signed), teamId));
}

/** Sends the browser to the client with a code. The session of a team ends with the membership of the user. */
async function grant(
  { platform: { signIns } }: SignInScope,
  pending: PendingGrant,
  { key }: SignedIn,
  team: NamedTeam | null,
): Promise<AuthorizationStep> {
  const teamId = team?.id ?? nullIfBlank(key?.teamId);
  const code = await signIns.grants.issue({ ...pending, teamId, needsMembership: team !== null });
  return { kind: 'redirect', location: callbackAddress(pending.redirectUri, { code, state: pending.state }) };
}

/**
 * Counts a request for or about tokens. Requests of a registered client count together, others by network: all clients
 * behind a proxy may have one network. All requests of a network have a higher limit. Throws LimitExceeded.
 */
function countTokenRequest({ platform: { signIns, keyGenerator }, client }: SignInScope, clientId: string): void {
  const { clients, clientRateLimiter, networkRateLimiter, tokenRateLimiter } = signIns;
  if (clients.find(clientId) === null) return tokenRateLimiter.count(client.network);
  clientRateLimiter.count(keyGenerator.hash(clientId));
  networkRateLimiter.count(client.network);
}

/** A request for tokens, with the resource (RFC 8707) that it names. */
export type TokenRequest = Addressed & { readonly resource: string | null } & (
    | (CodeExchange & { readonly grantType: 'authorization_code' })
    | (Renewal & { readonly grantType: 'refresh_token' })
  );

/** Issues a key and a refresh token. Throws OauthFailure and LimitExceeded. */
export const issueLoginTokens = operation({
  name: 'issueLoginTokens',
  access: anyone,
  run(scope: SignInScope, request: TokenRequest): Promise<IssuedTokens> {
    countTokenRequest(scope, request.clientId);
    const base = baseOf(scope, request);
    if (!isOwnResource(request.resource, base)) throw new OauthFailure('invalid_target', `resource must be ${base}.`);
    return request.grantType === 'refresh_token' ? renewSession(scope, request) : exchangeGrant(scope, request);
  },
});

/** A token that its client revokes. */
interface Revocation {
  readonly clientId: string | null;
  readonly token: string;
}

/**
 * Ends the session of a refresh token or of a key, with all its keys (RFC 7009). An unknown token is no failure. Throws
 * UnknownLoginClient and LimitExceeded.
 */
export const revokeLoginToken = operation({
  name: 'revokeLoginToken',
  access: anyone,
  async run(scope: SignInScope, { clientId, token }: Revocation): Promise<void> {
    const { signIns, keyGenerator } = scope.platform;
    if (clientId === null) throw new UnknownLoginClient();
    countTokenRequest(scope, clientId);
    const session = (await sessionOfToken(scope, token)) ?? (await sessionOfKey(scope, token));
    // The registration may have expired before the session.
    const isClient =
      session === null
        ? signIns.clients.find(clientId) !== null
        : keyGenerator.same(keyGenerator.hash(clientId), session.clientHash);
    if (!isClient) throw new UnknownLoginClient();
    if (session !== null) await signIns.authored(() => endSessions(scope, [session]));
  },
});

/**
 * Finds the valid token of a login (RFC 7662). Null for any other text, and for a token of another user unless the
 * caller is an administrator. Throws LimitExceeded.
 */
export const readLoginToken = operation({
  name: 'readLoginToken',
  access: commandLineSessionReader,
  async run(scope: SignInScope, { token }: { readonly token: string }): Promise<LoginToken | null> {
    scope.platform.signIns.tokenRateLimiter.count(scope.client.network);
    const caller = callerOf(scope);
    const found = await findLoginToken(scope, token);
    const isShown = found !== null && (isAnyAdmin(caller) || found.session.userId === sessionUserOf(caller));
    return isShown ? found : null;
  },
});
