import { beforeAll, expect, it } from 'vitest';
import { spendReportRoutes } from '../../../rest-shims/spend-reports.ts';
import { chat, tenancyClient } from '../../support/tenancy-client.ts';

const { post, get, key } = tenancyClient();

beforeAll(async () => {
  for (const user of ['a', 'b']) await post('/v1/chat/completions', chat(), await key({ user_id: user }));
});

it('spend.byKey 200: `limit` is the number of keys; without it, all are listed', async () => {
  expect((await get('/global/spend/keys')).body).toHaveLength(2);
  expect((await get('/global/spend/keys?limit=1')).body).toHaveLength(1);
});

it('the documented reports with the parameter `limit` are those that read it', () => {
  const limited = spendReportRoutes.filter(({ querySchema = {} }) =>
    Object.hasOwn(querySchema['properties'] ?? {}, 'limit'),
  );
  expect(limited.map(({ name }) => name)).toEqual(['spend.byKey', 'spend.byModel']);
});
