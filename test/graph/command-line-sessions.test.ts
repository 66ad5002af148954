import { describe, expect, it } from 'vitest';
import { authorizationClient } from '../support/authorization-client.ts';
import { type Json, tenancyClient } from '../support/tenancy-client.ts';

const PASSWORD = 'a-long-password-of-a-test';
const server = tenancyClient({ env: { UI_PASSWORD: PASSWORD } });
const client = authorizationClient(() => server.app().url);

async function ask(query: string, key?: string): Promise<Json> {
  const { body } = await server.post('/graphql', { query }, key);
  const { data, errors } = body as { readonly data?: Json; readonly errors?: unknown };
  return errors === undefined ? { ...data } : { ...data, errors };
}

const FIELDS = '{ id userId teamId clientName keyHash createdAt renewedAt expiresAt }';

interface Shown {
  readonly id: string;
  readonly userId: string;
}

async function list(key?: string, args = ''): Promise<readonly Shown[]> {
  const { commandLineSessions } = await ask(`{ commandLineSessions${args} { totalCount nodes ${FIELDS} } }`, key);
  const { nodes, totalCount } = commandLineSessions as { nodes: readonly Shown[]; totalCount: number };
  expect(totalCount).toBe(nodes.length);
  return nodes;
}

const revoke = async (id: string, key?: string): Promise<unknown> =>
  (
    await ask(
      `mutation { revokeCommandLineSession(input: { id: "${id}" }) {
        __typename ... on CommandLineSession { userId } ... on UserError { code message } } }`,
      key,
    )
  )['revokeCommandLineSession'];

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
const NOT_FOUND = { __typename: 'NotFoundError', code: 'NOT_FOUND', message: 'Command line session not found' };

describe('sessions of command lines', () => {
  it('are listed and ended by their user, and by administrators', async () => {
    const ann = await server.user({ user_id: 'ann' });
    const bob = await server.user({ user_id: 'bob' });
    const viewer = await server.user({ user_id: 'eva', user_role: 'proxy_admin_viewer' });
    const annLogin = await client.logIn({ username: 'ann', password: ann });
    await client.logIn({ username: 'bob', password: bob });
    await client.logIn({ username: 'admin', password: PASSWORD });
    const [own] = await list(ann);
    expect(await list(ann)).toEqual([
      {
        id: expect.any(String),
        userId: 'ann',
        teamId: null,
        clientName: 'litellm-cli',
        keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdAt: TIME,
        renewedAt: TIME,
        expiresAt: TIME,
      },
    ]);
    const users = async (key?: string, args?: string) => (await list(key, args)).map(({ userId }) => userId);
    expect(await users()).toEqual(['default_user_id', 'bob', 'ann']);
    expect(await users(viewer)).toEqual(['default_user_id', 'bob', 'ann']);
    expect(await users(undefined, '(filter: { userId: "bob" })')).toEqual(['bob']);
    expect(await users(ann, '(filter: { userId: "bob" })')).toEqual([]);
    expect(await users(ann, '(filter: { userId: "ann" })')).toEqual(['ann']);
    expect(await users(await server.key({}))).toEqual([]);
    const id = own?.id ?? '';
    const node = `{ node(id: "${id}") { ... on CommandLineSession { userId } } }`;
    expect(await ask(node, ann)).toEqual({ node: { userId: 'ann' } });
    expect((await ask(node, bob))['node']).toBeNull();
    for (const key of [bob, viewer]) expect(await revoke(id, key)).toEqual(NOT_FOUND);
    const key = String(annLogin.body['access_token']);
    expect((await server.get('/v1/models', key)).status).toBe(200);
    expect(await revoke(id, ann)).toEqual({ __typename: 'CommandLineSession', userId: 'ann' });
    expect((await server.get('/v1/models', key)).status).toBe(401);
    expect(await revoke(id, ann)).toEqual(NOT_FOUND);
    const [ofBob] = await list(bob);
    expect(await revoke(ofBob?.id ?? '')).toEqual({ __typename: 'CommandLineSession', userId: 'bob' });
    expect(await list(bob)).toEqual([]);
  });

  it('are in the audit log without secrets and their hashes', async () => {
    const cora = await server.user({ user_id: 'cora' });
    const { body, clientId } = await client.logIn({ username: 'cora', password: cora });
    await client.post('/token', {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: String(body['refresh_token']),
    });
    const [session] = await list(cora);
    await revoke(session?.id ?? '', cora);
    const { auditLog } = await ask(
      '{ auditLog(filter: { noun: COMMAND_LINE_SESSION }, first: 3) { nodes { action changedBy before after } } }',
    );
    const { nodes } = auditLog as {
      nodes: readonly { action: string; changedBy: string; before: Json; after: Json }[];
    };
    expect(nodes.map(({ action, changedBy }) => [action, changedBy])).toEqual([
      ['DELETED', 'cora'],
      ['ROTATED', 'system: sign-in'],
      ['CREATED', 'system: sign-in'],
    ]);
    expect(Object.keys(nodes[2]?.after ?? {}).toSorted()).toEqual([
      'client_name',
      'created_at',
      'created_by',
      'expires_at',
      'id',
      'key_hash',
      'needs_membership',
      'previous_key_hash',
      'renewed_at',
      'role',
      'team_id',
      'updated_at',
      'updated_by',
      'user_id',
    ]);
  });

  it('a user has at most fifty: a further one ends the oldest', async () => {
    const dora = await server.user({ user_id: 'dora' });
    const clientId = await client.clientId();
    const values = { username: 'dora', password: dora };
    const oldest = await client.logIn(values, clientId);
    for (let count = 1; count <= 50; count += 1) expect((await client.logIn(values, clientId)).status).toBe(200);
    expect(await list(dora)).toHaveLength(50);
    expect((await server.get('/v1/models', String(oldest.body['access_token']))).status).toBe(401);
  });
});
