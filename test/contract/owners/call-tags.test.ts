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

const TAGGED = { key: { metadata: { tags: ['of key'] } }, team: { metadata: { tags: ['of team'] } } };

async function statusOrRefusal(key: string, fields: object = {}): Promise<unknown> {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const received: unknown = await answer.json();
  return answer.status === 200 ? 200 : [answer.status, received];
}

async function tagsOf(key: string): Promise<unknown> {
  const today = new Date().toISOString().slice(0, 10);
  const path = `/spend/logs/v2?start_date=${today}%2000:00:00&end_date=${today}%2023:59:59&api_key=${key}`;
  const { data } = (await (await calls.app.call('GET', path)).json()) as { data: { request_tags: string[] }[] };
  return data.map(({ request_tags }) => request_tags.filter((tag) => !tag.startsWith('User-Agent')));
}

const exceeded = (tag: string) => [
  422,
  {
    error: {
      message: `Budget has been exceeded! Tag=${tag} Current cost: 1.0, Max budget: 0.5`,
      type: 'budget_exceeded',
      param: null,
      code: '422',
    },
  },
];

describe('the tags of a key and of its team', () => {
  it('are listed after the tags of the request in the spend row of a call, without repetitions', async () => {
    await calls.manage('/team/new', { team_id: 'tagged', ...TAGGED.team });
    const key = await calls.newKey({ team_id: 'tagged', ...TAGGED.key });
    expect(await statusOrRefusal(key, { tags: ['of call', 'of key'] })).toBe(200);
    await vi.waitFor(async () => expect(await tagsOf(key)).toEqual([['of call', 'of key', 'of team']]), POLLING);
  });

  it('have budgets that count the calls with the key', async () => {
    await calls.manage('/tag/new', { name: 'own', max_budget: 0.5 });
    await calls.manage('/tag/new', { name: 'team', max_budget: 0.5 });
    await calls.manage('/team/new', { team_id: 'counted', tags: ['team'] });
    const taggedKey = await calls.newKey({ tags: ['own'] });
    const keyOfTaggedTeam = await calls.newKey({ team_id: 'counted' });
    expect([await statusOrRefusal(taggedKey), await statusOrRefusal(keyOfTaggedTeam)]).toEqual([200, 200]);
    expect([await statusOrRefusal(taggedKey), await statusOrRefusal(keyOfTaggedTeam)]).toEqual([
      exceeded('own'),
      exceeded('team'),
    ]);
    expect(await statusOrRefusal(await calls.newKey({}), { tags: ['own'] })).toEqual(exceeded('own'));
  });

  it('400: refuse a call with more than 64 tags in total, or with a tag of more than 256 characters', async () => {
    const numberedTags = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
    const key = await calls.newKey({ tags: ['one more'] });
    const message = 'A call has at most 64 tags, with those of its key, team and project. This call has 65.';
    const refused = [400, { error: { message, type: 'invalid_request_error', param: 'tags', code: '400' } }] as const;
    expect(await statusOrRefusal(key, { tags: numberedTags(64) })).toEqual(refused);
    expect(await statusOrRefusal(await calls.newKey({}), { tags: numberedTags(65) })).toEqual(refused);
    expect(await statusOrRefusal(key, { tags: numberedTags(63) })).toBe(200);
    expect(await statusOrRefusal(key, { metadata: { tags: ['x'.repeat(257)] } })).toEqual([
      400,
      { error: { ...refused[1].error, message: 'A tag has at most 256 characters.' } },
    ]);
  });
});

describe('a tag or a customer with a name of more than 100 characters', () => {
  it.each([
    ['/tag/new', 'name'],
    ['/customer/new', 'user_id'],
  ])('422: is refused by %s', async (path, member) => {
    const create = async (name: string) => (await calls.app.call('POST', path, { [member]: name })).status;
    expect([await create('n'.repeat(101)), await create('n'.repeat(100))]).toEqual([422, 200]);
  });
});
