import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLiteHome, type LiteHome, type LiteResult } from '../support/lite-process.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let home: LiteHome;
beforeAll(async () => {
  app = await startApp({ env: { STORE_MODEL_IN_DB: 'true' } });
});
afterAll(() => app.stop());
beforeEach(() => {
  home = createLiteHome();
});
afterEach(() => home.remove());

/** Runs a command against the app with the admin key. */
const lite = (...words: string[]): Promise<LiteResult> =>
  home.run(words, { env: { LITELLM_PROXY_URL: app.url, LITELLM_PROXY_API_KEY: app.adminKey } });

/** Result of a command without failures. */
const OK = { code: 0, stderr: '' };
const jsonOf = ({ stdout }: LiteResult): unknown => JSON.parse(stdout);
/** Cells of the rows of a printed table. */
const rowsOf = ({ stdout }: LiteResult): readonly string[][] =>
  [...stdout.matchAll(/^│(.*)│$/gm)].map(([, row]) => (row ?? '').split('│').map((cell) => cell.trim()));

describe('lite', () => {
  it('prints the versions of the command and of the server', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
      version: string;
    };
    const lines = ['CLI Version', 'Server URL', 'Server Version'].map((name) => `LiteLLM Proxy ${name}: `);
    const expected = `${lines[0]}${version}\n${lines[1]}${app.url}\n${lines[2]}${version}\n`;
    expect(await lite('version')).toEqual({ ...OK, stdout: expected });
    expect(await lite('-v')).toEqual({ ...OK, stdout: expected });
  });

  it('lists models as a table and as JSON', async () => {
    const list = await lite('models', 'list');
    expect(list).toMatchObject(OK);
    expect(rowsOf(list)).toContainEqual(['demo', 'model', expect.any(String), 'openai']);
    expect(jsonOf(await lite('models', 'list', '--format', 'json'))).toContainEqual(
      expect.objectContaining({ id: 'demo', object: 'model' }),
    );
  });

  it('adds, shows, updates and deletes a model', async () => {
    const added = await lite('models', 'add', 'fast', '-p', 'model=openai/gpt-4o', '-p', 'rpm=7', '-i', 'tier=paid');
    expect(added).toMatchObject(OK);
    const { model_id: id } = jsonOf(added) as { model_id: string };
    const get = async () => jsonOf(await lite('models', 'get', '--id', id));
    expect(await get()).toMatchObject({
      model_name: 'fast',
      litellm_params: { model: 'openai/gpt-4o', rpm: 7 },
      model_info: { tier: 'paid' },
    });
    expect(await lite('models', 'update', id, '-p', 'model=openai/gpt-4o-mini')).toMatchObject(OK);
    expect(await get()).toMatchObject({ litellm_params: { model: 'openai/gpt-4o-mini' } });
    const info = await lite('models', 'info', '--columns', 'public_model,none,id');
    expect(info).toMatchObject({ code: 0, stderr: "Warning: Unknown column 'none'\n" });
    expect(rowsOf(info)).toContainEqual(['fast', id]);
    expect(await lite('models', 'delete', id)).toMatchObject(OK);
    expect(await lite('models', 'get', '--id', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: Model not found: ${id}\n`,
    });
  });

  it('imports the models of a file, and changes nothing with --dry-run', async () => {
    const file = join(home.folder, 'models.yaml');
    writeFileSync(
      file,
      'model_list:\n' +
        '  - { model_name: one, litellm_params: { model: openai/gpt-4o } }\n' +
        '  - { model_name: two, litellm_params: { model: anthropic/claude-x }, model_info: { access_groups: [beta] } }\n',
    );
    const names = async (): Promise<unknown> =>
      (jsonOf(await lite('models', 'list', '--format', 'json')) as { id: string }[]).map(({ id }) => id);
    const dry = await lite('models', 'import', file, '--dry-run');
    expect(dry).toMatchObject(OK);
    expect(rowsOf(dry)).toEqual([
      ['one', 'openai/gpt-4o', ''],
      ['two', 'anthropic/claude-x', 'beta'],
      ['openai', '1'],
      ['anthropic', '1'],
      ['Total', '2'],
    ]);
    expect(await names()).not.toContain('two');
    const imported = await lite('models', 'import', file, '--only-access-groups-matching-regex', '^beta$');
    expect(imported).toMatchObject(OK);
    expect(rowsOf(imported)).toEqual([
      ['two', 'anthropic/claude-x', 'beta'],
      ['anthropic', '1'],
      ['Total', '1'],
    ]);
    expect(await names()).toContain('two');
    writeFileSync(file, 'models: []\n');
    expect(await lite('models', 'import', file)).toEqual({
      code: 1,
      stdout: '',
      stderr: "Error: YAML file must contain a 'model_list' key with a list of models.\n",
    });
  });

  it('generates, lists and deletes keys', async () => {
    const made = await lite(
      'keys',
      'generate',
      '--models',
      'demo, other',
      '--key-alias',
      'cli-key',
      '--duration',
      '1h',
    );
    expect(made).toMatchObject(OK);
    expect(jsonOf(made)).toMatchObject({ models: ['demo', 'other'], key_alias: 'cli-key' });
    const { key, token } = jsonOf(made) as { key: string; token: string };
    const list = await lite('keys', 'list', '--key-alias', 'cli-key');
    expect(list).toMatchObject({ ...OK, stdout: expect.stringContaining('Showing 1 keys out of 1\n') });
    expect(rowsOf(list)).toEqual([[token, 'cli-key', 'None', 'None', '0']]);
    expect(list.stdout).not.toContain(key);
    expect(jsonOf(await lite('keys', 'delete', '--key-aliases', 'cli-key'))).toEqual({ deleted_keys: ['cli-key'] });
    const none = await lite('keys', 'delete');
    expect(none).toMatchObject({ code: 1, stderr: 'Error: HTTP 422\nAborted!\n' });
    expect(jsonOf(none)).toHaveProperty('detail');
  });

  it('copies keys of another server with new secrets', async () => {
    const source = await startApp();
    try {
      const settings = { key_alias: 'from-afar', models: ['demo'], duration: '1h' };
      const made = (await (await source.call('POST', '/key/generate', settings)).json()) as { key: string };
      const words = ['keys', 'import', '--source-base-url', source.url, '--source-api-key', source.adminKey];
      const dry = await lite(...words, '--dry-run');
      expect(dry).toMatchObject(OK);
      expect(rowsOf(dry)).toEqual([['from-afar', 'None', expect.any(String)]]);
      expect(rowsOf(await lite('keys', 'list', '--key-alias', 'from-afar'))).toEqual([]);
      const copied = await lite(...words);
      expect(copied).toMatchObject(OK);
      const copy = /Imported key: from-afar = (sk-\S+)/.exec(copied.stdout)?.[1];
      expect(copy).toMatch(/^sk-/);
      expect(copy).not.toBe(made.key);
      const models = await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${copy}` });
      expect(((await models.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(['demo']);
      const future = await lite(...words, '--created-since', '2999-01-01');
      expect(future.stdout).toContain('Filtered 1 keys to 0 keys created since 2999-01-01');
    } finally {
      await source.stop();
    }
  });

  it('manages credentials without showing their values', async () => {
    const [info, values] = ['{"custom_llm_provider":"openai"}', '{"api_key":"sk-of-the-provider"}'];
    expect(await lite('credentials', 'create', 'a b', '--info', info, '--values', values)).toMatchObject(OK);
    const list = await lite('credentials', 'list');
    expect(rowsOf(list)).toEqual([['a b', '', 'db', 'openai']]);
    const one = await lite('credentials', 'get', 'a b');
    expect(jsonOf(one)).toMatchObject({ credential_name: 'a b' });
    expect(one.stdout + list.stdout).not.toContain('sk-of-the-provider');
    expect(await lite('credentials', 'delete', 'a b')).toMatchObject(OK);
    expect(await lite('credentials', 'create', 'c', '--info', info)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Error: Missing option '--values'.\n"),
    });
    const faulty = await lite('credentials', 'create', 'c', '--info', info, '--values', '{sk-broken');
    expect(faulty).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Error: Invalid value: Invalid JSON format\n'),
    });
    expect(faulty.stderr).not.toContain('sk-broken');
  });

  it('manages users and teams', async () => {
    expect((await lite('teams', 'list')).stdout).toBe('No teams found for your user.\n');
    const team = (await (await app.call('POST', '/team/new', { team_alias: 'ops', models: ['demo'] })).json()) as {
      team_id: string;
    };
    const made = await lite(
      'users',
      'create',
      '--email',
      'a@example.org',
      '--team',
      team.team_id,
      '--max-budget',
      '2.5',
    );
    expect(made).toMatchObject(OK);
    expect(jsonOf(made)).toMatchObject({ user_email: 'a@example.org', user_role: 'internal_user', max_budget: 2.5 });
    const { user_id: id } = jsonOf(made) as { user_id: string };
    expect(rowsOf(await lite('users', 'list'))).toContainEqual([id, 'a@example.org', 'internal_user', team.team_id]);
    expect(jsonOf(await lite('users', 'get', '--id', id))).toMatchObject({ user_id: id });
    expect(rowsOf(await lite('teams', 'list'))).toEqual([['1', 'ops', team.team_id, 'demo', 'Unlimited', 'Member']]);
    expect(await lite('users', 'delete', id)).toMatchObject(OK);
    expect(await lite('users', 'get', '--id', id)).toMatchObject({ code: 1, stderr: 'Error: HTTP 404\nAborted!\n' });
  });

  it('sends any request to the server, and refuses a URL of another server', async () => {
    expect(await lite('http', 'request', 'get', '/health/liveliness')).toEqual({ ...OK, stdout: '"I\'m alive!"\n' });
    const body = '{"model":"demo","messages":[{"role":"user","content":"hello"}]}';
    expect(jsonOf(await lite('http', 'request', 'POST', '/chat/completions', '-j', body))).toMatchObject({
      model: 'demo',
    });
    const lost = await lite('http', 'request', 'GET', 'nothing-here', '-H', 'x-a: b');
    expect(lost).toMatchObject({ code: 1, stderr: 'Error: HTTP 404\nAborted!\n' });
    expect(jsonOf(lost)).toHaveProperty('detail');
    const other = await lite('http', 'request', 'GET', 'http://127.0.0.1:9/steal');
    expect(other).toMatchObject({ code: 2, stdout: '' });
  });

  it('chats with streamed answers, runs the commands of the chat, and ends at /quit', async () => {
    const { code, stdout, stderr } = await home.run(['chat', 'demo', '-s', 'short\u001b[7m'], {
      env: { LITELLM_PROXY_URL: app.url, LITELLM_PROXY_API_KEY: app.adminKey },
      input: 'first words\n/history\n/save talk\n/nothing\n/quit\nnever sent\n',
    });
    expect({ code, stderr }).toEqual(OK);
    expect(stdout).toContain('You said: first words\n');
    expect(stdout).toContain('system: short [7m\nuser: first words\nassistant: ');
    expect(stdout).toContain('Unknown command /nothing. Type /help for the list.\n');
    expect(stdout).not.toContain('never sent');
    const saved = JSON.parse(readFileSync(join(home.folder, 'talk.json'), 'utf8')) as { messages: unknown[] };
    expect(saved.messages).toHaveLength(3);
  });

  it('shows traces and the catalog as tables and as JSON, and decisions and lenses as tables', async () => {
    await app.call('POST', '/v1/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'traced' }] });
    const list = async () => jsonOf(await lite('traces', '--json')) as { data: { trace_id: string }[] };
    await expect.poll(async () => (await list()).data.length).toBeGreaterThan(0);
    const id = (await list()).data[0]?.trace_id ?? '';
    expect(rowsOf(await lite('traces'))[0]?.[0]).toBe(id);
    expect(rowsOf(await lite('traces', 'show', id))).toContainEqual([
      'chat demo',
      'llm',
      'demo',
      expect.any(String),
      'ok',
      '$0.000000',
    ]);
    expect(rowsOf(await lite('catalog', 'gpt-4o'))).toContainEqual(['provider', 'openai']);
    expect(jsonOf(await lite('catalog', '--search', 'gpt-4o', '--page-size', '2', '--json'))).toMatchObject({
      page_size: 2,
    });
    const decided = await lite(
      'decide',
      'demo',
      'a text',
      '-p',
      'late=Is it late?',
      '-c',
      'tone:calm,angry=Which tone?',
    );
    expect(rowsOf(decided).map(([name, type]) => [name, type])).toEqual([
      ['late', 'predicate'],
      ['tone', 'choice'],
    ]);
    expect((await lite('lens')).stdout).toBe('No lenses found.\n');
    expect(await lite('lens', 'show', 'none')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: HTTP 404.*\n$/),
    });
  });

  it('without a command, runs the commands of the input until exit', async () => {
    const { code, stdout, stderr } = await home.run([], {
      env: { LITELLM_PROXY_URL: app.url, LITELLM_PROXY_API_KEY: app.adminKey },
      input: 'nonsense\nconfig get\nexit\n',
    });
    expect(code).toBe(0);
    expect(stdout).toContain('(no config set)\n');
    expect(stdout).toContain('Goodbye!\n');
    expect(stderr).toContain("Error: No such command 'nonsense'.\n");
  });
});
