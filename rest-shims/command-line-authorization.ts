import {
  type AuthorizationForm,
  type AuthorizationStep,
  authorizeLogin,
  checkAuthorization,
  findLoginIssuer,
  readLoginToken,
  issueLoginTokens,
  registerLoginClient,
  revokeLoginToken,
  type TokenRequest,
} from '../resolvers/command-line-authorization.ts';
import type { LoginToken } from '../resolvers/operation/command-line-tokens.ts';
import type { AuthorizationRequest } from '../src/domain/command-line-sessions/authorization.ts';
import {
  AUTH_METHOD,
  type ClientMetadata,
  GRANT_TYPES,
  RESPONSE_TYPES,
} from '../src/domain/command-line-sessions/login-client.ts';
import { OauthFailure } from '../src/domain/command-line-sessions/oauth-failure.ts';
import { Forbidden, InvalidInput } from '../src/domain/errors.ts';
import { SUCCESS } from './errors.ts';
import { fields, MISSING, text, texts } from './helpers/http/body-fields.ts';
import { HeaderLines } from './helpers/http/header-lines.ts';
import { OAUTH_HEADERS } from './helpers/http/oauth-errors.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { merged, requiredParameters, textParameters } from './helpers/http/schema.ts';
import { cookieOf } from './helpers/http/session-cookie.ts';
import { requestBase } from './helpers/mcp/arrival.ts';
import { authorizationPage, teamPage } from './helpers/pages/command-line-authorization.ts';

const MEDIA_TYPE = 'application/x-www-form-urlencoded';
const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;
/** Cookie that the form repeats. Only pages of this server can read the form. */
const FORM_COOKIE = 'lensgate_login';
const FORM_SECONDS = 600;
const FORM_TOKEN = /^[\w-]{32}$/;

/** Reads parameters. A parameter without a value is absent (RFC 6749, section 3.1). Throws OauthFailure. */
type Parameters = (name: string) => string | null;

const parametersOf =
  (values: URLSearchParams): Parameters =>
  (name) => {
    const sent = values.getAll(name);
    if (sent.length > 1) throw new OauthFailure('invalid_request', `${name} was sent more than once.`);
    return sent[0] === undefined || sent[0] === '' ? null : sent[0];
  };

/** Parameters of a form. Throws OauthFailure for another media type. */
function formOf({ headers, body }: HttpRequest): Parameters {
  if (!FORM.test(headers['content-type'] ?? ''))
    throw new OauthFailure('invalid_request', `The body must have the media type ${MEDIA_TYPE}.`);
  return parametersOf(new URLSearchParams(Buffer.from(body).toString('utf8')));
}

function required(parameter: Parameters, name: string): string {
  const value = parameter(name);
  if (value === null) throw new OauthFailure('invalid_request', `${name} is missing.`);
  return value;
}

/** An authorization request in a query or a form. Throws OauthFailure, and InvalidInput without a redirect URI. */
function authorizationIn(parameter: Parameters, place: 'query' | 'body'): AuthorizationRequest {
  const redirectUri = parameter('redirect_uri');
  if (redirectUri === null)
    throw new InvalidInput('redirect_uri is missing.', [{ path: [place, 'redirect_uri'], ...MISSING }]);
  return {
    responseType: parameter('response_type'),
    clientId: parameter('client_id'),
    redirectUri,
    codeChallenge: parameter('code_challenge'),
    codeChallengeMethod: parameter('code_challenge_method'),
    state: parameter('state'),
    resource: parameter('resource'),
  };
}

/** The token of the form that the browser has; null for none. */
function formToken({ headers }: HttpRequest): string | null {
  const token = cookieOf(headers, FORM_COOKIE);
  return token !== null && FORM_TOKEN.test(token) ? token : null;
}

/** The submitted form of the page. Throws Forbidden for a form of another site, and OauthFailure. */
function readForm(request: HttpRequest): AuthorizationForm {
  const parameter = formOf(request);
  const { 'sec-fetch-site': site = 'same-origin' } = request.headers;
  const token = formToken(request);
  if (site !== 'same-origin' || token === null || parameter('csrf_token') !== token)
    throw new Forbidden('The form has expired, or is of another site. Start the login again.');
  const ticket = parameter('ticket');
  if (ticket !== null) return { kind: 'team', ticket, teamId: required(parameter, 'team_id') };
  const addressed = {
    request: authorizationIn(parameter, 'body'),
    requestBase: requestBase(request.headers),
  };
  if (parameter('decision') === 'refuse') return { ...addressed, kind: 'refusal' };
  const [username, password] = [parameter('username') ?? '', parameter('password') ?? ''];
  return { ...addressed, kind: 'sign-in', username, password };
}

