import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { get, post } = tenancyClient();

// SQLite ends a statement at a NUL, and PostgreSQL refuses a NUL.
it.each([
  ['/user/info?user_id=%00', 404],
  ['/user/list?user_email=a%00b&page=1', 200],
  ['/team/info?team_id=%00', 404],
  ['/v2/team/list?team_alias=%00', 200],
  ['/key/list?user_id=%00', 200],
  ['/key/list?team_id=a%00&key_alias=%00', 200],
  ['/key/info?key=%00', 404],
  ['/customer/info?end_user_id=%00', 404],
] as const)('a NUL in a query parameter: %s is %i', async (path, status) => {
  expect((await get(path)).status).toBe(status);
});

it.each([
  ['/user/delete', { user_ids: ['\0'] }],
  ['/team/delete', { team_ids: ['\0'] }],
  ['/key/delete', { keys: ['\0'] }],
  ['/key/block', { key: '\0' }],
  ['/team/update', { team_id: '\0' }],
])('a NUL in the id of a change is a client error: %s', async (path, body) => {
  const { status } = await post(path, body);
  expect([status >= 400, status < 500]).toEqual([true, true]);
});
