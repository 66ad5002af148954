import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');
const isMissing = engine === undefined || engine.skipReason !== null;
const ADMIN = 'sk-the-admin-of-the-kill-at-a-budget';
const CALLERS = 200;
/** Cost of each answer in USD: 10 input and 10 output tokens at 0.001. */
const COST = 0.02;
const BUDGET = 50 * COST;
/** Status of a call that a used-up budget refuses. */
const REFUSED = 422;
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 0,
  model: 'up',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
});

describe.skipIf(isMissing)('two processes, one of which is killed', () => {
  let scratch: ScratchDatabase;
  const folders: string[] = [];
  const servers: ServerProcess[] = [];
  /** Number of answers of the upstream. Each is billed, also when it does not reach its caller. */
  let answerCount = 0;
  let onAnswer = (): void => {};
  const upstream = createServer((request, response) => {
    request.resume();
    setTimeout(() => {
      answerCount += 1;
      response.setHeader('content-type', 'application/json').end(ANSWER);
      onAnswer();
    }, 40);
  });

  beforeAll(async () => {
    if (engine === undefined) throw new Error('There is no such engine.');
    scratch = await engine.create();
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = upstream.address();
    if (address === null || typeof address === 'string') throw new Error('No address.');
    const folder = mkdtempSync(join(tmpdir(), 'lensgate-kill-'));
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      `model_list:
  - model_name: m
    litellm_params:
      model: openai/up
      api_base: http://127.0.0.1:${address.port}/v1
      api_key: sk-up
      input_cost_per_token: 0.001
      output_cost_per_token: 0.001
`,
    );
    const env = {
      DATABASE_URL: String(scratch.options.databaseUrl),
      LITELLM_MASTER_KEY: ADMIN,
      CONFIG_FILE_PATH: config,
      LITELLM_SALT_KEY: 'sk-salt',
    };
    folders.push(folder);
    for (let count = 0; count < 2; count += 1) {
      const dataDir = mkdtempSync(join(tmpdir(), 'lensgate-kill-'));
      folders.push(dataDir);
      servers.push(await spawnServer(dataDir, { env }));
    }
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    upstream.closeAllConnections();
    upstream.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await scratch.remove();
  });

  const post = (server: ServerProcess | undefined, path: string, body: unknown, key = ADMIN): Promise<Response> =>
    fetch(`${server?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const call = async (server: ServerProcess | undefined, key: string): Promise<number> => {
    const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(40) }] };
    const answer = await post(server, '/v1/chat/completions', body, key);
    await answer.arrayBuffer();
    return answer.status;
  };

  it('exceed the budget of a key with 200 callers by at most one call, also after the kill', async () => {
    const [killedServer, otherServer] = servers;
    const made = await post(otherServer, '/key/generate', { max_budget: BUDGET });
    const { key } = (await made.json()) as { key: string };
    const killed = new Promise<void>((resolve, reject) => {
      onAnswer = () => {
        // Some calls are answered, others are in progress.
        if (answerCount === 5) killedServer?.end('SIGKILL').then(() => resolve(), reject);
      };
    });
    const statuses = await Promise.all(
      Array.from({ length: CALLERS }, async (_, nth) => {
        const results: (number | 'lost')[] = [];
        for (let turn = 0; turn < 4; turn += 1) {
          const status = await call(nth % 2 === 0 ? killedServer : otherServer, key).catch(() => 'lost' as const);
          results.push(status);
          if (status === 'lost') break;
        }
        return results;
      }),
    );
    await killed;
    const distinct = new Set(statuses.flat());
    expect([...distinct].filter((status) => status !== 200 && status !== REFUSED && status !== 'lost')).toEqual([]);
    expect(distinct.has('lost')).toBe(true);
    // The share of the killed process counts as spent, because its actual spend is unknown.
    const later: number[] = [];
    for (let turn = 0; turn < 40; turn += 1) later.push(await call(otherServer, key));
    expect(later.at(-1)).toBe(REFUSED);
    // 1e-9 allows for floating-point rounding.
    expect(answerCount * COST).toBeLessThan(BUDGET + COST + 1e-9);
  });
});
