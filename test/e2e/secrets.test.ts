import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { authorizationClient } from '../support/authorization-client.ts';
import { CONFIGURED, secretConfig, STORED } from '../support/secret-config.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'lensgate-secrets-'));
/** Secrets that the product generated, by kind. */
const generatedSecrets = new Map<string, string>();
let server: ServerProcess;
let upstream: FaultServer;

interface Answer {
  readonly request: string;
  readonly status: number;
  readonly text: string;
  readonly headers: string;
}

async function call(
  method: string,
  path: string,
  { body, key = CONFIGURED.masterKey }: { readonly body?: unknown; readonly key?: string } = {},
): Promise<Answer> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
  });
  const text = await answer.text();
  return { request: `${method} ${path}`, status: answer.status, text, headers: JSON.stringify([...answer.headers]) };
}

const post = (path: string, body: unknown, key?: string): Promise<Answer> =>
  call('POST', path, key === undefined ? { body } : { body, key });

/** Records a member of a successful answer as a secret of `kind`, and returns it. */
async function recordSecret(kind: string, member: string, answer: Promise<Answer>): Promise<string> {
  const { status, text } = await answer;
  expect([kind, status]).toEqual([kind, 200]);
  const secret = String((JSON.parse(text) as Record<string, unknown>)[member]);
  generatedSecrets.set(kind, secret);
  return secret;
}

async function expectStored(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  if (status !== 200) throw new Error(`A secret was not stored: ${status} ${text}`);
}

const MESSAGES = [{ role: 'user', content: 'hello' }];

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response, _socket, { path, headers, body }) => {
    if (path.startsWith('/echo')) {
      response.writeHead(401, { 'content-type': 'application/json', 'x-echo': headers.authorization ?? '' });
      const message = `Incorrect key: ${JSON.stringify(headers)} ${body}`;
      response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: 'hi' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message }], usage }));
  });
  const config = join(folder, 'config.yaml');
  writeFileSync(config, stringify(secretConfig(upstream.url)));
  server = await spawnServer(folder, {
    args: ['--config', config],
    env: {
      LENSGATE_LOG_LEVEL: 'debug',
      LITELLM_SALT_KEY: CONFIGURED.salt,
      UI_PASSWORD: CONFIGURED.uiPassword,
      CODEAGENT_API_BASE: upstream.url,
      CODEAGENT_API_KEY: CONFIGURED.agentKey,
      CODEAGENT_WEBHOOK_SECRET: CONFIGURED.agentWebhook,
      STRIPE_SECRET_KEY: CONFIGURED.stripeKey,
      STRIPE_WEBHOOK_SECRET: CONFIGURED.stripeWebhook,
      ANTHROPIC_API_KEY: CONFIGURED.vendorKey,
    },
  });
});

