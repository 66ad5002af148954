import { describe, expect, it } from 'vitest';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const { post, get, key, send } = tenancyClient();

const UNKNOWN_TEAM = envelope(
  404,
  "Team doesn't exist in db. Team=unknown. Create team via `/team/new` call.",
  'auth_error',
  'None',
);

describe('a team that does not exist', () => {
  it.each(['/key/update', '/key/regenerate'])(
    'keys.update 404, keys.regenerate 404: is refused by %s',
    async (path) => {
      const secret = await key({});
      expect(await post(path, { key: secret, team_id: 'unknown' })).toEqual(UNKNOWN_TEAM);
      expect((await get('/key/info', secret)).body).toMatchObject({ info: { team_id: null, rotation_count: 0 } });
    },
  );

  it('keys.bulkUpdate 200: only the update with this team fails', async () => {
    const [secret, otherSecret] = [await key({}), await key({})];
    const { status, body } = await post('/key/bulk_update', {
      keys: [
        { key: secret, team_id: 'unknown' },
        { key: otherSecret, max_budget: 1 },
      ],
    });
    expect([status, body['total_requested']]).toEqual([200, 2]);
    expect(body['failed_updates']).toMatchObject([{ failed_reason: UNKNOWN_TEAM.body.error.message }]);
    expect(body['successful_updates']).toMatchObject([{ key_info: { max_budget: 1 } }]);
  });

  it('keys.generateServiceKey 400: cannot have a service account', async () => {
    expect(await post('/key/service-account/generate', { key_alias: 'sa', team_id: 'unknown' })).toEqual({
      status: 400,
      body: {
        detail: 'team_id does not exist in the database. Please specify a valid `team_id` in the request body.',
      },
    });
  });

  it('keys.generate 200: an administrator may set the team before it exists, and an update of the key keeps it', async () => {
    const secret = await key({ team_id: 'unknown' });
    expect(await post('/key/update', { key: secret, team_id: 'unknown', max_budget: 2 })).toMatchObject({
      status: 200,
      body: { team_id: 'unknown', max_budget: 2 },
    });
  });

  it('is refused by updateKey of the graph', async () => {
    const secret = await key({});
    const query = `mutation ($key: ID!) {
      updateKey(input: { key: $key, teamId: "unknown" }) { __typename ... on NotFoundError { message } }
    }`;
    const { body } = await send('POST', '/graphql', { query, variables: { key: secret } });
    expect(body).toEqual({
      data: { updateKey: { __typename: 'NotFoundError', message: UNKNOWN_TEAM.body.error.message } },
    });
  });
});
