import { beforeAll, describe, expect, it } from 'vitest';
import { chat, tenancyClient } from '../../support/tenancy-client.ts';

const { post, get, send, key } = tenancyClient();

const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
let otherKey: string;
let requestId: string;

beforeAll(async () => {
  otherKey = await key({ user_id: 'someone', key_alias: 'of-another' });
  requestId = String((await post('/v1/chat/completions', chat(), otherKey)).body['id']);
  // This report waits until the records of calls are stored.
  await get('/global/spend/keys');
});

describe('the permission get_spend_routes of a key', () => {
  it('shows the calls of all keys, over HTTP and in the graph', async () => {
    const secret = await key({ permissions: { get_spend_routes: true } });
    expect((await get(`/spend/logs?${DAYS}&summarize=false`, secret)).body).toMatchObject([{ user: 'someone' }]);
    expect((await get('/global/spend/keys', secret)).body).toMatchObject([{ key_alias: 'of-another' }]);
    expect((await get(`/global/activity?${DAYS}`, secret)).body).toMatchObject({ sum_api_requests: 1 });
    const query = '{ spendRows(first: 5) { nodes { user { userId } key { alias } callType } } }';
    const { body } = await send('POST', '/graphql', { query }, secret);
    // Users and keys that the key may not read are null.
    expect(body).toEqual({ data: { spendRows: { nodes: [{ user: null, key: null, callType: expect.anything() }] } } });
  });

  it('does not give access to call texts of other keys, to changes or to other routes', async () => {
    const secret = await key({ permissions: { get_spend_routes: true }, user_id: 'reader' });
    expect((await get(`/spend/logs/ui/${requestId}`)).body).not.toBeNull();
    expect((await get(`/spend/logs/ui/${requestId}`, secret)).body).toBeNull();
    expect((await post('/global/spend/reset', {}, secret)).status).toBe(401);
    expect((await get('/user/list', secret)).status).toBe(403);
    expect((await get('/key/info?key=x', secret)).status).toBe(403);
    expect((await get(`/user/daily/activity?${DAYS}&user_id=someone`, secret)).status).toBe(403);
  });

  it.each([{}, { get_spend_routes: false }, { get_spend_routes: 'true' }, { get_spend_routes: 1 }])(
    'is not given by %j',
    async (permissions) => {
      const secret = await key({ permissions });
      expect((await get('/global/spend/keys', secret)).status).toBe(401);
      expect((await get(`/spend/logs?${DAYS}&summarize=false`, secret)).status).toBe(401);
    },
  );
});
