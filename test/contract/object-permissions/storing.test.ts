import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, send, user } = tenancyClient({
  env: { LITELLM_STORE_AUDIT_LOGS: 'true', LITELLM_SALT_KEY: 'salt-of-permissions' },
});

/** A kind of owner of keys: routes, members that select one owner, and the row in an answer of the `info` route. */
interface Owner {
  readonly noun: string;
  readonly create: string;
  readonly update: readonly [method: string, path: string];
  readonly info: string;
  readonly named: Json;
  readonly draft: Json;
  readonly row: (body: Json) => Json;
  readonly table: string;
}

const OWNERS: readonly Owner[] = [
  {
    noun: 'team',
    create: '/team/new',
    update: ['POST', '/team/update'],
    info: '/team/info?team_id=one',
    named: { team_id: 'one' },
    draft: {},
    row: (body) => body['team_info'] as Json,
    table: 'LiteLLM_TeamTable',
  },
  {
    noun: 'user',
    create: '/user/new',
    update: ['POST', '/user/update'],
    info: '/user/info?user_id=one',
    named: { user_id: 'one' },
    draft: { auto_create_key: false },
    row: (body) => body['user_info'] as Json,
    table: 'LiteLLM_UserTable',
  },
  {
    noun: 'organization',
    create: '/organization/new',
    update: ['PATCH', '/organization/update'],
    info: '/organization/info?organization_id=one',
    named: { organization_id: 'one' },
    draft: { organization_alias: 'One' },
    row: (body) => body,
    table: 'LiteLLM_OrganizationTable',
  },
  {
    noun: 'customer',
    create: '/customer/new',
    update: ['POST', '/customer/update'],
    info: '/end_user/info?end_user_id=one',
    named: { user_id: 'one' },
    draft: {},
    row: (body) => body,
    table: 'LiteLLM_EndUserTable',
  },
];

const PERMISSION = { mcp_servers: ['docs'], agents: ['a'], vector_stores: ['vs_1'] };

describe.each(OWNERS)('object_permission of a $noun', ({ noun, create, update, info, named, draft, row, table }) => {
  const [method, path] = update;
  const storedPermission = async () => row((await get(info)).body)['object_permission'];

  it('is stored, shown, merged and removed', async () => {
    const created = await post(create, { ...named, ...draft, object_permission: PERMISSION });
    expect(created.status).toBe(200);
    expect(await storedPermission()).toEqual(PERMISSION);

    const change = { mcp_servers: ['notes'], vector_stores: null };
    expect((await send(method, path, { ...named, object_permission: change })).status).toBe(200);
    expect(await storedPermission()).toEqual({ mcp_servers: ['notes'], agents: ['a'] });

    // A change of other members keeps the permission.
    await send(method, path, { ...named, metadata: {}, alias: 'x' });
    expect(await storedPermission()).toEqual({ mcp_servers: ['notes'], agents: ['a'] });

    expect((await send(method, path, { ...named, object_permission: null })).status).toBe(200);
    expect(await storedPermission()).toBeNull();
  });

  it('422: a member of a wrong type; nothing is changed', async () => {
    const answer = await send(method, path, { ...named, object_permission: { vector_stores: 'vs_1' } });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain('vector_stores');
    expect(await storedPermission()).toBeNull();
    expect((await send(method, path, { ...named, object_permission: ['docs'] })).status).toBe(422);
  });

  it('is in the audit log, with its values before and after', async () => {
    await send(method, path, { ...named, object_permission: { agents: ['b'] } });
    const { body } = await get(`/audit?table_name=${table}&object_id=one&page_size=1`);
    const [entry] = body['audit_logs'] as readonly Json[];
    const { before_value: before, updated_values: after } = entry ?? {};
    expect([noun, JSON.stringify(before)]).toEqual([noun, expect.not.stringContaining('"b"')]);
    expect(JSON.stringify(after)).toContain('"b"');
  });
});

describe('object_permission', () => {
  it('is changed by the graph, and read by the HTTP API', async () => {
    const query = `mutation ($input: UpdateTeamInput!) { updateTeam(input: $input) {
      ... on Team { objectPermission } ... on UserError { message } } }`;
    const change = async (objectPermission: unknown) =>
      (await post('/graphql', { query, variables: { input: { id: 'one', objectPermission } } })).body;
    expect(await change({ agents: null, mcp_servers: ['docs'] })).toEqual({
      data: { updateTeam: { objectPermission: { mcp_servers: ['docs'] } } },
    });
    expect(((await get('/team/info?team_id=one')).body['team_info'] as Json)['object_permission']).toEqual({
      mcp_servers: ['docs'],
    });
    expect(JSON.stringify(await change('docs'))).toContain('must be an object');
    expect(await change(null)).toEqual({ data: { updateTeam: { objectPermission: null } } });
  });

  it('of a team is changed by proxy administrators only', async () => {
    const admin = await user({ user_id: 'team-admin' });
    await post('/team/member_add', { team_id: 'one', member: { user_id: 'team-admin', role: 'admin' } });
    const change = { team_id: 'one', object_permission: { mcp_servers: ['all-proxy-mcpservers'] } };
    expect((await post('/team/update', change, admin)).status).toBe(403);
    await post('/organization/new', { organization_id: 'org', organization_alias: 'Org' });
    await post('/organization/member_add', {
      organization_id: 'org',
      member: { user_id: 'team-admin', role: 'org_admin' },
    });
    const draft = { team_id: 'granted', organization_id: 'org' };
    const granting = { ...draft, object_permission: { mcp_servers: ['all-proxy-mcpservers'] } };
    expect((await post('/team/new', granting, admin)).status).toBe(403);
    expect((await post('/team/new', draft, admin)).status).toBe(200);
  });

  it('of a user is changed by proxy administrators only', async () => {
    const own = await user({ user_id: 'plain' });
    const change = { user_id: 'plain', object_permission: null };
    expect((await post('/user/update', change, own)).status).toBe(401);
  });

  it('of a new user applies to its key, too', async () => {
    const key = await user({ user_id: 'both', object_permission: PERMISSION });
    const { body } = await get(`/key/info?key=${key}`);
    expect((body['info'] as Json)['object_permission']).toEqual(PERMISSION);
  });
});