/** Headers that set the token of the form. */
function tokenHeaders(token: string, { headers }: HttpRequest): HeaderLines {
  const secure = headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  // Without a path, the cookie is for the folder of the page, also below a path of a reverse proxy.
  const attributes = `HttpOnly; SameSite=Strict; Max-Age=${FORM_SECONDS}${secure}`;
  return new HeaderLines().addChecked('set-cookie', `${FORM_COOKIE}=${token}; ${attributes}`);
}

function renderStep(step: AuthorizationStep, request: HttpRequest): HttpAnswer {
  switch (step.kind) {
    case 'redirect':
      return {
        status: SUCCESS.seeOther,
        headers: { ...OAUTH_HEADERS, 'referrer-policy': 'no-referrer', location: step.location },
        body: { kind: 'bytes', bytes: new Uint8Array(0), contentType: 'text/plain' },
      };
    case 'sign-in': {
      // Several pages may be open: all of them have the token of the first.
      const token = formToken(request) ?? step.csrfToken;
      return { ...authorizationPage(step, token), headerLines: tokenHeaders(token, request) };
    }
    case 'team':
      return teamPage(step, formToken(request) ?? '');
  }
}

/** A token request. Throws OauthFailure. */
function readTokenRequest(request: HttpRequest): TokenRequest {
  const parameter = formOf(request);
  const grantType = required(parameter, 'grant_type');
  const shared = {
    clientId: required(parameter, 'client_id'),
    resource: parameter('resource'),
    requestBase: requestBase(request.headers),
  };
  switch (grantType) {
    case 'authorization_code':
      return {
        ...shared,
        grantType,
        code: required(parameter, 'code'),
        redirectUri: required(parameter, 'redirect_uri'),
        verifier: required(parameter, 'code_verifier'),
      };
    case 'refresh_token':
      return { ...shared, grantType, refreshToken: required(parameter, 'refresh_token') };
    default:
      throw new OauthFailure('unsupported_grant_type', `grant_type must be ${GRANT_TYPES.join(' or ')}.`);
  }
}

const readMetadata = fields({
  client_name: text,
  redirect_uris: texts,
  grant_types: texts,
  response_types: texts,
  token_endpoint_auth_method: text,
});

/** Client metadata. Throws OauthFailure. */
function readRegistration({ body }: HttpRequest): ClientMetadata {
  try {
    const { client_name, redirect_uris, grant_types, response_types, token_endpoint_auth_method } = readMetadata(body);
    return {
      name: client_name,
      redirectUris: redirect_uris,
      grantTypes: grant_types,
      responseTypes: response_types,
      authMethod: token_endpoint_auth_method,
    };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const names = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new OauthFailure('invalid_client_metadata', names.join('; '));
  }
}

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** A token as its issuer sees it (RFC 7662, section 2.2). */
function introspectionObject(token: LoginToken | null) {
  if (token === null) return { active: false };
  const { kind, session, expiresAt } = token;
  return {
    active: true,
    token_type: kind === 'access_token' ? 'Bearer' : kind,
    sub: session.userId,
    team_id: session.teamId,
    client_name: session.clientName,
    iat: secondsOf(session.renewedAt),
    ...(expiresAt === null ? {} : { exp: secondsOf(expiresAt) }),
  };
}

function readRevocation(request: HttpRequest) {
  const parameter = formOf(request);
  return { token: required(parameter, 'token'), clientId: parameter('client_id') };
}

const REQUEST = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
  'resource',
] as const;
const FORM_FIELDS = ['csrf_token', 'ticket', 'team_id', 'decision', 'username', 'password'] as const;
const ROW = { surface: 'management', credential: 'none', failureForm: { body: 'oauth' } } as const;
const PAGE = { ...ROW, failureForm: { body: 'oauth', page: 'login' } } as const;
const POSTED = { ...ROW, method: 'POST', bodyLimit: 16 * 1024 } as const;

