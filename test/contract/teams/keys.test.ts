import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { STORED_FORM } from '../../support/key-forms.ts';
import { detail, envelope, type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const { send, post, get, user, key } = tenancyClient();
const PATH = '/team/key/bulk_update';
const UNKNOWN = 'sk-there-is-no-such-key';

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const infoOf = async (secret: string): Promise<Json> => (await get(`/key/info?key=${secret}`)).body['info'] as Json;
const succeeded = (secret: string, change: object): object => ({
  key: hashOf(secret),
  key_info: { ...STORED_FORM, settings_updated_at: expect.any(String) as string, ...change },
});
const failed = (secret: string, reason: string): object => ({
  key: hashOf(secret),
  key_info: null,
  failed_reason: reason,
});

let boss = '';
let member = '';
beforeAll(async () => {
  [boss, member] = [await user({ user_id: 'boss' }), await user({ user_id: 'member' })];
});
/** Creates a team with an administrator, a member, and two keys: one of the team, and one of the member. */
async function createTeam(id: string, members: object = {}): Promise<readonly [team: string, member: string]> {
  await post('/team/new', {
    team_id: id,
    members_with_roles: [
      { role: 'admin', user_id: 'boss' },
      { role: 'user', user_id: 'member' },
    ],
    ...members,
  });
  return [await key({ team_id: id }), await key({ team_id: id, user_id: 'member' })];
}

describe('teamKeys.update', () => {
  it('teamKeys.update 200: named keys are changed; keys of other teams and unknown keys are failed updates', async () => {
    const [own] = await createTeam('named');
    const [foreign] = await createTeam('elsewhere');
    const body = {
      team_id: 'named',
      key_ids: [own, foreign, UNKNOWN],
      update_fields: { max_budget: 42, rpm_limit: 5 },
    };
    const reason = 'Key not found in team named.';
    expect(await post(PATH, body)).toMatchObject({
      status: 200,
      body: {
        total_requested: 3,
        successful_updates: [succeeded(own, { team_id: 'named', max_budget: 42, rpm_limit: 5 })],
        failed_updates: [failed(foreign, reason), failed(UNKNOWN, reason)],
      },
    });
    expect(await infoOf(own)).toMatchObject({ max_budget: 42, rpm_limit: 5 });
    expect(await infoOf(foreign)).toMatchObject({ max_budget: null, rpm_limit: null });
    const { body: audit } = await get(`/audit?object_id=${hashOf(own)}&sort_by=updated_at&sort_order=asc`);
    expect((audit['audit_logs'] as readonly Json[]).map(({ action }) => action)).toEqual(['created', 'updated']);
  });

  it('teamKeys.update 200: an administrator of the team changes all its keys', async () => {
    const secrets = await createTeam('whole');
    const body = { team_id: 'whole', all_keys_in_team: true, update_fields: { max_budget: 3, tags: ['x'] } };
    const { status, body: answer } = await post(PATH, { ...body, update_fields: { max_budget: 3 } }, boss);
    expect([status, answer['total_requested'], answer['failed_updates']]).toEqual([200, 2, []]);
    expect((answer['successful_updates'] as readonly Json[]).map(({ key: hash }) => hash)).toEqual(secrets.map(hashOf));
    for (const secret of secrets) expect(await infoOf(secret)).toMatchObject({ max_budget: 3 });
    expect((await post(PATH, body)).body['failed_updates']).toEqual([]);
    for (const secret of secrets) expect(await infoOf(secret)).toMatchObject({ metadata: { tags: ['x'] } });
  });

  it('teamKeys.update 200: a member with the permission changes only its own keys', async () => {
    const [team, own] = await createTeam('permitted', { team_member_permissions: ['/key/update'] });
    await post('/key/update', { key: own, max_budget: 9 });
    const body = { team_id: 'permitted', all_keys_in_team: true, update_fields: { max_budget: 2 } };
    const { status, body: answer } = await post(PATH, body, member);
    expect([status, answer['total_requested']]).toEqual([200, 2]);
    expect(answer).toMatchObject({
      successful_updates: [{ key: hashOf(own) }],
      failed_updates: [{ key: hashOf(team) }],
    });
    expect(await infoOf(own)).toMatchObject({ max_budget: 2 });
    expect(await infoOf(team)).toMatchObject({ max_budget: null });
  });

  it('teamKeys.update 400: a blank team, and too many keys', async () => {
    await createTeam('many');
    const update = { update_fields: { max_budget: 1 } };
    expect(await post(PATH, { ...update, team_id: '', all_keys_in_team: true })).toEqual(
      detail(400, 'team_id is required'),
    );
    const keys = Array.from({ length: 501 }, () => UNKNOWN);
    expect(await post(PATH, { ...update, team_id: 'many', key_ids: keys })).toEqual(
      detail(400, 'Maximum 500 keys can be updated at once'),
    );
  });

  it('teamKeys.update 404: an unknown team, and a team without keys', async () => {
    const body = { team_id: 'none', all_keys_in_team: true, update_fields: { max_budget: 1 } };
    expect(await post(PATH, body)).toEqual(detail(404, 'Team not found, passed team_id=none'));
    await post('/team/new', { team_id: 'empty' });
    expect(await post(PATH, { ...body, team_id: 'empty' })).toEqual(detail(404, 'No keys found for team_id=empty'));
  });

  const BODY = { team_id: 'x', key_ids: ['sk-x'], update_fields: { max_budget: 1 } };
  const valueError = (loc: readonly string[], text: string) => ({
    type: 'value_error',
    loc: ['body', ...loc],
    msg: `Value error, ${text}`,
  });
  it.each([
    [
      'no fields',
      { ...BODY, update_fields: undefined },
      { type: 'missing', loc: ['body', 'update_fields'], msg: 'Field required' },
    ],
    [
      'empty fields',
      { ...BODY, update_fields: {} },
      valueError(['update_fields'], 'update_fields must specify at least one field to update.'),
    ],
    [
      'a field that one key only may have',
      { ...BODY, update_fields: { key_alias: 'x' } },
      { type: 'extra_forbidden', loc: ['body', 'update_fields', 'key_alias'], msg: 'Extra inputs are not permitted' },
    ],
    [
      'half of a temporary budget',
      { ...BODY, update_fields: { temp_budget_increase: 1 } },
      valueError(['update_fields'], 'temp_budget_increase and temp_budget_expiry must be set together'),
    ],
    [
      'a field of a wrong type',
      { ...BODY, update_fields: { rpm_limit: 'x' } },
      {
        type: 'int_parsing',
        loc: ['body', 'update_fields', 'rpm_limit'],
        msg: 'Input should be a valid integer, unable to parse string as an integer',
      },
    ],
    [
      'keys and all keys',
      { ...BODY, all_keys_in_team: true },
      valueError([], 'Provide either `key_ids` or `all_keys_in_team=True`, not both.'),
    ],
    [
      'neither keys nor all keys',
      { ...BODY, key_ids: [] },
      valueError([], 'Must provide either `key_ids` (non-empty) or `all_keys_in_team=True`.'),
    ],
  ])('teamKeys.update 422: %s', async (_what, body, fault) => {
    const { status, body: answer } = await post(PATH, body);
    expect([status, answer]).toEqual([422, { detail: [fault] }]);
  });

  it('teamKeys.update 401: no key, and a member without the permission; 403: a read-only administrator', async () => {
    const [, own] = await createTeam('denied');
    const body = { team_id: 'denied', key_ids: [own], update_fields: { max_budget: 1 } };
    expect(await send('POST', PATH, body, '')).toEqual(NO_KEY);
    const refusal = await post(PATH, body, member);
    expect([refusal.status, (refusal.body['error'] as Json)['type']]).toEqual([401, 'auth_error']);
    const viewer = await user({ user_id: 'keys-viewer', user_role: 'proxy_admin_viewer' });
    expect(await post(PATH, body, viewer)).toEqual(
      envelope(403, 'Only proxy admins can do this.', 'auth_error', 'None'),
    );
    expect(await infoOf(own)).toMatchObject({ max_budget: null });
  });
});
