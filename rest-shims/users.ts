import type { JsonObject } from '../src/domain/json-object.ts';
import { answerInvitation, createInvitation, deleteInvitation, getInvitation } from '../resolvers/invitations.ts';
import {
  countUsers,
  createUser,
  deleteUsers,
  getUser,
  listUsers,
  updateUser,
  type UserDraft,
  type UserQuery,
} from '../resolvers/users.ts';
import { updateUsers } from '../resolvers/user-updates.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { ROLES } from '../src/domain/role.ts';
import { USER_SORTS, type UserPatch, USER_PAGE_SIZE } from '../src/domain/users/user.ts';
import {
  fields,
  flag,
  optional,
  members,
  object,
  oneOf,
  parseObject,
  requiredText,
  requiredTexts,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { integer, query, text as queryText, rowsBefore } from './helpers/http/query.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { KEY_DRAFT, parseDraft } from './helpers/fields/keys.ts';
import { LIMITS_SCHEMA, withoutUndefined, limitsFrom } from './helpers/fields/limits.ts';
import {
  renderChangedUser,
  renderFlatUser,
  renderInvitation,
  renderNewUser,
  renderUserInfo,
  renderUserRow,
} from './helpers/answers/users.ts';
import { OBJECT_PERMISSION } from './helpers/fields/object-permission.ts';
import { merged, objectSchema, requiredParameters, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const DEFAULT_PAGE_SIZE = 25;

/** `teams` of a new user: ids, or objects with a `team_id`. */
const teamIds = (input: unknown): { readonly value: readonly string[] } => ({
  value: (Array.isArray(input) ? input : []).flatMap((team: unknown) => {
    const id = typeof team === 'object' && team !== null ? (team as JsonObject)['team_id'] : team;
    return typeof id === 'string' ? [id] : [];
  }),
});

const readDraft = members({ user_id: text, auto_create_key: flag, teams: teamIds });
const readMembers = members({
  user_alias: optional(text),
  user_email: optional(text),
  user_role: optional(oneOf(ROLES)),
  models: optional(texts),
  metadata: optional(object),
  model_max_budget: optional(object),
  allowed_cache_controls: optional(texts),
  sso_user_id: optional(text),
  ...OBJECT_PERMISSION,
});

function patchOf(input: JsonObject): UserPatch {
  const values = readMembers(input);
  return {
    ...limitsFrom(input),
    ...withoutUndefined({
      alias: values.user_alias,
      email: values.user_email,
      role: values.user_role,
      models: values.models,
      metadata: values.metadata,
      modelMaxBudget: values.model_max_budget,
      allowedCacheControls: values.allowed_cache_controls,
      ssoUserId: values.sso_user_id,
      objectPermission: values.object_permission,
    }),
  };
}

/** A new user. The key of the user has the settings of the same body, except for its secret, role, team and budget. */
function parseNew(body: Uint8Array): UserDraft {
  const input = parseObject(body);
  const values = readDraft(input);
  const patch = patchOf(input);
  const key = values.auto_create_key === false ? null : parseDraft(body);
  return {
    id: values.user_id,
    patch,
    teamIds: values.teams,
    key: key === null ? null : { ...key, key: null, role: null, teamId: null, maxBudget: null, budgetDuration: null },
  };
}

const readNamed = members({ user_id: text, user_email: text });
const USER = merged(readMembers, LIMITS_SCHEMA);
const USER_CHANGE = merged(USER, readNamed);

function parseChange(input: JsonObject) {
  const { user_id: id, user_email: email } = readNamed(input);
  const { email: sentEmail, ...patch } = patchOf(input);
  // Without an id, the email selects the user and is not changed.
  return {
    named: { id, email },
    patch: nullIfBlank(id) === null ? patch : { ...patch, ...withoutUndefined({ email: sentEmail }) },
  };
}

function parseChanges(body: Uint8Array) {
  const { users } = parseObject(body);
  if (Array.isArray(users) && users.length > 0)
    return users.map((user: unknown) => parseChange(typeof user === 'object' && user !== null ? { ...user } : {}));
  throw new InvalidInput('users must be a list with at least one user. all_users is not supported.');
}

const readList = query({
  role: queryText,
  user_ids: queryText,
  sso_user_ids: queryText,
  user_email: queryText,
  team: queryText,
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: USER_PAGE_SIZE, defaultValue: DEFAULT_PAGE_SIZE }),
  sort_by: queryText,
  sort_order: queryText,
});

