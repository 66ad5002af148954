import { describe, expect, it } from 'vitest';
import { detail, envelope, type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const { send, get, post, user } = tenancyClient();

const infoOf = async (id: string): Promise<Json> => (await get(`/organization/info?organization_id=${id}`)).body;
const patch = (id: string, body: unknown, key?: string) => send('PATCH', `/v2/organization/${id}`, body, key);
async function createOrganization(id: string, members: object = {}): Promise<Json> {
  const draft = { organization_id: id, organization_alias: `Org ${id}`, models: ['demo'], metadata: { a: 1 } };
  const { status, body } = await post('/organization/new', { ...draft, max_budget: 100, tpm_limit: 5, ...members });
  expect(status).toBe(200);
  return body;
}

describe('organizations.patch', () => {
  it('organizations.patch 200: sent members are written, and absent members are kept', async () => {
    const before = await createOrganization('o1');
    const { status, body } = await patch('o1', { max_budget: 7, metadata: { b: 2 }, budget_duration: '30d' });
    const time = expect.any(String) as string;
    expect([status, body]).toEqual([
      200,
      {
        ...before,
        metadata: { b: 2 },
        updated_at: time,
        litellm_budget_table: {
          ...(before['litellm_budget_table'] as object),
          max_budget: 7,
          budget_duration: '30d',
          budget_reset_at: time,
        },
      },
    ]);
    expect(await infoOf('o1')).toEqual(body);
    const { body: audit } = await get('/audit?object_id=o1&sort_by=updated_at&sort_order=asc');
    expect((audit['audit_logs'] as readonly Json[]).map(({ action }) => action)).toEqual(['created', 'updated']);
  });

  it('organizations.patch 200: null and an empty list clear members; an object permission is merged', async () => {
    await createOrganization('clear', { object_permission: { mcp_servers: ['s'] } });
    const merged = await patch('clear', { object_permission: { vector_stores: ['v'] } });
    expect(merged.body['object_permission']).toEqual({ mcp_servers: ['s'], vector_stores: ['v'] });
    const cleared = { max_budget: null, tpm_limit: null, metadata: null, models: [], object_permission: null };
    expect((await patch('clear', cleared)).body).toMatchObject({
      organization_alias: 'Org clear',
      models: [],
      metadata: {},
      object_permission: null,
      litellm_budget_table: { max_budget: null, tpm_limit: null },
    });
  });

  it.each([
    ['an unknown member', { tmp_limit: null }, 'extra_forbidden', ['tmp_limit'], 'Extra inputs are not permitted'],
    [
      'a member of /organization/update',
      { organization_id: 'x' },
      'extra_forbidden',
      ['organization_id'],
      'Extra inputs are not permitted',
    ],
    ['no alias', { organization_alias: null }, 'string_type', ['organization_alias'], 'Input should be a valid string'],
    ['no models', { models: null }, 'list_type', ['models'], 'Input should be a valid list'],
    [
      'a limit that is no number',
      { tpm_limit: '' },
      'int_parsing',
      ['tpm_limit'],
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    [
      'a negative budget',
      { max_budget: -5 },
      'value_error',
      ['max_budget'],
      'Value error, max_budget cannot be negative',
    ],
    ['a negative limit', { rpm_limit: -1 }, 'value_error', ['rpm_limit'], 'Value error, rpm_limit cannot be negative'],
    [
      'a malformed duration',
      { budget_duration: 'abc' },
      'value_error',
      ['budget_duration'],
      "Value error, Invalid budget_duration 'abc'. Use a format like '1h', '24h', '7d', or '30d'.",
    ],
    [
      'an empty object permission',
      { object_permission: {} },
      'value_error',
      ['object_permission'],
      'Value error, object_permission has no members. Send null to clear it.',
    ],
    [
      'a list that is none',
      { object_permission: { mcp_servers: 's' } },
      'type',
      ['object_permission', 'mcp_servers'],
      'Input should be a valid list of strings',
    ],
  ])('organizations.patch 422: %s; nothing is changed', async (_what, body, type, place, msg) => {
    const id = `bad-${place.join('-')}-${type}`;
    const before = await createOrganization(id);
    const answer = await patch(id, { metadata: { changed: true }, ...body });
    expect(answer).toEqual({
      status: 422,
      body: { detail: [{ type, loc: ['body', ...place], msg }] },
    });
    expect(await infoOf(id)).toEqual(before);
  });

  it('organizations.patch 404: an unknown organization', async () => {
    expect(await patch('unknown', { max_budget: 1 })).toEqual(
      detail(404, 'Organization not found for organization_id=unknown'),
    );
  });

  it('organizations.patch 401: no key, and an administrator of the organization; 403: a read-only administrator', async () => {
    const before = await createOrganization('rights');
    const boss = await user({ user_id: 'org-boss' });
    await post('/organization/member_add', {
      organization_id: 'rights',
      member: { user_id: 'org-boss', role: 'org_admin' },
    });
    expect(await patch('rights', { max_budget: 1 }, '')).toEqual(NO_KEY);
    expect((await patch('rights', { max_budget: 1 }, boss)).status).toBe(401);
    const viewer = await user({ user_id: 'org-viewer', user_role: 'proxy_admin_viewer' });
    expect(await patch('rights', { max_budget: 1 }, viewer)).toEqual(
      envelope(403, 'user not allowed to access this route, role= proxy_admin_viewer.', 'auth_error', 'None'),
    );
    expect((await infoOf('rights'))['litellm_budget_table']).toEqual(before['litellm_budget_table']);
  });
});