afterAll(async () => {
  await server?.end('SIGTERM');
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Signs a command line in, and renews its tokens with a valid and with a used refresh token. */
async function logInWithPkce(): Promise<void> {
  const client = authorizationClient(() => server.url);
  const { status, body, clientId } = await client.logIn({ username: 'admin', password: CONFIGURED.uiPassword });
  expect(status).toBe(200);
  const renew = (token: unknown) =>
    client.post('/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(token) });
  const renewed = await renew(body['refresh_token']);
  expect([renewed.status, (await renew(body['refresh_token'])).status]).toEqual([200, 400]);
  generatedSecrets.set('key of a login', String(body['access_token']));
  generatedSecrets.set('refresh token', String(body['refresh_token']));
  generatedSecrets.set('renewed key of a login', String(renewed.body['access_token']));
  generatedSecrets.set('renewed refresh token', String(renewed.body['refresh_token']));
  generatedSecrets.set('PKCE verifier', client.verifier);
}

/** Stores, creates and uses secrets, in valid and in invalid requests. */
async function useAll(): Promise<readonly Answer[]> {
  await expectStored(post('/team/new', { team_id: 'team' }));
  const key = await recordSecret('virtual key', 'key', post('/key/generate', {}));
  const teamKey = await recordSecret('key of a team', 'key', post('/key/generate', { team_id: 'team' }));
  await recordSecret('key of a user', 'key', post('/user/new', { user_id: 'user', user_role: 'internal_user' }));
  await recordSecret(
    'key of a viewer',
    'key',
    post('/user/new', { user_id: 'viewer', user_role: 'proxy_admin_viewer' }),
  );
  await recordSecret('rotated key', 'key', post(`/key/${teamKey}/regenerate`, {}));
  await recordSecret('session', 'token', post('/v2/login', { username: 'admin', password: CONFIGURED.uiPassword }, ''));
  await logInWithPkce();
  await recordSecret('tracing key', 'key', post('/lens/tracing/keys', { name: 'tracing' }));
  const hash = createHash('sha256').update(key).digest('hex');
  await recordSecret(
    'token of a worker',
    'token',
    post('/lens/workers/register', { analysis_key_id: hash, name: 'worker' }),
  );
  await expectStored(post('/user/update', { user_id: 'user', password: STORED.userPassword }));
  await expectStored(
    post('/credentials', {
      credential_name: 'credential',
      credential_values: { api_key: STORED.credential, headers: { 'x-vendor': STORED.credentialHeader } },
      credential_info: { custom_llm_provider: 'openai' },
    }),
  );
  await expectStored(
    post('/model/new', {
      model_name: 'stored',
      litellm_params: { model: 'openai/x', api_base: upstream.url, api_key: STORED.modelKey },
    }),
  );
  const remote = { server_name: 'stored_tools', url: `${upstream.url}/echo`, transport: 'http' };
  const target = { agent_card_params: { url: `${upstream.url}/echo`, protocolVersion: '0.3' } };
  const made: readonly Answer[] = await Promise.all([
    post('/v1/mcp/server', { ...remote, static_headers: { 'x-vendor': STORED.mcpHeader }, allow_all_keys: true }),
    post('/v1/agents', { agent_name: 'stored_helper', ...target, litellm_params: { api_key: STORED.agentKey } }),
    post('/vector_store/new', {
      vector_store_id: 'vs_stored',
      custom_llm_provider: 'openai',
      litellm_params: { api_base: `${upstream.url}/echo`, api_key: STORED.storeKey },
    }),
    post('/search_tools', {
      search_tool: {
        search_tool_name: 'stored_web',
        litellm_params: { search_provider: 'exa_ai', api_base: `${upstream.url}/echo`, api_key: STORED.toolKey },
      },
    }),
  ]);
  expect(made.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
  // Groups of settings that a configuration owns are refused; their secrets must not be returned either.
  const settings: readonly Answer[] = await Promise.all([
    post('/config/update', { environment_variables: { VENDOR_KEY: STORED.variable } }),
    post('/config/update', { general_settings: { alert_to_webhook_url: { db_exceptions: STORED.webhookOfStore } } }),
    post('/config_overrides/hashicorp_vault', { vault_addr: 'https://vault.example', vault_token: STORED.vaultToken }),
    call('PATCH', '/update/sso_settings', { body: { google_client_id: 'id', google_client_secret: STORED.ssoSecret } }),
    post('/cache/settings', { type: 'redis', host: 'h', password: STORED.redisPassword }),
    ...[
      { host: '127.0.0.1', port: '9', password: STORED.redisPassword },
      { url: `redis://:${STORED.redisPassword}@127.0.0.1:9` },
      { url: `http://:${STORED.redisPassword}@127.0.0.1:9` },
    ].map((tested) => post('/cache/settings/test', { type: 'redis', ...tested })),
    call('GET', '/cache/ping'),
    call('GET', '/cache/redis/info'),
    post('/cache/flushall', {}),
  ]);
  const calls: readonly Answer[] = await Promise.all([
    ...['plain', 'echo', 'with-headers', 'stored', 'aws', 'unknown'].map((model) =>
      post('/v1/chat/completions', { model, messages: MESSAGES }, key),
    ),
    ...['tools', 'stored_tools'].map((name) =>
      post('/mcp-rest/tools/call', { server_id: name, name: 'any', arguments: {} }, key),
    ),
    call('GET', '/mcp-rest/tools/list', { key }),
    ...['helper', 'stored_helper'].map((name) =>
      post(`/a2a/${name}`, { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: {} } }, key),
    ),
    ...['vs_file', 'vs_stored'].map((id) => post(`/v1/vector_stores/${id}/search`, { query: 'x' }, key)),
    ...['web', 'stored_web'].map((name) => post(`/v1/search/${name}`, { query: 'x' }, key)),
    call('GET', '/entry/x', { key }),
    call('GET', '/codeagent/v0/agents', { key }),
    ...[STORED.wrongKey, STORED.token, `${CONFIGURED.masterKey}x`, teamKey].map((wrong) =>
      post('/v1/chat/completions', { model: 'plain', messages: MESSAGES }, wrong),
    ),
    post('/v2/login', { username: 'admin', password: STORED.userPassword }, ''),
    call('GET', `/key/info?key=${STORED.wrongKey}`),
    post('/key/delete', { keys: [STORED.wrongKey] }),
    post('/codeagent/webhook', { id: 'x' }, ''),
    post('/billing/webhook', { id: 'x' }, ''),
    post('/graphql', { query: '{ traces(first: 1) { nodes { traceId } } }' }, STORED.wrongKey),
  ]);
  return [...made, ...settings, ...calls];
}

interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Paths whose GET opens a stream of messages for a client, which has no end. */
const OPEN_STREAMS: ReadonlySet<string> = new Set(['/mcp', '/mcp/']);

/** Answers of all GET paths without parameters, and of some with parameters or queries. */
async function readEverything(key: string): Promise<readonly Answer[]> {
  const { paths } = JSON.parse((await call('GET', '/openapi.json')).text) as Documented;
  const pathsWithGet = Object.entries(paths).flatMap(([path, methods]) => ('get' in methods ? [path] : []));
  const named: readonly string[] = [
    '/credentials/by_name/credential',
    '/credentials/by_model/stored',
    '/team/info?team_id=team',
    '/user/info?user_id=user',
    '/key/list?return_full_object=true',
    '/config/list?config_type=general_settings',
    '/config/field/info?field_name=alert_to_webhook_url',
    '/config/field/info?field_name=master_key',
    '/audit?page_size=100',
    '/v2/model/info',
    '/spend/logs?summarize=false',
  ];
  const all = [...pathsWithGet.filter((path) => !path.includes('{') && !OPEN_STREAMS.has(path)), ...named];
  const answers: Answer[] = [];
  for (const path of all) answers.push(await call('GET', path, { key }));
  return answers;
}

interface GraphType {
  readonly name: string;
  readonly kind: string;
  readonly fields: readonly GraphField[] | null;
}
interface GraphField {
  readonly name: string;
  readonly args: readonly { readonly name: string; readonly type: { readonly kind: string } }[];
  readonly type: TypeRef;
}
interface TypeRef {
  readonly name: string | null;
  readonly kind: string;
  readonly ofType?: TypeRef | null;
}

const INTROSPECTION = `{ graph: __schema { types { name kind fields { name args { name type { kind } } type { ...Ref } } } } }
  fragment Ref on __Type { name kind ofType { name kind ofType { name kind ofType { name kind } } } }`;

const nameOf = (type: TypeRef): string => (type.ofType ? nameOf(type.ofType) : (type.name ?? ''));

/**
 * Answers of all queries without required arguments, except `catalogEntries`. A query selects the scalars of its object
 * or of its rows. Queries without such fields are left out.
 */
async function readGraph(key: string): Promise<readonly Answer[]> {
  const { data } = JSON.parse((await post('/graphql', { query: INTROSPECTION })).text) as {
    readonly data: { readonly graph: { readonly types: readonly GraphType[] } };
  };
  const types = new Map(data.graph.types.map((type) => [type.name, type]));
  const needsNoArgument = ({ args }: GraphField): boolean => args.every(({ type }) => type.kind !== 'NON_NULL');
  const leaves = (type: GraphType | undefined): readonly string[] =>
    (type?.fields ?? [])
      .filter(
        (field) => needsNoArgument(field) && ['SCALAR', 'ENUM'].includes(types.get(nameOf(field.type))?.kind ?? ''),
      )
      .map(({ name }) => name);
  const answers: Answer[] = [];
  for (const field of types.get('Query')?.fields ?? []) {
    const type = types.get(nameOf(field.type));
    const rows = type?.fields?.find(({ name }) => name === 'nodes');
    const selected = leaves(rows === undefined ? type : types.get(nameOf(rows.type)));
    if (!needsNoArgument(field) || selected.length === 0 || field.name === 'catalogEntries') continue;
    const fields = selected.join(' ');
    const query = rows === undefined ? `{ ${field.name} { ${fields} } }` : `{ ${field.name} { nodes { ${fields} } } }`;
    answers.push({ ...(await post('/graphql', { query }, key)), request: query });
  }
  return answers;
}

/** Names of the secrets that a text contains. */
const secretsIn = (text: string): readonly string[] =>
  [...Object.entries(CONFIGURED), ...Object.entries(STORED), ...generatedSecrets].flatMap(([name, secret]) =>
    text.includes(secret) || text.includes(Buffer.from(secret).toString('base64')) ? [name] : [],
  );

/** Requests whose answers contain secrets, with the names of these secrets. */
const secretsOf = (answers: readonly Answer[]): readonly string[] => [
  ...new Set(
    answers.flatMap(({ request, text, headers }) =>
      secretsIn(`${text}\n${headers}`).map((name) => `${request}: ${name}`),
    ),
  ),
];

describe('secrets', () => {
  it('are in no error or later answer, for five readers, and in no log line', async () => {
    const used = await useAll();
    expect(secretsOf(used)).toEqual([]);
    const readers = [
      CONFIGURED.masterKey,
      ...['key of a viewer', 'key of a user', 'virtual key'].map((kind) => generatedSecrets.get(kind) ?? ''),
    ];
    for (const reader of [...readers, '']) {
      const answers = [...(await readEverything(reader)), ...(await readGraph(reader))];
      expect(answers.length).toBeGreaterThan(100);
      expect(secretsOf(answers)).toEqual([]);
    }
    expect(secretsIn(server.errors())).toEqual([]);
    expect(secretsIn(server.output())).toEqual([]);
  });

  it('are not readable in the data folder', async () => {
    await server.end('SIGTERM');
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.name !== 'config.yaml',
    );
    expect(files.length).toBeGreaterThan(0);
    const found = files.flatMap((file) =>
      secretsIn(readFileSync(join(file.parentPath, file.name)).toString('latin1')).map((name) => [file.name, name]),
    );
    expect(found).toEqual([]);
  });

  it('are detected in a text that contains one', () => {
    expect(secretsIn(`{"key":"${CONFIGURED.providerKey}"}`)).toEqual(['providerKey']);
    expect(secretsIn(Buffer.from(STORED.credential).toString('base64'))).toEqual(['credential']);
  });
});
