import { beforeAll, describe, expect, it } from 'vitest';
import { budgetRoutes } from '../../../rest-shims/budgets.ts';
import { customerRoutes } from '../../../rest-shims/customers.ts';
import type { RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import { organizationRoutes } from '../../../rest-shims/organizations.ts';
import { projectRoutes } from '../../../rest-shims/projects.ts';
import { tagRoutes } from '../../../rest-shims/tags.ts';
import { teamKeyRoutes } from '../../../rest-shims/team-keys.ts';
import { teamLoggingRoutes } from '../../../rest-shims/team-logging.ts';
import { teamMemberRoutes } from '../../../rest-shims/team-members.ts';
import { teamPermissionRoutes } from '../../../rest-shims/team-permissions.ts';
import { teamRoutes } from '../../../rest-shims/teams.ts';
import { invitationRoutes, userRoutes } from '../../../rest-shims/users.ts';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const ROUTES: readonly RouteRow[] = [
  ...userRoutes,
  ...invitationRoutes,
  ...teamRoutes,
  ...teamPermissionRoutes,
  ...teamKeyRoutes,
  ...teamLoggingRoutes,
  ...teamMemberRoutes,
  ...organizationRoutes,
  ...projectRoutes,
  ...customerRoutes,
  ...budgetRoutes,
  ...tagRoutes,
];
const { send, post, user } = tenancyClient();

/** The required body fields of all routes together. Each route reads only its own fields. */
const BODY = {
  user_id: 'a',
  user_ids: ['a'],
  users: [{ user_id: 'a' }],
  team_id: 'a',
  team_ids: ['a'],
  models: ['a'],
  team_member_permissions: [],
  permissions: [],
  key_ids: ['a'],
  update_fields: { max_budget: 1 },
  member: { user_id: 'a' },
  members: [{ user_id: 'a' }],
  invitation_id: 'a',
  organization_alias: 'a',
  organization_id: 'a',
  organization_ids: ['a'],
  project_id: 'a',
  project_ids: ['a'],
  name: 'a',
  names: ['a'],
  budget_id: 'a',
  budgets: ['a'],
  id: 'a',
  callback_name: 'langfuse',
  reset_to: 0,
};
/** Bodies of routes that refuse members of other routes, or give them another meaning. */
const BODIES: Readonly<Record<string, object>> = { 'organizations.patch': {}, 'users.create': { user_id: 'a' } };
const bodyOf = ({ name }: Pick<RouteRow, 'name'>): object => BODIES[name] ?? BODY;
const pathOf = ({ paths }: RouteRow): string => paths[0].replaceAll(/:\w+/g, 'a');
const routesWith = (status: number, isChange: boolean): readonly RouteRow[] =>
  ROUTES.filter(({ statuses, method }) => statuses.includes(status) && (method !== 'GET') === isChange);

let viewer = '';
beforeAll(async () => {
  viewer = await user({ user_id: 'viewer', user_role: 'proxy_admin_viewer' });
});

const typeOf = ({ error }: Json): unknown => (error as Json)['type'];

describe('a route of users, teams and related objects', () => {
  it.each([...routesWith(401, true), ...routesWith(401, false)])('$name 401: without a key', async (route) => {
    const { status, body } = await send(
      route.method,
      pathOf(route),
      route.method === 'GET' ? undefined : bodyOf(route),
      '',
    );
    expect([status, typeOf(body)]).toEqual([401, 'auth_error']);
  });

  it.each(routesWith(403, true))('$name 403: a read-only administrator cannot change anything', async (route) => {
    const { status, body } = await send(route.method, pathOf(route), bodyOf(route), viewer);
    expect([status, typeOf(body)]).toEqual([403, 'auth_error']);
  });

  it.each(routesWith(422, true))('$name 422: a body that is not an object', async (route) => {
    const { status, body } = await send(route.method, pathOf(route), []);
    expect(status).toBe(422);
    expect(body['detail']).toMatchObject([{ type: 'model_attributes_type', loc: ['body'] }]);
  });

  it('401: users cannot create users, teams, customers, budgets, tags and organizations', async () => {
    const key = await user({ user_id: 'plain', user_role: 'internal_user' });
    expect((await post('/user/new', {}, key)).status).toBe(401);
    for (const path of ['/team/new', '/customer/new', '/budget/new', '/tag/new', '/organization/new']) {
      const { status, body } = await post(path, BODY, key);
      expect([path, status, typeOf(body)]).toEqual([path, 401, 'auth_error']);
    }
  });
});
