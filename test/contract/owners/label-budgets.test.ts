import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';
import { POLLING } from '../../support/polling.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const refusal = (message: string) => [422, { error: { message, type: 'budget_exceeded', param: null, code: '422' } }];
const ofTag = (tag: string, cost: string, budget: string) =>
  refusal(`Budget has been exceeded! Tag=${tag} Current cost: ${cost}, Max budget: ${budget}`);
const ofCustomer = (user: string, cost: string, budget: string) =>
  refusal(`ExceededBudget: End User=${user} over budget. Spend=${cost}, Budget=${budget}`);

/** Sends a call that costs 1 USD, by default with the admin key. Returns 200, or the status and body of a refusal. */
async function statusOrRefusal(fields: object, key = calls.app.adminKey): Promise<unknown> {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const headers = { authorization: `Bearer ${key}` };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, headers);
  const received: unknown = await answer.json();
  return answer.status === 200 ? 200 : [answer.status, received];
}

describe('the budget of a customer', () => {
  it('is shared by all keys, and refuses calls when the spend exceeds it', async () => {
    await calls.manage('/customer/new', { user_id: 'spender', max_budget: 1 });
    const key = await calls.newKey({});
    // The budget does not refuse a spend that equals it.
    expect([await statusOrRefusal({ user: 'spender' }), await statusOrRefusal({ user: 'spender' }, key)]).toEqual([
      200, 200,
    ]);
    for (const keyOrAdminKey of [key, calls.app.adminKey])
      expect(await statusOrRefusal({ user: 'spender' }, keyOrAdminKey)).toEqual(ofCustomer('spender', '2.0', '1.0'));
    expect(await statusOrRefusal({ user: 'spender', model: 'free' })).toBe(200);
    expect(await statusOrRefusal({ user: 'another' })).toBe(200);
    await calls.manage('/customer/update', { user_id: 'spender', max_budget: 10 });
    expect(await statusOrRefusal({ user: 'spender' })).toBe(200);
  });

  it('refuses the first call if it is zero; without a budget every call is admitted', async () => {
    await calls.manage('/customer/new', { user_id: 'broke', max_budget: 0 });
    await calls.manage('/customer/new', { user_id: 'unlimited' });
    expect(await statusOrRefusal({ user: 'broke' })).toEqual(ofCustomer('broke', '0.0', '0.0'));
    expect([await statusOrRefusal({ user: 'unlimited' }), await statusOrRefusal({ user: 'unlimited' })]).toEqual([
      200, 200,
    ]);
  });

  it('is the budget that end_user_budget_id of the key names, if the customer has none', async () => {
    await calls.manage('/budget/new', { budget_id: 'of-end-users', max_budget: 0.5 });
    const key = await calls.newKey({ end_user_budget_id: 'of-end-users' });
    expect([await statusOrRefusal({ user: 'visitor' }, key), await statusOrRefusal({ user: 'visitor' })]).toEqual([
      200, 200,
    ]);
    expect(await statusOrRefusal({ user: 'visitor' }, key)).toEqual(ofCustomer('visitor', '2.0', '0.5'));
    expect(await statusOrRefusal({ user: 'other visitor' }, key)).toBe(200);
  });

  it('counts spend from before it was set', async () => {
    expect([await statusOrRefusal({ user: 'early' }), await statusOrRefusal({ user: 'early' })]).toEqual([200, 200]);
    const dailySpend = async () => {
      const today = new Date().toISOString().slice(0, 10);
      const answer = await calls.app.call(
        'GET',
        `/customer/daily/activity?start_date=${today}&end_date=${today}&end_user_ids=early`,
      );
      return ((await answer.json()) as { metadata: { total_spend: number } }).metadata.total_spend;
    };
    await vi.waitFor(async () => expect(await dailySpend()).toBe(2), POLLING);
    await calls.manage('/customer/new', { user_id: 'early', max_budget: 1 });
    expect(await statusOrRefusal({ user: 'early' })).toEqual(ofCustomer('early', '2.0', '1.0'));
  });
});