/** Comma-separated ids; null for an absent or empty parameter. */
function parseIds(input: string | null): readonly string[] | null {
  const ids = (input ?? '').split(',').flatMap((id) => nullIfBlank(id.trim()) ?? []);
  return ids.length === 0 ? null : ids;
}

function parseSort(input: string | null): UserQuery['sort'] {
  if (input === null) return 'created_at';
  const sort = USER_SORTS.find((name) => name === input);
  if (sort === undefined) throw new InvalidInput(`Invalid sort column. Must be one of: ${USER_SORTS.join(', ')}`);
  return sort;
}

function parseList(search: string): UserQuery {
  const parameters = readList(search);
  const role = nullIfBlank(parameters.role) === null ? null : ROLES.find((name) => name === parameters.role);
  if (role === undefined) throw new InvalidInput(`Invalid role. Must be one of: ${ROLES.join(', ')}`);
  const [page, size] = [Number(parameters.page), Number(parameters.page_size)];
  return {
    filter: {
      ids: parseIds(parameters.user_ids),
      emails: null,
      emailPart: nullIfBlank(parameters.user_email),
      role,
      ssoUserIds: parseIds(parameters.sso_user_ids),
    },
    teamId: nullIfBlank(parameters.team),
    sort: parseSort(parameters.sort_by),
    descending: parameters.sort_by === null || parameters.sort_order?.toLowerCase() === 'desc',
    limit: size,
    from: rowsBefore(page, size),
  };
}

const CHANGING = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 422],
  failureForm: { body: 'rule' },
} as const;
const READING = { ...CHANGING, method: 'GET', statuses: [200, 401, 403, 404], bodyLimit: 0 } as const;

const readIds = fields({ user_ids: requiredTexts });
const parseUser = (search: string) => ({ id: new URLSearchParams(search).get('user_id') });

const readInvited = fields({ user_id: requiredText });
const readInvitation = fields({ invitation_id: requiredText });
const readAnswer = fields({ invitation_id: requiredText, is_accepted: flag });

