import type { Scope } from '../resolvers/operation/scope.ts';
import { exchangeCode, signIn, signInForCode, signOut } from '../resolvers/sign-in.ts';
import { type Session, SESSION_SECONDS } from '../src/domain/users/session.ts';
import { getPageSettings } from '../resolvers/setting-groups.ts';
import { Forbidden, InvalidInput } from '../src/domain/errors.ts';
import { CODE_SECONDS } from '../src/domain/users/one-time-codes.ts';
import type { SignIn } from '../src/domain/users/sign-in.ts';
import { SUCCESS } from './errors.ts';
import { fields, requiredText, text } from './helpers/http/body-fields.ts';
import { HeaderLines } from './helpers/http/header-lines.ts';
import { CSRF_COOKIE, SESSION_COOKIE } from './helpers/http/session-cookie.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { isCrossSiteNavigation, LOGIN_ID } from './helpers/fields/sign-in.ts';
import { signInPage } from './helpers/pages/sign-in.ts';

const readJson = fields({ username: requiredText, password: requiredText });

const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

/** Name and password of a form or a JSON body. Throws InvalidInput, and Forbidden for a form of another site. */
function readSignIn(request: HttpRequest): SignIn {
  if (isCrossSiteNavigation(request)) throw new Forbidden('Sign in on a page of this server.');
  const { headers, body } = request;
  if (!FORM.test(headers['content-type'] ?? '')) return readJson(body);
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'));
  return { username: form.get('username') ?? '', password: form.get('password') ?? '' };
}

const readCodeField = fields({ code: text });

/** The code of an exchange. Throws InvalidInput. */
function readCode({ body }: HttpRequest): string {
  const { code } = readCodeField(body);
  if (code === null || code === '') throw new InvalidInput('Missing required parameter: code.');
  return code;
}

/** Id of the command line login that opened the page; null for a sign-in in the browser. */
function commandLineLoginId(search: string): string | null {
  const query = new URLSearchParams(search);
  const id = query.get('key') ?? '';
  return query.get('source') === 'litellm-cli' && LOGIN_ID.test(id) ? id : null;
}

/** Page after a sign-in. The redirect from `/login` is relative, for servers below a path of a reverse proxy. */
const TARGET = '/ui?login=success';
const RELATIVE_TARGET = 'ui?login=success';

/** Headers that set the cookies of a session. The CSRF cookie is not HttpOnly: scripts send its value in a header. */
function sessionCookies({ token, csrfToken }: Session, { headers }: HttpRequest): HeaderLines {
  const secure = headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  const shared = `Path=/; SameSite=Strict; Max-Age=${SESSION_SECONDS}${secure}`;
  return new HeaderLines()
    .addChecked('cache-control', 'no-store')
    .addChecked('set-cookie', `${SESSION_COOKIE}=${token}; HttpOnly; ${shared}`)
    .addChecked('set-cookie', `${CSRF_COOKIE}=${csrfToken}; ${shared}`);
}

/** Headers that remove the cookies of a session. */
const REMOVED_COOKIES = new HeaderLines()
  .addChecked('cache-control', 'no-store')
  .addChecked('set-cookie', `${SESSION_COOKIE}=; HttpOnly; Path=/; SameSite=Strict; Max-Age=0`)
  .addChecked('set-cookie', `${CSRF_COOKIE}=; Path=/; SameSite=Strict; Max-Age=0`);

const ROW = { surface: 'management', credential: 'none', failureForm: { body: 'model' } } as const;
const SIGNING_IN = { ...ROW, method: 'POST', bodyLimit: 16 * 1024 } as const;

/** Operation of the pages, open to everyone. Its result is not used: the pages show no setting. */
const runForPage = (scope: Scope) => getPageSettings(scope, undefined);

/** Sign-in of users of the dashboard. */
export const signInRoutes: readonly RouteRow[] = [
  route({
    ...SIGNING_IN,
    name: 'signIn.form',
    bodySchema: readJson.schema,
    bodyType: 'application/x-www-form-urlencoded',
    paths: ['/login'],
    statuses: [303, 401, 403, 422, 429],
    failureForm: { body: 'model', page: 'sign-in' },
    parse: readSignIn,
    run: signIn,
    render: (session, request) => ({
      status: SUCCESS.seeOther,
      headers: { location: RELATIVE_TARGET },
      headerLines: sessionCookies(session, request),
      body: { kind: 'bytes', bytes: new Uint8Array(0), contentType: 'text/plain' },
    }),
  }),
  route({
    ...SIGNING_IN,
    name: 'signIn.json',
    bodySchema: readJson.schema,
    paths: ['/v2/login'],
    statuses: [200, 401, 403, 422, 429],
    parse: readSignIn,
    run: signIn,
    render: (session, request) => ({
      headerLines: sessionCookies(session, request),
      body: { kind: 'json', value: { redirect_url: TARGET, token: session.token } },
    }),
  }),
  route({
    ...SIGNING_IN,
    name: 'signIn.code',
    bodySchema: readJson.schema,
    paths: ['/v3/login'],
    statuses: [200, 401, 403, 404, 422, 429],
    parse: readSignIn,
    run: signInForCode,
    render: (code) => json({ code, expires_in: CODE_SECONDS }, { 'cache-control': 'no-store' }),
  }),
  route({
    ...SIGNING_IN,
    name: 'signIn.exchange',
    bodySchema: readCodeField.schema,
    paths: ['/v3/login/exchange'],
    statuses: [200, 400, 401, 404, 422],
    parse: readCode,
    run: exchangeCode,
    render: ({ token }) => json({ token, redirect_url: TARGET }, { 'cache-control': 'no-store' }),
  }),
  route({
    ...SIGNING_IN,
    credential: 'required',
    name: 'signIn.end',
    paths: ['/logout', '/session/logout'],
    statuses: [200, 401, 403],
    parse: () => undefined,
    run: signOut,
    render: () => ({ headerLines: REMOVED_COOKIES, body: { kind: 'json', value: { message: 'Signed out.' } } }),
  }),
  route({
    ...ROW,
    method: 'GET',
    name: 'signIn.page',
    paths: ['/fallback/login', '/sso/key/generate'],
    statuses: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: runForPage,
    render: (_settings, { path, search }) => signInPage(path, commandLineLoginId(search)),
  }),
];
