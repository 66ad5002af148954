import type { JsonObject } from '../src/domain/json-object.ts';
import {
  addManyTeamMembers,
  addTeamMembers,
  getOwnMembership,
  type JoinOutcome,
  removeTeamMember,
  resetMemberSpend,
  updateTeamMember,
} from '../resolvers/team-members.ts';
import { MEMBER_ROLES } from '../src/domain/teams/member.ts';
import { optional, literalOf, members, parseObject, requiredText, text, texts } from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import {
  INCREASE_MEMBERS,
  increaseFrom,
  renamedLimitsSchema,
  withoutUndefined,
  limitsFrom,
  renamedMembers,
  RESET_BODY,
  resetFrom,
} from './helpers/fields/limits.ts';
import { assertNamesUser, wantedMembers, MEMBER_OR_LIST } from './helpers/fields/members.ts';
import {
  renderMemberReset,
  renderMembership,
  renderMemberUpdate,
  renderTeam,
  renderTeamTable,
} from './helpers/answers/teams.ts';
import { renderUserRow } from './helpers/answers/users.ts';
import { merged, objectSchema } from './helpers/http/schema.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Limits of a team member: the name of the field in the body, and the name of the limit. */
const MEMBER_LIMITS = {
  max_budget_in_team: 'max_budget',
  rpm_limit: 'rpm_limit',
  tpm_limit: 'tpm_limit',
  budget_duration: 'budget_duration',
};

const readTeam = members({ team_id: requiredText });
const readModels = members({ allowed_models: optional(texts) });
const readNamed = members({ team_id: requiredText, user_id: text, user_email: text });
const readRole = members({ role: literalOf(MEMBER_ROLES) });

const parseLimits = (input: JsonObject) => ({
  ...limitsFrom(renamedMembers(input, MEMBER_LIMITS)),
  ...withoutUndefined({ allowedModels: readModels(input).allowed_models }),
});

function parseAddition(body: Uint8Array, bodyField: 'member' | 'members') {
  const input = parseObject(body);
  const { team_id: teamId } = readTeam(input);
  return { teamId, members: wantedMembers(input[bodyField], bodyField, parseLimits(input)) };
}

function parseNamed(input: JsonObject) {
  const { team_id: teamId, user_id: userId, user_email: email } = readNamed(input);
  assertNamesUser(input, ['body']);
  return { teamId, userId, email };
}

const renderOutcome = ({ wanted, user, member, failure }: JoinOutcome) => ({
  user_id: user?.id ?? wanted.userId,
  user_email: user?.email ?? wanted.email,
  success: failure === null,
  error: failure,
  updated_user: user === null ? null : { user_id: user.id, user_email: user.email },
  updated_team_membership: member === null ? null : renderMembership(member),
});

/**
 * Common facts of rows that change members. An unknown team or member is answered with 400 and not with 404, except by
 * rows with their own `failureForm`.
 */
const CHANGING = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 422],
  failureForm: { body: 'detail', notFoundAs: 'bad_request' },
} as const;

/** Members of teams. */
export const teamMemberRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...CHANGING,
    name: 'teamMembers.add',
    bodySchema: merged(
      readTeam,
      readModels,
      renamedLimitsSchema(MEMBER_LIMITS),
      objectSchema({ member: MEMBER_OR_LIST }, ['member']),
    ),
    paths: ['/team/member_add'],
    statuses: [200, 400, 401, 403, 404, 422],
    failureForm: { body: 'detail' },
    parse: ({ body }) => parseAddition(body, 'member'),
    run: addTeamMembers,
    render: (view) =>
      json({
        ...renderTeam(view),
        updated_users: view.users.map(renderUserRow),
        updated_team_memberships: view.added.map(renderMembership),
      }),
  }),
  route({
    ...CHANGING,
    name: 'teamMembers.addMany',
    bodySchema: merged(
      readTeam,
      readModels,
      renamedLimitsSchema(MEMBER_LIMITS),
      objectSchema({ members: MEMBER_OR_LIST }, ['members']),
    ),
    paths: ['/team/bulk_member_add'],
    statuses: [200, 401, 403, 404, 422],
    failureForm: { body: 'detail' },
    parse: ({ body }) => parseAddition(body, 'members'),
    run: addManyTeamMembers,
    render: ({ view, outcomes }) => {
      const added = outcomes.filter(({ failure }) => failure === null).length;
      return json({
        team_id: view.team.id,
        results: outcomes.map(renderOutcome),
        total_requested: outcomes.length,
        successful_additions: added,
        failed_additions: outcomes.length - added,
        updated_team: renderTeamTable(view),
      });
    },
  }),
  route({
    ...CHANGING,
    name: 'teamMembers.update',
    bodySchema: merged(readNamed, readRole, readModels, renamedLimitsSchema(MEMBER_LIMITS), INCREASE_MEMBERS),
    paths: ['/team/member_update'],
    parse({ body }) {
      const input = parseObject(body);
      return {
        named: parseNamed(input),
        role: readRole(input).role,
        limits: { ...parseLimits(input), ...increaseFrom(input) },
      };
    },
    run: updateTeamMember,
    render: (view) => json(renderMemberUpdate(view)),
  }),
  route({
    ...CHANGING,
    name: 'teamMembers.resetSpend',
    bodySchema: RESET_BODY,
    paths: ['/team/:team/member/:user/reset_spend'],
    statuses: [200, 400, 401, 403, 404, 422],
    failureForm: { body: 'detail' },
    parse: ({ body, params }) => ({
      teamId: params['team'] ?? '',
      userId: params['user'] ?? '',
      resetTo: resetFrom(body),
    }),
    run: resetMemberSpend,
    render: (reset) => json(renderMemberReset(reset)),
  }),
  route({
    ...CHANGING,
    name: 'teamMembers.remove',
    bodySchema: readNamed.schema,
    paths: ['/team/member_delete'],
    parse: ({ body }) => parseNamed(parseObject(body)),
    run: removeTeamMember,
    render: (view) => json(renderTeam(view)),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'teamMembers.own',
    paths: ['/team/:team/members/me'],
    statuses: [200, 401, 403, 404],
    failureForm: { body: 'detail' },
    parse: ({ params }) => ({ teamId: params['team'] ?? '' }),
    run: getOwnMembership,
    render: (view) =>
      json({
        ...renderMembership(view),
        role: view.member.role,
        user_email: view.user?.email ?? null,
        team_alias: view.teamAlias,
      }),
  }),
]);