/** Users: creation, changes, lists and counts. */
export const userRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...CHANGING,
    name: 'users.create',
    bodySchema: merged(KEY_DRAFT, USER, readDraft),
    paths: ['/user/new'],
    statuses: [200, 400, 401, 403, 409, 422],
    failureForm: { body: 'rule', conflictAs: 'conflict' },
    parse: ({ body }) => parseNew(body),
    run: createUser,
    render: (created, { body }) =>
      json(renderNewUser(created, parseNew(body).teamIds), { 'cache-control': 'no-store' }),
  }),
  route({
    ...READING,
    name: 'users.info',
    querySchema: textParameters('user_id'),
    paths: ['/user/info'],
    parse: ({ search }) => parseUser(search),
    run: getUser,
    render: (details) => json(renderUserInfo(details)),
  }),
  route({
    ...READING,
    name: 'users.flatInfo',
    querySchema: textParameters('user_id'),
    paths: ['/v2/user/info'],
    parse: ({ search }) => parseUser(search),
    run: getUser,
    render: (details) => json(renderFlatUser(details)),
  }),
  route({
    ...READING,
    name: 'users.list',
    querySchema: readList.schema,
    paths: ['/user/list'],
    statuses: [200, 400, 401, 403, 422],
    failureForm: { body: 'detail' },
    parse: ({ search }) => parseList(search),
    run: listUsers,
    render: ({ users, totalCount }, { search }) => {
      const { page, page_size: size } = readList(search);
      return json({
        users: users.map((view) => ({ ...renderUserRow(view), key_count: view.keyCount })),
        total: totalCount,
        page: Number(page),
        page_size: Number(size),
        total_pages: Math.ceil(totalCount / Number(size)),
      });
    },
  }),
  route({
    ...CHANGING,
    name: 'users.update',
    bodySchema: USER_CHANGE,
    paths: ['/user/update'],
    parse: ({ body }) => parseChange(parseObject(body)),
    run: updateUser,
    render: (view) => json(renderChangedUser(view)),
  }),
  route({
    ...CHANGING,
    name: 'users.bulkUpdate',
    bodySchema: objectSchema({ users: { type: 'array', items: USER_CHANGE, minItems: 1 } }, ['users']),
    paths: ['/user/bulk_update'],
    parse: ({ body }) => parseChanges(body),
    run: updateUsers,
    render: (outcomes) => {
      const succeeded = outcomes.filter(({ failure }) => failure === null);
      return json({
        results: outcomes.map(({ named, view, failure }) => ({
          user_id: view?.user.id ?? named.id,
          user_email: view?.user.email ?? named.email,
          success: failure === null,
          error: failure,
          updated_user: view === null ? null : renderUserRow(view),
        })),
        total_requested: outcomes.length,
        successful_updates: succeeded.length,
        failed_updates: outcomes.length - succeeded.length,
      });
    },
  }),
  route({
    ...CHANGING,
    name: 'users.delete',
    bodySchema: readIds.schema,
    paths: ['/user/delete'],
    statuses: [200, 401, 403, 404, 422],
    failureForm: { body: 'detail' },
    parse: ({ body }) => readIds(body).user_ids,
    run: deleteUsers,
    render: (count) => json(count),
  }),
  route({
    ...READING,
    name: 'users.count',
    paths: ['/user/available_users'],
    statuses: [200, 401],
    parse: () => undefined,
    run: countUsers,
    // The number of users and teams is not limited.
    render: ({ users, teams }) =>
      json({
        total_users: null,
        total_teams: null,
        total_users_used: users,
        total_teams_used: teams,
        total_teams_remaining: null,
        total_users_remaining: null,
      }),
  }),
]);

/** Invitations of users. */
export const invitationRoutes: readonly RouteRow[] = [
  route({
    ...CHANGING,
    name: 'invitations.create',
    bodySchema: readInvited.schema,
    paths: ['/invitation/new'],
    parse: ({ body }) => ({ userId: readInvited(body).user_id }),
    run: createInvitation,
    render: (invitation) => json(renderInvitation(invitation)),
  }),
  route({
    ...READING,
    name: 'invitations.info',
    querySchema: requiredParameters('invitation_id'),
    paths: ['/invitation/info'],
    statuses: [200, 400, 401],
    failureForm: { body: 'detail' },
    parse: ({ search }) => ({ id: new URLSearchParams(search).get('invitation_id') ?? '' }),
    run: getInvitation,
    render: (invitation) => json(renderInvitation(invitation)),
  }),
  route({
    ...CHANGING,
    name: 'invitations.answer',
    bodySchema: readAnswer.schema,
    paths: ['/invitation/update'],
    failureForm: { body: 'detail' },
    parse({ body }) {
      const { invitation_id: id, is_accepted: isAccepted } = readAnswer(body);
      return { id, isAccepted: isAccepted ?? false };
    },
    run: answerInvitation,
    render: (invitation) => json(renderInvitation(invitation)),
  }),
  route({
    ...CHANGING,
    name: 'invitations.delete',
    bodySchema: readInvitation.schema,
    paths: ['/invitation/delete'],
    failureForm: { body: 'detail' },
    parse: ({ body }) => ({ id: readInvitation(body).invitation_id }),
    run: deleteInvitation,
    render: (invitation) => json(renderInvitation(invitation)),
  }),
];
