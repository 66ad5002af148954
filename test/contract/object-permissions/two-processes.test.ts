import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import type { TestApp } from '../../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../../support/two-apps.ts';

const ADMIN = 'sk-admin-of-two-processes-1234';

describe.skipIf(LACKS_POSTGRESQL)('object_permission in two processes', () => {
  let apps: TwoApps;

  beforeAll(async () => {
    apps = await startTwoApps(ADMIN, {
      config: { agents: [{ agent_name: 'first', agent_card_params: { url: 'http://127.0.0.1:9/' } }] },
    });
  }, 60_000);
  afterAll(() => apps.stop());

  const here = (path: string, body: unknown) => apps.here.call('POST', path, body);
  const newKey = async (body: object) => ((await (await here('/key/generate', body)).json()) as { key: string }).key;

  /** Status of a message to an agent, sent with a key: 403 without the right. */
  const statusAt = async (app: TestApp, key: string, headers: Record<string, string> = {}): Promise<number> => {
    const message = { message: { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hi' }] } };
    const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params: message };
    return (await app.call('POST', '/a2a/first', rpc, { authorization: `Bearer ${key}`, ...headers })).status;
  };

  it('changes of a team, a user and a customer apply in the other process', async () => {
    await here('/team/new', { team_id: 't' });
    await here('/user/new', { user_id: 'u', auto_create_key: false });
    await here('/customer/new', { user_id: 'c', object_permission: { agents: ['first'] } });
    const ofTeam = await newKey({ team_id: 't' });
    const ofUser = await newKey({ user_id: 'u' });
    const plain = await newKey({});
    const named = { 'x-litellm-end-user-id': 'c' };
    const statuses = () =>
      Promise.all([statusAt(apps.there, ofTeam), statusAt(apps.there, ofUser), statusAt(apps.there, plain, named)]);
    expect(await statuses()).not.toContain(403);

    const other = { object_permission: { agents: ['other'] } };
    await here('/team/update', { team_id: 't', ...other });
    await here('/user/update', { user_id: 'u', ...other });
    await here('/customer/update', { user_id: 'c', ...other });
    await expect.poll(statuses, POLLING).toEqual([403, 403, 403]);
  }, 60_000);
});
