import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const RESET = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
const refusal = (subject: string, type: string, limit: number) => ({
  error: {
    message: expect.stringMatching(
      new RegExp(
        `^Rate limit exceeded for ${subject}. Limit type: ${type}. Current limit: ${limit}, Remaining: 0. Limit resets at: ${RESET}$`,
      ),
    ) as string,
    type: 'throttling_error',
    param: null,
    code: '429',
  },
});

describe('rate limits', () => {
  it('team limits are shared by all keys of the team', async () => {
    await calls.manage('/team/new', { team_id: 'pool', rpm_limit: 2 });
    const [firstKey, secondKey] = [await calls.newKey({ team_id: 'pool' }), await calls.newKey({ team_id: 'pool' })];
    const first = await calls.chat(firstKey);
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'x-ratelimit-team-limit-requests': '2',
      'x-ratelimit-team-remaining-requests': '1',
    });
    expect(first.headers.get('x-ratelimit-limit-requests')).toBeNull();
    expect((await calls.chat(secondKey)).status).toBe(200);
    for (const key of [firstKey, secondKey]) {
      const refused = await calls.chat(key);
      expect([refused.status, refused.body]).toEqual([429, refusal('team: pool', 'requests', 2)]);
      expect(Object.fromEntries(refused.headers)).toMatchObject({ 'retry-after': '60', rate_limit_type: 'requests' });
    }
    expect((await calls.chat(await calls.newKey({}))).status).toBe(200);
  });

  it('team limits for a model are shared by all keys of the team', async () => {
    await calls.manage('/team/new', { team_id: 'models', metadata: { model_rpm_limit: { priced: 2 } } });
    const [firstKey, secondKey] = [
      await calls.newKey({ team_id: 'models' }),
      await calls.newKey({ team_id: 'models' }),
    ];
    for (const key of [firstKey, secondKey]) expect((await calls.chat(key)).status).toBe(200);
    const third = await calls.chat(firstKey);
    expect([third.status, third.body]).toEqual([429, refusal('model_per_team: models:priced', 'requests', 2)]);
    expect((await calls.chat(firstKey, 'free')).status).toBe(200);
  });

  it('limits of an organization or a project for a model are shared by all its keys', async () => {
    const limits = { model_rpm_limit: { priced: 1 } };
    await calls.manage('/organization/new', { organization_id: 'limited', organization_alias: 'limited', ...limits });
    await calls.manage('/team/new', { team_id: 'planned' });
    await calls.manage('/project/new', { team_id: 'planned', project_id: 'limited', ...limits });
    const owners = [
      ['organization', { organization_id: 'limited' }],
      ['project', { project_id: 'limited' }],
    ] as const;
    for (const [scope, draft] of owners) {
      const [firstKey, secondKey] = [await calls.newKey(draft), await calls.newKey(draft)];
      expect((await calls.chat(firstKey)).status).toBe(200);
      const second = await calls.chat(secondKey);
      expect([second.status, second.body]).toEqual([429, refusal(`model_per_${scope}: limited:priced`, 'requests', 1)]);
      expect((await calls.chat(secondKey, 'free')).status).toBe(200);
    }
    const metadata = async () => {
      const shown = await calls.app.call('GET', '/organization/info?organization_id=limited');
      return ((await shown.json()) as { readonly metadata: object }).metadata;
    };
    expect(await metadata()).toEqual(limits);
    const changed = { organization_id: 'limited', model_rpm_limit: null };
    expect((await calls.app.call('PATCH', '/organization/update', changed)).status).toBe(200);
    expect(await metadata()).toEqual({});
    expect((await calls.chat(await calls.newKey({ organization_id: 'limited' }))).status).toBe(200);
  });

  it('limits of a customer and of a tag apply to all keys and the admin key', async () => {
    await calls.manage('/customer/new', { user_id: 'hasty', rpm_limit: 1 });
    await calls.manage('/tag/new', { name: 'hasty', rpm_limit: 1 });
    const ask = async (fields: object, key = calls.app.adminKey) => {
      const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
      const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    };
    const key = await calls.newKey({});
    const first = await ask({ user: 'hasty' }, key);
    expect([first.status, first.headers.get('x-ratelimit-end_user-limit-requests')]).toEqual([200, '1']);
    const second = await ask({ user: 'hasty' });
    expect([second.status, second.body]).toEqual([429, refusal('end_user: hasty', 'requests', 1)]);
    expect((await ask({ tags: ['hasty'] }, key)).status).toBe(200);
    const third = await ask({ tags: ['x', 'hasty'] });
    expect([third.status, third.body]).toEqual([429, refusal('tag: hasty', 'requests', 1)]);
    expect(third.headers.get('retry-after')).toBe('60');
    expect((await ask({ user: 'patient', tags: ['patient'] })).status).toBe(200);
  });

  it('limits of a key for a tag (`tag_rpm_limit`) count only calls with that key and tag', async () => {
    const { key, token } = (await calls.manage('/key/generate', {
      tags: ['limited'],
      tag_rpm_limit: { limited: 1 },
    })) as { key: string; token: string };
    expect((await calls.chat(key)).status).toBe(200);
    const second = await calls.chat(key);
    expect([second.status, second.body]).toEqual([429, refusal(`tag_per_key: ${token}:limited`, 'requests', 1)]);
    const otherKey = await calls.newKey({ tags: ['limited'] });
    expect([(await calls.chat(otherKey)).status, (await calls.chat(otherKey)).status]).toEqual([200, 200]);
  });

  it('limits of a user are shared by all keys of the user', async () => {
    await calls.manage('/user/new', { user_id: 'ann', auto_create_key: false, rpm_limit: 1 });
    const [firstKey, secondKey] = [await calls.newKey({ user_id: 'ann' }), await calls.newKey({ user_id: 'ann' })];
    expect((await calls.chat(firstKey)).status).toBe(200);
    const second = await calls.chat(secondKey);
    expect([second.status, second.body]).toEqual([429, refusal('user: ann', 'requests', 1)]);
  });

  it('limits of a key for a model replace the limits of its team for the model, separately for requests and tokens', async () => {
    await calls.manage('/team/new', {
      team_id: 'overridden',
      model_rpm_limit: { priced: 1 },
      model_tpm_limit: { priced: 2 },
    });
    const keyLimits = { model_rpm_limit: { priced: 5 }, model_tpm_limit: { priced: 500 } };
    const keyOf = (limits: object) => calls.newKey({ team_id: 'overridden', ...limits });
    const [requestLimitKey, tokenLimitKey, bothLimitsKey, budgetedModelKey] = [
      await keyOf({ model_rpm_limit: keyLimits.model_rpm_limit }),
      await keyOf({ model_tpm_limit: keyLimits.model_tpm_limit }),
      await keyOf(keyLimits),
      await keyOf({ model_max_budget: { priced: { budget_limit: null, rpm_limit: 1, tpm_limit: 500 } } }),
    ];
    // Uses one request and all tokens of the team limits.
    expect((await calls.chat(await keyOf({}))).status).toBe(200);
    const teamRefusal = (type: string, limit: number) => refusal('model_per_team: overridden:priced', type, limit);
    const answers = [await calls.chat(requestLimitKey), await calls.chat(tokenLimitKey)].map(({ status, body }) => [
      status,
      body,
    ]);
    expect(answers).toEqual([
      [429, teamRefusal('tokens', 2)],
      [429, teamRefusal('requests', 1)],
    ]);
    expect([(await calls.chat(bothLimitsKey)).status, (await calls.chat(budgetedModelKey)).status]).toEqual([200, 200]);
    const refused = await calls.chat(budgetedModelKey);
    expect([refused.status, refused.headers.get('rate_limit_type')]).toEqual([429, 'requests']);
    expect(JSON.stringify(refused.body)).toContain('model_per_key');
  });
});
