import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnalyst } from '../../../src/domain/lens/pipeline/analyst.ts';
import { objectOf, textUpTo } from '../../../src/domain/lens/pipeline/structure.ts';
import { LEASE_MS, ServerUnreachable } from '../../../src/domain/lens/worker.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { httpBackend } from '../../../src/runtime/lens/http-backend.ts';

const CLAIM = { lensId: 'a-lens', runId: 'a-run', attempt: 1 };
const CALL = { prompt: '{}', purpose: 'extract', messages: null } as const;
const ANSWER = { content: '{"text":"x"}', cost: 0, context_exceeded: false };
const signal = new AbortController().signal;

interface Reply {
  readonly status: number;
  readonly body: string;
}

let server: Server | null = null;
afterEach(() => void server?.close());

/** Server that answers each request with the reply of its number, counted from 0. */
async function startServer(replyOf: (nth: number) => Reply): Promise<string> {
  let requests = 0;
  server = createServer((_request, response) => {
    const { status, body } = replyOf(requests);
    requests += 1;
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A backend whose pauses take no time and advance its clock. */
function backendAt(url: string) {
  let nowMs = 0;
  const delays: number[] = [];
  const backend = httpBackend(url, new Secret('a-token'), {
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    pause: async (milliseconds) => {
      nowMs += milliseconds;
      delays.push(milliseconds);
    },
  });
  return { backend, delays, waitedMs: () => nowMs };
}

const ok: Reply = { status: 200, body: JSON.stringify(ANSWER) };
const noServer: Reply = { status: 502, body: '<html>Bad gateway</html>' };
const noModel: Reply = { status: 503, body: JSON.stringify({ detail: { lens_error: 'No deployment answers.' } }) };

describe('a server that a lens worker cannot reach', () => {
  it('is asked again for longer than ten seconds, with growing delays', async () => {
    const { backend, delays } = backendAt(await startServer((nth) => (nth < 8 ? noServer : ok)));
    expect(await backend.model(CLAIM, CALL, signal)).toMatchObject({ content: ANSWER.content });
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
  });

  it('ends the run after the lease, so that no review is dropped', async () => {
    // Nothing listens on port 1.
    const { backend, waitedMs } = backendAt('http://127.0.0.1:1');
    const analyst = createAnalyst(backend, CLAIM, signal);
    const question = {
      purpose: 'extract',
      task: 't',
      structure: objectOf({ text: textUpTo(10) }),
      members: {},
    } as const;
    await expect(analyst.ask(question)).rejects.toThrow(ServerUnreachable);
    expect(waitedMs()).toBeGreaterThanOrEqual(LEASE_MS);
    expect(waitedMs()).toBeLessThan(LEASE_MS + 10_000);
  });

  it('is not a failed model call, which is repeated four times and becomes a failure of the review', async () => {
    const { backend, delays } = backendAt(await startServer(() => noModel));
    await expect(backend.model(CLAIM, CALL, signal)).rejects.toThrow('No deployment answers.');
    expect(delays).toHaveLength(4);
  });

  it('is asked four times again for a claim and for a heartbeat, which are repeated anyway', async () => {
    const { backend, delays } = backendAt('http://127.0.0.1:1');
    await expect(backend.claim(signal)).rejects.toThrow('The server answered 503');
    await expect(backend.heartbeat(CLAIM, signal)).rejects.toThrow('The server answered 503');
    expect(delays).toHaveLength(8);
  });
});
