import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ENGINES } from '../ports/engines.ts';
import { spawnServer, type ServerProcess } from '../support/spawn-server.ts';

let folder: string;
let running: ServerProcess[];
beforeEach(() => {
  // The apostrophe and the space show whether printed commands quote the path.
  folder = mkdtempSync(join(tmpdir(), "lensgate's process-"));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((server) => server.end('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Parameters<typeof spawnServer>[1] = {}): Promise<ServerProcess & { key: string }> {
  const server = await spawnServer(join(folder, 'data'), options);
  running.push(server);
  return { ...server, key: readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim() };
}

const authorized = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** An OTLP/JSON export of one span whose ids follow from a number. */
function exportOf(index: number): { traceId: string; body: string } {
  const traceId = (index + 1).toString(16).padStart(32, '0');
  const span = {
    traceId,
    spanId: (index + 1).toString(16).padStart(16, '0'),
    name: `span ${index}`,
    kind: 1,
    startTimeUnixNano: `${BigInt(Date.now()) * 1_000_000n}`,
    endTimeUnixNano: `${BigInt(Date.now() + 5) * 1_000_000n}`,
    attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }],
  };
  return {
    traceId,
    body: JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: [span] }] }] }),
  };
}

/** An upstream whose streams stay open until the test ends them. */
async function heldUpstream() {
  const open: ServerResponse[] = [];
  let opened: () => void = () => {};
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(
      'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"held","choices":[{"index":0,"delta":{"role":"assistant","content":"one"},"finish_reason":null}]}\n\n',
    );
    open.push(response);
    opened();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const config = join(folder, 'config.yaml');
  writeFileSync(
    config,
    `model_list:\n  - model_name: held\n    litellm_params: { model: openai/held, api_base: "http://127.0.0.1:${port}/v1", api_key: sk-up }\n`,
  );
  return {
    config,
    nextStream: () =>
      new Promise<void>((resolve) => {
        opened = resolve;
      }),
    finish() {
      for (const response of open) {
        response.end(
          'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"held","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
        );
      }
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a process', () => {
  it('prints addresses, a key and commands at its first start, and the commands work unchanged', async () => {
    const { url, output, key } = await start();
    expect(statSync(join(folder, 'data', 'admin-key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data', 'lensgate.db')).mode & 0o077).toBe(0);
    expect(output()).toContain(`GraphiQL   ${url}/graphql`);
    expect(output()).toContain(`Docs       ${url}/docs`);
    expect(output()).toContain(key);
    const readiness = await fetch(`${url}/health/readiness`);
    expect([readiness.status, await readiness.json()]).toEqual([200, { status: 'healthy', db: 'connected' }]);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    const calls =
      output()
        .split('Try:')[1]
        ?.replace(/^ {2}/gm, '')
        .trim()
        .split(/\n\n(?=#)/) ?? [];
    expect(calls).toHaveLength(3);
    const answers: unknown[] = [];
    for (const call of calls) {
      const { stdout } = await promisify(execFile)('bash', ['-c', call]);
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toEqual([
      expect.objectContaining({ id: 'gpt-4o', provider: 'openai' }),
      expect.objectContaining({ object: 'chat.completion', model: 'demo' }),
      { data: { traces: { nodes: expect.any(Array) } } },
    ]);
  });

  it('keeps keys and traces across a restart', async () => {
    const first = await start();
    const made = await fetch(`${first.url}/key/generate`, {
      method: 'POST',
      headers: authorized(first.key),
      body: JSON.stringify({ key_alias: 'kept' }),
    });
    const { key } = (await made.json()) as { key: string };
    const chat = await fetch(`${first.url}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(key),
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(chat.status).toBe(200);
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    const second = await start();
    const list = await fetch(`${second.url}/v1/traces`, { headers: authorized(key) });
    const { data } = (await list.json()) as { data: { trace_id: string; llm_calls: number }[] };
    expect(data.map(({ llm_calls }) => llm_calls)).toEqual([1]);
  });
});

describe('a process that gets a signal to stop', () => {
  it('lets an open stream end, is not ready meanwhile, and exits cleanly', async () => {
    const upstream = await heldUpstream();
    const server = await start({ args: ['--config', upstream.config] });
    const streaming = upstream.nextStream();
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(server.key),
      body: JSON.stringify({ model: 'held', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await streaming;
    const ended = server.end('SIGTERM');
    await expect
      .poll(() =>
        fetch(`${server.url}/health/readiness`)
          .then(({ status }) => status)
          .catch(() => 'refused'),
      )
      .not.toBe(200);
    upstream.finish();
    expect(await answer.text()).toMatch(/\[DONE\]\n\n$/);
    expect(await ended).toEqual({ code: 0, signal: null });
    upstream.close();
  });

  it('handles repeated signals as one: a terminal and npm send several for one Ctrl-C', async () => {
    const upstream = await heldUpstream();
    const server = await start({ args: ['--config', upstream.config] });
    const streaming = upstream.nextStream();
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(server.key),
      body: JSON.stringify({ model: 'held', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await streaming;
    const ended = server.end('SIGINT');
    server.process.kill('SIGINT');
    server.process.kill('SIGTERM');
    await expect.poll(() => fetch(server.url).catch(() => 'refused')).toBe('refused');
    upstream.finish();
    expect(await answer.text()).toMatch(/\[DONE\]\n\n$/);
    expect(await ended).toEqual({ code: 0, signal: null });
    upstream.close();
  });
});

describe('the log', () => {
  it('reports an invalid HTTP request, without its key', async () => {
    const server = await start();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.resume();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`,
    );
    await once(socket, 'close');
    await expect.poll(() => server.errors()).toContain('HPE_INVALID_CHUNK_SIZE');
    expect(server.errors()).not.toContain(server.key);
    // A logged buffer would be a list of bytes.
    expect(server.errors()).not.toContain([...Buffer.from(server.key)].join(','));
  });
});

describe('a killed process', () => {
  for (const engine of ENGINES)
    it.skipIf(engine.skipReason !== null)(`loses no span that it acknowledged, on ${engine.name}`, async () => {
      const scratch = engine.name === 'postgresql' ? await engine.create() : null;
      onTestFinished(() => scratch?.remove());
      const env: Record<string, string> = scratch?.options.databaseUrl
        ? { DATABASE_URL: scratch.options.databaseUrl }
        : { LENSGATE_SQLITE_DRIVER: engine.name };
      const server = await start({ env });
      const acknowledged: string[] = [];
      let isOver = false;
      const senders = Array.from({ length: 4 }, async (_, sender) => {
        for (let index = sender; !isOver; index += 4) {
          const { traceId, body } = exportOf(index);
          const answer = await fetch(`${server.url}/v1/traces`, {
            method: 'POST',
            headers: authorized(server.key),
            body,
          }).catch(() => null);
          if (answer?.status === 200) acknowledged.push(traceId);
        }
      });
      await expect.poll(() => acknowledged.length).toBeGreaterThan(200);
      await server.end('SIGKILL');
      isOver = true;
      await Promise.all(senders);

      const restarted = await start({ env });
      const lost: string[] = [];
      for (const traceId of acknowledged) {
        const answer = await fetch(`${restarted.url}/v1/traces/${traceId}`, { headers: authorized(restarted.key) });
        await answer.arrayBuffer();
        if (answer.status !== 200) lost.push(traceId);
      }
      expect(lost).toEqual([]);
      expect(restarted.errors()).toBe('');
    });

  it('starts without errors after a kill during a chat', async () => {
    const upstream = await heldUpstream();
    const server = await start({ args: ['--config', upstream.config] });
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(server.key),
      body: JSON.stringify({ model: 'held', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const end = answer.text().then(
      () => 'whole',
      () => 'cut',
    );
    await server.end('SIGKILL');
    expect(await end).toBe('cut');
    upstream.close();
    const restarted = await start();
    const chat = await fetch(`${restarted.url}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(restarted.key),
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(chat.status).toBe(200);
    expect(restarted.errors()).toBe('');
  });
});
