import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);
const python = process.env['LENSGATE_TEST_PYTHON'] ?? '';
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (python === '')
  console.warn('SKIPPED: LENSGATE_TEST_PYTHON is not set: the Python snippet of the README is not run.');

/** The snippets of a document in one language, in order. */
const snippetsOf = (document: string, language: string): readonly string[] =>
  [
    ...readFileSync(join(ROOT, document), 'utf8').matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g')),
  ].map(([, text = '']) => text);

describe('commands of the documents', () => {
  let server: ServerProcess;
  let folder: string;
  let key: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lensgate-documents-'));
    server = await spawnServer(join(folder, 'data'));
    key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();
  });
  afterAll(async () => {
    await server?.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  /** A snippet with the address and the key file of this server. */
  const forThisServer = (text: string): string =>
    text
      .replaceAll('http://127.0.0.1:4000', server.url)
      .replaceAll('.lensgate/admin-key', join(folder, 'data', 'admin-key'));
  const environment = () => ({ ...process.env, KEY: key });
  /** JSON answers that the commands print, one for each request. */
  const answersOf = async (snippet: string): Promise<readonly Record<string, unknown>[]> => {
    // Prints each answer on a separate line.
    const commands = `curl() { command curl -w '\\n' "$@"; }\n${forThisServer(snippet)}`;
    const { stdout } = await execute('bash', ['-euc', commands], { env: environment() });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const shell = snippetsOf('README.md', 'bash');

  it('the three calls of the README answer', async () => {
    const [entry, chat, graph] = await answersOf(shell[0] ?? '');
    expect(entry).toMatchObject({ id: 'gpt-4o' });
    expect(chat).toMatchObject({ object: 'chat.completion' });
    expect(graph).toMatchObject({ data: { traces: { nodes: [{ name: 'chat demo', status: 'OK' }] } } });
  });

  it.each([
    ['README.md', 1],
    ['docs/subscriptions.md', 0],
  ])('the subscription of %s prints the trace of a call', async (document, index) => {
    const snippet = snippetsOf(document, 'bash')[index] ?? '';
    // With `exec`, no shell remains: `feed.kill()` ends `timeout`, which passes the signal to `curl`.
    const feed = spawn('bash', ['-c', `exec timeout 20 bash -c "$SNIPPET"`], {
      env: { ...environment(), SNIPPET: forThisServer(snippet).replace(/^curl/m, 'exec curl') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(feed, 'close');
    let output = '';
    const chat = () =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
      });
    // The subscription is open when the first bytes arrive.
    feed.stdout.once('data', () => void chat());
    feed.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('chat demo')) feed.kill();
    });
    await ended;
    expect(output).toMatch(/event: next\ndata: \{"data":\{"traceUpdates":\{.*"name":"chat demo"/);
  });

  it('the TypeScript snippet of the README prints an answer', async () => {
    const file = join(ROOT, 'test', `readme-${process.pid}.ts`);
    writeFileSync(file, forThisServer(snippetsOf('README.md', 'typescript')[0] ?? ''));
    try {
      const { stdout } = await execute(process.execPath, [file], { env: environment() });
      expect(stdout).toContain('demo model');
    } finally {
      rmSync(file);
    }
  });

  it.skipIf(python === '')('the Python snippet of the README prints an answer', async () => {
    const { stdout } = await execute(python, ['-c', forThisServer(snippetsOf('README.md', 'python')[0] ?? '')], {
      env: environment(),
    });
    expect(stdout).toContain('demo model');
  });

  it('the calls of docs/keys.md create, change, block, rotate and delete a key', async () => {
    const [overHttp, withPermission, overGraph] = snippetsOf('docs/keys.md', 'bash');
    const [info, list, update, block, unblock, rotated, deleted] = await answersOf(overHttp ?? '');
    expect(info).toMatchObject({ info: { key_alias: 'ci', max_budget: 5 } });
    expect(list).toMatchObject({ total_count: 1 });
    expect([update, block, unblock]).toMatchObject([{ max_budget: 10 }, { blocked: true }, { blocked: false }]);
    expect(rotated).toMatchObject({ key: expect.stringMatching(/^sk-/) as unknown });
    expect(deleted).toEqual({ deleted_keys: ['ci'] });
    const [limited] = (await answersOf(withPermission ?? '')) as unknown as readonly { readonly key: string }[];
    const found = await fetch(`${server.url}/key/info?key=${limited?.key}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await found.json()).toMatchObject({
      info: {
        key_alias: 'reader',
        object_permission: { mcp_servers: ['docs'], agents: ['weather'], vector_stores: ['vs_1'] },
      },
    });
    expect((await answersOf(overGraph ?? '')).map(({ data }) => data)).toMatchObject([
      { generateKey: { key: 'sk-example-0123456789abcdef' } },
      { blockKey: { blocked: true } },
      { unblockKey: { blocked: false } },
      { regenerateKey: { key: expect.stringMatching(/^sk-/) as unknown } },
      { deleteKeys: { __typename: 'DeletedKeys' } },
    ]);
  });

  it('the operations of docs/administration.md run unchanged', async () => {
    const operations = snippetsOf('docs/administration.md', 'graphql');
    const answers: unknown[] = [];
    for (const query of operations) {
      // oxlint-disable-next-line no-await-in-loop -- a reader runs them in this order
      const answer = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      // oxlint-disable-next-line no-await-in-loop -- the same
      answers.push(await answer.json());
    }
    expect(answers).toMatchObject([
      {
        data: {
          createUser: { __typename: 'User' },
          createTeam: { __typename: 'Team' },
          generateKey: { key: expect.stringMatching(/^sk-/) as unknown },
        },
      },
      { data: { addTeamCallback: { __typename: 'Team' } } },
      { data: { spend: { groups: expect.any(Array) as unknown } } },
      {
        data: {
          auditLog: {
            nodes: [
              { action: 'UPDATED', objectId: 'support' },
              { action: 'CREATED', objectId: 'support', before: null },
            ],
          },
        },
      },
      { data: { createGuardrail: { __typename: 'Guardrail', modes: ['PRE_CALL'], defaultOn: false } } },
      { data: { updateSetting: { __typename: 'Setting', source: 'DATABASE', effectiveValue: 1 } } },
      { data: { commandLineSessions: { nodes: [] } } },
      { data: { revokeCommandLineSession: { message: 'Command line session not found' } } },
    ]);
  });

  it('the operations and commands of docs/graph.md answer', async () => {
    // A call and its trace.
    await answersOf(shell[0] ?? '');
    const [setUp = '', node = '', feed = ''] = snippetsOf('docs/graph.md', 'bash');
    const operations = snippetsOf('docs/graph.md', 'graphql').map(
      (query) => `gql '${JSON.stringify({ query: query.replaceAll(/\s+/g, ' ') })}'`,
    );
    expect(await answersOf([setUp, ...operations, node].join('\n'))).toMatchObject([
      {
        data: {
          spendRows: { nodes: expect.arrayContaining([expect.objectContaining({ modelGroup: 'demo' })]) as unknown },
        },
      },
      {
        data: {
          spend: { groups: expect.arrayContaining([expect.objectContaining({ modelGroup: 'demo' })]) as unknown },
          virtualKeys: { nodes: expect.any(Array) as unknown },
        },
      },
      { data: { teams: { totalCount: 0, nodes: [] } } },
      // This operation reads failed traces only, and the call succeeded.
      { data: { traces: { nodes: [] } } },
      { data: { createTeam: { alias: 'crew-of-docs' } } },
      { data: { node: { __typename: 'Model', name: expect.any(String) as unknown } } },
    ]);
    const { stdout } = await execute('bash', ['-euc', forThisServer(feed)], { env: environment() });
    expect(stdout).toMatch(/"__typename":"ChatText","text":"[^"]+"[\s\S]*event: complete/);
    const { stdout: role } = await execute(
      'bash',
      ['-euc', `${forThisServer(setUp)}\ngql '{"query":"{ viewer { role } }"}'`],
      {
        env: environment(),
      },
    );
    expect(role).toContain('{"data":{"viewer":{"role":"PROXY_ADMIN"}}}');
  });

  it('the calls of docs/lens.md answer; those of the investigation need a reviewer', async () => {
    // The snippet that is left out sets signals, which need a reviewer, too.
    const [investigation = '', feedback = '', , datasets = '', tracingKey = '', sql = ''] = snippetsOf(
      'docs/lens.md',
      'bash',
    );
    // A trace for the feedback. The server has no reviewer.
    await answersOf(shell[0] ?? '');
    // Only the `curl` that creates the lens, without `export LENS=$(…)`, its `sed`, and the commands that follow.
    const refused = forThisServer(investigation).replace(/export LENS=\$\(([\s\S]*?)\\\n {2}\| sed[\s\S]*/, '$1');
    expect(await answersOf(refused)).toEqual([{ detail: 'Choose a model configured on this LiteLLM instance' }]);
    const [returned, listed] = await answersOf(feedback);
    expect(returned).toMatchObject({ score: 3, comment: 'Wrong language.', author: 'customer-7' });
    expect(listed).toMatchObject({ feedback: [{ score: 3 }] });
    // The first command of the feedback snippet sets `TRACE`, which the commands of the datasets use.
    const [built, saved, exported] = await answersOf(`${feedback.split('curl -s -X PUT')[0]}\n${datasets}`);
    expect(built).toMatchObject({
      cases: [{ messages: [{ content: 'Where is my parcel?' }] }],
      skipped: [{ reason: 'no_content' }],
    });
    expect(saved).toMatchObject({ revision: 1 });
    expect(exported).toMatchObject({ expected: 'Asks for the number.' });
    expect(await answersOf(tracingKey)).toMatchObject([{ active: true }]);
    expect(await answersOf(sql)).toMatchObject([
      { data: expect.arrayContaining([expect.objectContaining({ name: 'chat demo' })]) as unknown },
    ]);
  });
});

it('the README has at most 100 lines and a picture below 200 kB', () => {
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').length - 1).toBeLessThanOrEqual(100);
  expect(readFileSync(join(ROOT, 'docs/images/live-traces.png')).byteLength).toBeLessThan(200_000);
});
