import { startApp, type TestApp } from './start-app.ts';
import { type Issuer, startIssuer, tokenEnvironment } from './token-issuer.ts';

/** Credentials of each kind of caller, by name. An empty string means no credential. */
export interface AccessCallers {
  readonly app: TestApp;
  /** In the column order of the access tables. */
  readonly keys: Readonly<Record<string, string>>;
  /** Signed tokens by the name of the key that has the same rights. */
  readonly tokens: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Token rules: the claim `roles` names the role of the caller, and the server creates an unknown user. */
const RULES = {
  roles_jwt_field: 'roles',
  role_mappings: ['proxy_admin', 'proxy_admin_viewer', 'internal_user', 'internal_user_viewer'].map((role) => ({
    role,
    internal_role: role,
  })),
  user_id_jwt_field: 'sub',
  user_id_upsert: true,
};

/**
 * Starts a server with a user, team and organization, and one caller of each kind. Failed authentications are not rate
 * limited.
 */
export async function startAccessCallers(): Promise<AccessCallers> {
  const issuer: Issuer = await startIssuer(['EdDSA']);
  const app = await startApp({
    config: {
      general_settings: { enable_jwt_auth: true, litellm_jwtauth: RULES, store_model_in_db: true },
    },
    env: { ...tokenEnvironment(issuer), LENSGATE_WRONG_KEYS_PER_MINUTE: '0', LITELLM_DISABLE_LOGIN_RATE_LIMIT: 'true' },
  });

  async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await app.call('POST', path, body);
    const content = (await answer.json()) as Readonly<Record<string, unknown>>;
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(content)}`);
    return content;
  }
  const key = async (draft: object): Promise<string> => String((await post('/key/generate', draft))['key']);
  const user = async (id: string, role: string): Promise<string> =>
    String((await post('/user/new', { user_id: id, user_role: role }))['key']);
  const token = (role: string): Promise<string> =>
    issuer.token({ sub: `token-${role}`, roles: [role] }, { alg: 'EdDSA', expiresIn: 3_600 });

  const proxyAdmin = await user('an-admin', 'proxy_admin');
  const viewer = await user('a-viewer', 'proxy_admin_viewer');
  const internal = await user('a-user', 'internal_user');
  const internalViewer = await user('a-user-viewer', 'internal_user_viewer');
  const organizationAdmin = await user('an-org-admin', 'internal_user');
  const organization = String((await post('/organization/new', { organization_alias: 'org' }))['organization_id']);
  await post('/organization/member_add', {
    organization_id: organization,
    member: { role: 'org_admin', user_id: 'an-org-admin' },
  });
  await post('/team/new', { team_id: 'a-team', organization_id: organization });
  for (const role of ['admin', 'user']) {
    // oxlint-disable-next-line no-await-in-loop -- two members
    await user(`team-${role}`, 'internal_user');
    // oxlint-disable-next-line no-await-in-loop -- two members
    await post('/team/member_add', { team_id: 'a-team', member: { role, user_id: `team-${role}` } });
  }
  const blocked = await key({ user_id: 'a-user' });
  await post('/key/block', { key: blocked });
  const keys = {
    'admin key': app.adminKey,
    proxy_admin: proxyAdmin,
    proxy_admin_viewer: viewer,
    internal_user: internal,
    internal_user_viewer: internalViewer,
    'organization admin': organizationAdmin,
    'team admin': await key({ user_id: 'team-admin', team_id: 'a-team' }),
    'team member': await key({ user_id: 'team-user', team_id: 'a-team' }),
    'team key': await key({ team_id: 'a-team' }),
    'blocked key': blocked,
    'expired key': await expiredKey(app, key),
    anonymous: '',
  };
  return {
    app,
    keys,
    tokens: {
      proxy_admin: await token('proxy_admin'),
      proxy_admin_viewer: await token('proxy_admin_viewer'),
      internal_user: await token('internal_user'),
      internal_user_viewer: await token('internal_user_viewer'),
      // A token for another audience has no rights, like a blocked key.
      'blocked key': await issuer.token({ sub: 'x' }, { alg: 'EdDSA', audience: 'other' }),
    },
    async stop() {
      await app.stop();
      await issuer.stop();
    },
  };
}

/** Creates a key with a lifetime of one second, and waits until the server rejects it. */
async function expiredKey(app: TestApp, make: (draft: object) => Promise<string>): Promise<string> {
  const key = await make({ user_id: 'a-user', duration: '1s' });
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    // oxlint-disable-next-line no-await-in-loop -- until it has expired
    const { status } = await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${key}` });
    if (status === 401) return key;
  }
  throw new Error('The key did not expire.');
}
