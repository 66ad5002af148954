import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, type Json, type PolicyServer, startPolicies } from './policy-server.ts';

let server: PolicyServer;
const made = async (path: string, body: Json): Promise<Json> => {
  const [status, answer] = await server.manage('POST', path, body);
  expect(status).toBe(200);
  return answer as Json;
};
beforeAll(async () => {
  server = await startPolicies([blocks('one')]);
  const { team_id: sales } = await made('/team/new', { team_alias: 'sales', metadata: { tags: ['health-eu'] } });
  await made('/team/new', { team_alias: 'other' });
  await made('/key/generate', { key_alias: 'of-sales', team_id: sales });
  await made('/key/generate', { team_id: sales });
  await made('/key/generate', { key_alias: 'tagged', metadata: { tags: ['health-us'] } });
});
afterAll(() => server.stop());

const estimate = (rules: Json) =>
  server.manage('POST', '/policies/attachments/estimate-impact', { policy_name: 'p', ...rules });
const counts = (keys: Json, teams: Json = { count: 0, sample: [] }) => [
  200,
  {
    affected_keys_count: keys['count'],
    affected_teams_count: teams['count'],
    unnamed_keys_count: keys['unnamed'] ?? 0,
    unnamed_teams_count: 0,
    sample_keys: keys['sample'],
    sample_teams: teams['sample'],
  },
];

describe('estimates of attachments', () => {
  it('policyAttachments.estimate 200: keys and teams that match all lists', async () => {
    const ofSales = { count: 2, unnamed: 1, sample: ['of-sales'] };
    expect(await estimate({ teams: ['sa*'] })).toEqual(counts(ofSales, { count: 1, sample: ['sales'] }));
    expect(await estimate({ tags: ['health-*'] })).toEqual(
      counts({ count: 3, unnamed: 1, sample: ['of-sales', 'tagged'] }, { count: 1, sample: ['sales'] }),
    );
    expect(await estimate({ keys: ['of-*', 'tagged'], models: ['m'] })).toEqual(
      counts({ count: 2, sample: ['of-sales', 'tagged'] }, { count: 1, sample: ['sales'] }),
    );
    expect(await estimate({ keys: ['tagged'], teams: ['sales'] })).toEqual(counts({ count: 0, sample: [] }));
    expect(await estimate({ teams: ['other'] })).toEqual(
      counts({ count: 0, sample: [] }, { count: 1, sample: ['other'] }),
    );
  });

  it('policyAttachments.estimate 200: an attachment to every call', async () => {
    const all = counts(
      { count: -1, sample: ['(global scope — affects all keys)'] },
      { count: -1, sample: ['(global scope — affects all teams)'] },
    );
    expect(await estimate({ scope: '*' })).toEqual(all);
    expect(await estimate({ models: ['m'] })).toEqual(all);
    expect(await server.manage('GET', '/policies/attachments/list')).toEqual([
      200,
      { attachments: [], total_count: 0 },
    ]);
  });

  it('policyAttachments.estimate 400, policyAttachments.estimate 422: faulty rules, and no policy_name', async () => {
    expect(await estimate({ scope: 'team' })).toEqual([400, { detail: "scope must be '*', or absent" }]);
    expect(await server.manage('POST', '/policies/attachments/estimate-impact', {})).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'policy_name'], msg: 'Field required' }] },
    ]);
  });
});
