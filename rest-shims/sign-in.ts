import { SESSION_SECONDS, type Session, signIn, type SignIn, signOut } from '../resolvers/sign-in.ts';
import { getPageSettings } from '../resolvers/setting-groups.ts';
import { Forbidden } from '../src/domain/errors.ts';
import { SUCCESS } from './errors.ts';
import { fields, requiredText } from './http/body-fields.ts';
import { CSRF_COOKIE, SESSION_COOKIE } from './http/session-cookie.ts';
import { type HttpRequest, route, type RouteRow } from './http/route.ts';
import { signInPage, welcomePage } from './sign-in-page.ts';

const readJson = fields({ username: requiredText, password: requiredText });

const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

/** Whether a page of another site sent the browser here. It could sign users in with a name of its own choice. */
const isForeign = ({ headers }: HttpRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] === 'navigate';

/** Name and password of a form or a JSON body. Throws Forbidden for a form of another site. */
function readSignIn(request: HttpRequest): SignIn {
  if (isForeign(request)) throw new Forbidden('Sign in on a page of this server.');
  const { headers, body } = request;
  if (!FORM.test(headers['content-type'] ?? '')) return readJson(body);
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'));
  return { username: form.get('username') ?? '', password: form.get('password') ?? '' };
}

/** Where a browser goes after it signed in. */
const TARGET = '/ui?login=success';

/** Headers that set the cookies of a session. */
function cookiesOf({ token, csrfToken }: Session, { headers }: HttpRequest): readonly string[] {
  const secure = headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  const shared = `Path=/; SameSite=Strict; Max-Age=${SESSION_SECONDS}${secure}`;
  return [
    'cache-control',
    'no-store',
    'set-cookie',
    `${SESSION_COOKIE}=${token}; HttpOnly; ${shared}`,
    'set-cookie',
    `${CSRF_COOKIE}=${csrfToken}; ${shared}`,
  ];
}

/** Headers that remove the cookies of a session. */
const ENDED = [
  'cache-control',
  'no-store',
  'set-cookie',
  `${SESSION_COOKIE}=; HttpOnly; Path=/; SameSite=Strict; Max-Age=0`,
  'set-cookie',
  `${CSRF_COOKIE}=; Path=/; SameSite=Strict; Max-Age=0`,
];

const ROW = { surface: 'management', category: null, credential: 'none', failures: { body: 'model' } } as const;
const SIGNING_IN = { ...ROW, method: 'POST', bodyLimit: 16 * 1024 } as const;

/** Sign-in of users of the dashboard. */
export const signInRoutes: readonly RouteRow[] = [
  route({
    ...SIGNING_IN,
    name: 'signIn.form',
    paths: ['/login'],
    answers: [303, 401, 403, 429],
    failures: { body: 'model', page: true },
    parse: readSignIn,
    run: signIn,
    render: (session, request) => ({
      status: SUCCESS.seeOther,
      headers: { location: TARGET },
      head: cookiesOf(session, request),
      body: { kind: 'bytes', bytes: new Uint8Array(0), contentType: 'text/plain' },
    }),
  }),
  route({
    ...SIGNING_IN,
    name: 'signIn.json',
    paths: ['/v2/login'],
    answers: [200, 401, 403, 422, 429],
    parse: readSignIn,
    run: signIn,
    render: (session, request) => ({
      head: cookiesOf(session, request),
      body: { kind: 'json', value: { redirect_url: TARGET, token: session.token } },
    }),
  }),
  route({
    ...SIGNING_IN,
    credential: 'required',
    name: 'signIn.end',
    paths: ['/logout'],
    answers: [200, 401, 403],
    parse: () => undefined,
    run: signOut,
    render: () => ({ head: ENDED, body: { kind: 'json', value: { message: 'Signed out.' } } }),
  }),
  route({
    ...ROW,
    method: 'GET',
    name: 'signIn.page',
    paths: ['/fallback/login', '/sso/key/generate'],
    answers: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: (scope) => getPageSettings(scope, undefined),
    render: signInPage,
  }),
  route({
    ...ROW,
    method: 'GET',
    name: 'signIn.welcome',
    paths: ['/ui'],
    answers: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: (scope) => getPageSettings(scope, undefined),
    render: welcomePage,
  }),
];
