import { beforeAll, expect, it } from 'vitest';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
const PATH = `/user/daily/activity/aggregated/cache_leakage_keys?${DAYS}`;

const client = tenancyClient();
/** Prompt lengths in words, by key alias. */
const PROMPTS = { short: 10, longest: 4_000, long: 400 };

beforeAll(awayFromMidnight);
beforeAll(async () => {
  for (const [alias, length] of Object.entries(PROMPTS)) {
    const key = await client.key({ key_alias: alias, user_id: `user-${alias}` });
    const messages = [{ role: 'user', content: 'word '.repeat(length) }];
    await client.post('/v1/chat/completions', { model: 'demo', messages }, key);
  }
});

const aliases = async (path: string): Promise<readonly unknown[]> => {
  const { status, body } = await client.get(path);
  expect([status, Object.keys(body)]).toEqual([200, ['api_keys']]);
  return (body['api_keys'] as readonly Json[]).map((key) => (key['metadata'] as Json)['key_alias']);
};

it('dailyActivity.userUncachedKeys 200: most prompt tokens first', async () => {
  expect(await aliases(PATH)).toEqual(['longest', 'long', 'short']);
  expect(await aliases(`${PATH}&limit=1`)).toEqual(['longest']);
  expect(await aliases(`${PATH}&user_id=user-short`)).toEqual(['short']);
  expect((await client.get(PATH.replace('/user', '/team'))).status).toBe(404);
});

it('dailyActivity.userWhole 200: without a breakdown by user', async () => {
  const { body } = await client.get(`/user/daily/activity/aggregated?${DAYS}`);
  const days = body['results'] as readonly { readonly breakdown: Json }[];
  expect(days.map(({ breakdown }) => breakdown['entities'])).toEqual([{}]);
  expect(body['metadata']).toMatchObject({ entity_total_api_keys: null, total_api_keys: 3 });
});