describe('the spend of a customer', () => {
  it('includes calls before the customer was created, in /customer/info and /customer/list', async () => {
    expect([await statusOrRefusal({ user: 'shown' }), await statusOrRefusal({ user: 'shown' })]).toEqual([200, 200]);
    await calls.manage('/customer/new', { user_id: 'shown', max_budget: 9 });
    await calls.manage('/customer/new', { user_id: 'silent' });
    const spendOf = async (id: string): Promise<unknown> => {
      const answer = await calls.app.call('GET', `/customer/info?end_user_id=${id}`);
      return ((await answer.json()) as { spend: unknown }).spend;
    };
    await vi.waitFor(async () => expect(await spendOf('shown')).toBe(2), POLLING);
    expect(await spendOf('silent')).toBe(0);
    const listed = await calls.app.call('GET', '/customer/list');
    expect(await listed.json()).toContainEqual(expect.objectContaining({ user_id: 'shown', spend: 2 }));
  });
});

describe('the budget of a tag', () => {
  it('counts calls with the tag in `tags` or `metadata.tags`, until the tag is deleted', async () => {
    await calls.manage('/tag/new', { name: 'campaign', max_budget: 1 });
    expect([
      await statusOrRefusal({ metadata: { tags: ['campaign', 'x'] } }),
      await statusOrRefusal({ tags: ['campaign'] }),
    ]).toEqual([200, 200]);
    expect(await statusOrRefusal({ tags: ['x', 'campaign'] })).toEqual(ofTag('campaign', '2.0', '1.0'));
    expect(await statusOrRefusal({ tags: ['x'] })).toBe(200);
    await calls.manage('/tag/delete', { name: 'campaign' });
    expect(await statusOrRefusal({ tags: ['campaign'] })).toBe(200);
  });

  it('refuses the first call if it is zero, and is checked before the budget of the customer', async () => {
    await calls.manage('/tag/new', { name: 'never', max_budget: 0 });
    await calls.manage('/customer/new', { user_id: 'never too', max_budget: 0 });
    expect(await statusOrRefusal({ tags: ['never'], user: 'never too' })).toEqual(ofTag('never', '0.0', '0.0'));
  });

  it('is checked after the budget of the key', async () => {
    await calls.manage('/tag/new', { name: 'second', max_budget: 0 });
    const key = await calls.newKey({ max_budget: 0, key_alias: 'first' });
    expect(JSON.stringify(await statusOrRefusal({ tags: ['second'] }, key))).toContain('Key=first');
  });
});

describe('`litellm_settings.max_end_user_budget_id`', () => {
  it('is the budget of customers without a budget, unless the key names one', async () => {
    const configured = await startOwnerCalls({ litellm_settings: { max_end_user_budget_id: 'default' } });
    try {
      await configured.manage('/budget/new', { budget_id: 'default', max_budget: 0.5, rpm_limit: 100 });
      await configured.manage('/budget/new', { budget_id: 'generous', max_budget: 10 });
      await configured.manage('/customer/new', { user_id: 'known', max_budget: 10 });
      const [key, generousKey] = [
        await configured.newKey({}),
        await configured.newKey({ end_user_budget_id: 'generous' }),
      ];
      const statusAndLimit = async (user: string, by: string) => {
        const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, user };
        const answer = await configured.app.call('POST', '/v1/chat/completions', body, {
          authorization: `Bearer ${by}`,
        });
        return [answer.status, answer.headers.get('x-ratelimit-end_user-limit-requests')];
      };
      expect([await statusAndLimit('unknown', key), await statusAndLimit('unknown', key)]).toEqual([
        [200, '100'],
        [422, null],
      ]);
      expect(await statusAndLimit('unknown', generousKey)).toEqual([200, null]);
      expect([await statusAndLimit('known', key), await statusAndLimit('known', key)]).toEqual([
        [200, null],
        [200, null],
      ]);
    } finally {
      await configured.stop();
    }
  });
});
