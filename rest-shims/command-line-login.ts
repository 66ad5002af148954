import { collectLogin, completeLogin, type LoginState, startLogin } from '../resolvers/command-line-login.ts';
import { LOGIN_SECONDS } from '../src/domain/users/command-line-logins.ts';
import { Forbidden, InvalidInput } from '../src/domain/errors.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { requiredParameters, textParameters } from './helpers/http/schema.ts';
import { completedPage } from './helpers/pages/sign-in.ts';
import { LOGIN_ID, isCrossSiteNavigation } from './helpers/fields/sign-in.ts';

const POLL_SECRET_HEADER = 'x-litellm-cli-poll-secret';

/** The login id in the path. Throws InvalidInput for a malformed id. */
function loginId({ params }: HttpRequest): string {
  const id = params['login_id'] ?? '';
  if (!LOGIN_ID.test(id)) throw new InvalidInput('The id of the login is malformed.');
  return id;
}

/** The submitted form. Throws Forbidden for a form of another site, and InvalidInput for a malformed login id. */
function readForm(request: HttpRequest) {
  if (isCrossSiteNavigation(request)) throw new Forbidden('Sign in on a page of this server.');
  const form = new URLSearchParams(Buffer.from(request.body).toString('utf8'));
  const fieldOf = (name: string): string => form.get(name) ?? '';
  return {
    loginId: loginId(request),
    userCode: fieldOf('user_code'),
    username: fieldOf('username'),
    password: fieldOf('password'),
  };
}

function readPoll(request: HttpRequest) {
  const secret = request.headers[POLL_SECRET_HEADER];
  const teamId = new URLSearchParams(request.search).get('team_id');
  return {
    loginId: loginId(request),
    pollSecret: typeof secret === 'string' ? secret : '',
    teamId: teamId === null || teamId === '' ? null : teamId,
  };
}

function stateJson(state: LoginState) {
  if (state.status === 'pending') return { status: 'pending' };
  const { userId } = state;
  const teams = state.teams.map(({ id }) => id);
  const details = state.teams.map(({ id, alias }) => ({ team_id: id, team_alias: alias }));
  const shared = { status: 'ready', user_id: userId, teams, team_details: details };
  return state.status === 'choose'
    ? { ...shared, requires_team_selection: true }
    : { ...shared, key: state.token, team_id: state.teamId };
}

const ROW = { surface: 'management', credential: 'none' } as const;
const NO_STORE = { 'cache-control': 'no-store' };

const FORM = requiredParameters('user_code', 'username', 'password');

/**
 * Command line login: the command line starts it, a person completes it in a browser, and the command line polls for
 * the session.
 */
export const commandLineLoginRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    method: 'POST',
    name: 'signIn.cliStart',
    paths: ['/sso/cli/start'],
    statuses: [200, 429],
    failureForm: { body: 'model' },
    bodyLimit: 1024,
    parse: () => undefined,
    run: startLogin,
    render: ({ loginId: id, pollSecret, userCode }) =>
      json({ login_id: id, poll_secret: pollSecret, user_code: userCode, expires_in: LOGIN_SECONDS }, NO_STORE),
  }),
  route({
    ...ROW,
    method: 'POST',
    name: 'signIn.cliComplete',
    paths: ['/sso/cli/complete/:login_id'],
    statuses: [200, 400, 401, 403, 429],
    failureForm: { body: 'model', page: 'login' },
    bodySchema: FORM,
    bodyType: 'application/x-www-form-urlencoded',
    bodyLimit: 16 * 1024,
    parse: readForm,
    run: completeLogin,
    render: completedPage,
  }),
  route({
    ...ROW,
    method: 'GET',
    name: 'signIn.cliPoll',
    paths: ['/sso/cli/poll/:login_id'],
    statuses: [200, 400, 403],
    failureForm: { body: 'model' },
    querySchema: textParameters('team_id'),
    headerSchema: requiredParameters(POLL_SECRET_HEADER),
    bodyLimit: 0,
    parse: readPoll,
    run: collectLogin,
    render: (state) => json(stateJson(state), NO_STORE),
  }),
];
