import {
  addTeamCallback,
  disableTeamLogging,
  getTeamLogging,
  removeTeamCallback,
  type TeamLoggingView,
} from '../resolvers/team-logging.ts';
import { CALLBACK_TYPES, receivesOutcome, teamCallbacks } from '../src/domain/teams/logging.ts';
import { fields, oneOf, recordOf, requiredText, text } from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderTeamTable } from './helpers/answers/teams.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const ROW = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 401, 403, 404],
  failureForm: { body: 'rule' },
} as const;

const readCallback = fields({
  callback_name: requiredText,
  callback_type: oneOf(CALLBACK_TYPES),
  callback_vars: recordOf(text),
});

const teamIn = (params: Readonly<Record<string, string | undefined>>): string => params['team'] ?? '';

const namesFor = (outcome: 'success' | 'failure', callbacks: TeamLoggingView['callbacks']): readonly string[] =>
  callbacks.filter((callback) => receivesOutcome(callback, outcome === 'failure')).map(({ name }) => name);

const renderLogging = ({ teamId, callbacks }: TeamLoggingView) => ({
  team_id: teamId,
  success_callbacks: namesFor('success', callbacks),
  failure_callbacks: namesFor('failure', callbacks),
  callback_vars: Object.assign({}, ...callbacks.map(({ vars }) => vars)) as Readonly<Record<string, string>>,
});

/** Callbacks to which the calls of a team are exported. */
export const teamLoggingRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...ROW,
    name: 'teamLogging.addCallback',
    bodySchema: readCallback.schema,
    paths: ['/team/:team/callback'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse({ body, params }) {
      const { callback_name: name, callback_type: type, callback_vars: vars } = readCallback(body);
      return { id: teamIn(params), callback: { name, type: type ?? 'success_and_failure', vars: vars ?? {} } };
    },
    run: addTeamCallback,
    render: (view) => json({ status: 'success', data: renderTeamTable(view) }),
  }),
  route({
    ...ROW,
    name: 'teamLogging.get',
    method: 'GET',
    bodyLimit: 0,
    paths: ['/team/:team/callback'],
    parse: ({ params }) => ({ id: teamIn(params) }),
    run: getTeamLogging,
    render: (view) => json({ status: 'success', data: renderLogging(view) }),
  }),
  route({
    ...ROW,
    name: 'teamLogging.removeCallback',
    method: 'DELETE',
    paths: ['/team/:team/callback/:callback'],
    parse: ({ params }) => ({ id: teamIn(params), callback: params['callback'] ?? '' }),
    run: removeTeamCallback,
    render({ team }, { params }) {
      const callbacks = teamCallbacks(team.metadata);
      return json({
        status: 'success',
        message: `Callback ${params['callback'] ?? ''} removed for team ${team.id}`,
        data: {
          team_id: team.id,
          success_callbacks: namesFor('success', callbacks),
          failure_callbacks: namesFor('failure', callbacks),
        },
      });
    },
  }),
  route({
    ...ROW,
    name: 'teamLogging.disable',
    paths: ['/team/:team/disable_logging'],
    parse: ({ params }) => ({ id: teamIn(params) }),
    run: disableTeamLogging,
    render: ({ team }) =>
      json({
        status: 'success',
        message: `Logging disabled for team ${team.id}`,
        data: { team_id: team.id, success_callbacks: [], failure_callbacks: [] },
      }),
  }),
]);