/** Login of command lines by an authorization code with PKCE (RFC 6749, 7009, 7591, 7636, 8252). */
export const commandLineAuthorizationRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    method: 'GET',
    name: 'commandLineAuthorization.endpoints',
    paths: ['/.well-known/litellm-cli-auth'],
    statuses: [200],
    bodyLimit: 0,
    parse: ({ headers }) => ({ requestBase: requestBase(headers) }),
    run: findLoginIssuer,
    render: (base) =>
      json(
        {
          contract_version: 1,
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          revocation_endpoint: `${base}/revoke`,
          resource: base,
          response_types_supported: RESPONSE_TYPES,
          grant_types_supported: GRANT_TYPES,
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: [AUTH_METHOD],
          revocation_endpoint_auth_methods_supported: [AUTH_METHOD],
        },
        OAUTH_HEADERS,
      ),
  }),
  route({
    ...POSTED,
    name: 'commandLineAuthorization.register',
    paths: ['/register'],
    statuses: [201, 400, 429],
    bodySchema: readMetadata.schema,
    parse: readRegistration,
    run: registerLoginClient,
    render: ({ id, issuedAt, name, redirectUris }) => ({
      ...json(
        {
          client_id: id,
          client_id_issued_at: Math.floor(issuedAt.getTime() / 1_000),
          client_name: name,
          redirect_uris: redirectUris,
          grant_types: GRANT_TYPES,
          response_types: RESPONSE_TYPES,
          token_endpoint_auth_method: AUTH_METHOD,
        },
        OAUTH_HEADERS,
      ),
      status: SUCCESS.created,
    }),
  }),
  route({
    ...PAGE,
    method: 'GET',
    name: 'commandLineAuthorization.page',
    paths: ['/authorize'],
    statuses: [200, 303, 400, 422],
    querySchema: textParameters(...REQUEST),
    bodyLimit: 0,
    parse: ({ search, headers }) => ({
      request: authorizationIn(parametersOf(new URLSearchParams(search)), 'query'),
      requestBase: requestBase(headers),
    }),
    run: checkAuthorization,
    render: renderStep,
  }),
  route({
    ...POSTED,
    ...PAGE,
    name: 'commandLineAuthorization.form',
    paths: ['/authorize'],
    statuses: [200, 303, 400, 401, 403, 422, 429],
    bodySchema: textParameters(...REQUEST, ...FORM_FIELDS),
    bodyType: MEDIA_TYPE,
    parse: readForm,
    run: authorizeLogin,
    render: renderStep,
  }),
  route({
    ...POSTED,
    name: 'commandLineAuthorization.token',
    paths: ['/token'],
    statuses: [200, 400, 429],
    bodySchema: merged(
      requiredParameters('grant_type', 'client_id'),
      textParameters('resource', 'code', 'redirect_uri', 'code_verifier', 'refresh_token'),
    ),
    bodyType: MEDIA_TYPE,
    parse: readTokenRequest,
    run: issueLoginTokens,
    render: ({ token, refreshToken, seconds, userId, teamId }) =>
      json(
        {
          access_token: token,
          token_type: 'Bearer',
          expires_in: seconds,
          refresh_token: refreshToken,
          user_id: userId,
          team_id: teamId,
        },
        OAUTH_HEADERS,
      ),
  }),
  route({
    ...POSTED,
    name: 'commandLineAuthorization.revoke',
    paths: ['/revoke'],
    statuses: [200, 400, 401, 429],
    bodySchema: requiredParameters('token', 'client_id'),
    bodyType: MEDIA_TYPE,
    parse: readRevocation,
    run: revokeLoginToken,
    render: () => json({}, OAUTH_HEADERS),
  }),
  route({
    ...POSTED,
    credential: 'required',
    name: 'commandLineAuthorization.introspect',
    paths: ['/introspect'],
    statuses: [200, 400, 401, 429],
    bodySchema: requiredParameters('token'),
    bodyType: MEDIA_TYPE,
    parse: (request) => ({ token: required(formOf(request), 'token') }),
    run: readLoginToken,
    render: (token) => json(introspectionObject(token), OAUTH_HEADERS),
  }),
];
