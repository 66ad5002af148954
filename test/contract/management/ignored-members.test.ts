import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const MEMBER = { user_id: 'u', role: 'user' };
/** Misspelt names of a budget and a limit, which the reference ignores. */
const UNKNOWN_MEMBERS = { maximum_budget: 5, rpm_limits: 3 };

describe('members of a body that have no effect', () => {
  it.each([
    ['POST', '/user/new', { user_id: 'u', auto_create_key: false }],
    ['POST', '/user/update', { user_id: 'u' }],
    [
      'POST',
      '/team/new',
      { team_id: 't', max_budget: 1, team_member_budget: 1, tags: ['a'], model_rpm_limit: { m: 1 } },
    ],
    ['POST', '/team/update', { team_id: 't', team_member_rpm_limit: 3, metadata: { a: 1 } }],
    ['POST', '/team/member_add', { team_id: 't', member: MEMBER, max_budget_in_team: 2 }],
    ['POST', '/team/member_update', { team_id: 't', user_id: 'u', max_budget_in_team: 3, allowed_models: ['m'] }],
    ['POST', '/budget/new', { budget_id: 'b', max_budget: 1, tpd_limit: 3 }],
    ['POST', '/budget/update', { budget_id: 'b', soft_budget: 1 }],
    ['POST', '/customer/new', { user_id: 'c', max_budget: 1, allowed_model_region: 'eu' }],
    ['POST', '/customer/update', { user_id: 'c', default_model: 'm' }],
    ['POST', '/tag/new', { name: 'g', rpm_limit: 1 }],
    ['POST', '/tag/update', { name: 'g', description: 'x' }],
    ['POST', '/organization/new', { organization_id: 'o', organization_alias: 'o', model_tpm_limit: { m: 1 } }],
    ['PATCH', '/organization/update', { organization_id: 'o', max_budget: 1 }],
    ['POST', '/project/new', { project_id: 'p', team_id: 't', model_rpm_limit: { m: 1 } }],
    ['POST', '/project/update', { project_id: 'p', max_budget: 1 }],
    ['POST', '/key/generate', { key_alias: 'k', max_budget: 1 }],
  ])('%s %s: only unknown members are named in a header', async (method, path, body) => {
    const answer = await app.call(method, path, { ...body, ...UNKNOWN_MEMBERS });
    expect([answer.status, answer.headers.get('x-lensgate-ignored-members')]).toEqual([
      200,
      'maximum_budget, rpm_limits',
    ]);
    // Only updates are repeated: a second creation would fail, because the row exists.
    if (!path.endsWith('update')) return;
    const withKnownMembers = await app.call(method, path, body);
    expect([withKnownMembers.status, withKnownMembers.headers.get('x-lensgate-ignored-members')]).toEqual([200, null]);
  });

  it.each([
    ['/budget/new', { budget_id: 'many' }],
    ['/key/generate', { key_alias: 'many' }],
  ])('are named in a header up to a maximum of 50 names: %s', async (path, body) => {
    const names = Array.from({ length: 1_000 }, (_, index) => `a_rather_long_name_of_an_unknown_member_${index}`);
    const answer = await app.call('POST', path, { ...body, ...Object.fromEntries(names.map((name) => [name, 1])) });
    expect([answer.status, answer.headers.get('x-lensgate-ignored-members')]).toEqual([
      200,
      names.slice(0, 50).join(', '),
    ]);
  });

  it('do not change a budget: max_budget in place of max_budget_in_team is ignored', async () => {
    const body = { team_id: 't', user_id: 'u', max_budget: 99 };
    const answer = await app.call('POST', '/team/member_update', body);
    expect(answer.headers.get('x-lensgate-ignored-members')).toBe('max_budget');
    // A request of `/team/member_update` above has set this budget to 3.
    expect(await answer.json()).toMatchObject({ max_budget_in_team: 3 });
  });
});
