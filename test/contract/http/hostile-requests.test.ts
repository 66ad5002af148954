import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { hostileRequests, type HostileRequest, ordinaryRequests } from '../../support/hostile-requests.ts';
import { mutated } from '../../support/mutate.ts';
import { randomFrom } from '../../support/random.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const KEY = 'sk-hostile-requests-0123456789';
const LAST_REQUEST = Buffer.from('GET /health/liveness HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
const SHAPES = hostileRequests(KEY).map((shape) => [shape.what, shape] as const);

let upstream: FaultServer;
let app: TestApp;
beforeAll(async () => {
  upstream = await startFaultServer();
  // The upstream answers with the content of the last message.
  upstream.answer((response, _socket, { body }) => {
    const { messages } = JSON.parse(body) as { messages: { content: unknown }[] };
    const message = { role: 'assistant', content: String(messages.at(-1)?.content) };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        model: 'up',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }),
    );
  });
  const litellm_params = { model: 'openai/up', api_base: upstream.url, api_key: 'sk-upstream' };
  app = await startApp({
    config: { model_list: [{ model_name: 'echo', litellm_params }] },
    env: { LITELLM_MASTER_KEY: KEY },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Opens a connection. `closed` resolves at its end, `received` returns its received bytes as text. */
async function openSocket() {
  const socket: Socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    .setNoDelay(true)
    .on('error', () => {});
  let receivedText = '';
  socket.on('data', (bytes: Buffer) => {
    receivedText += bytes.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await Promise.race([once(socket, 'connect'), closed]);
  return { socket, closed, received: () => receivedText };
}

async function write(socket: Socket, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) {
    if (!socket.writable) return;
    socket.write(piece);
    await turn();
  }
}

/** Everything received until the server closes the connection. */
async function answerTo(pieces: readonly Uint8Array[]): Promise<string> {
  const { socket, closed, received } = await openSocket();
  await write(socket, pieces);
  await closed;
  return received();
}

const statusesIn = (answer: string): readonly number[] =>
  Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));

/** Received and expected statuses of a request, and of the next request if the connection stays open. */
function compareStatuses(
  { status, keepsConnection }: HostileRequest,
  answer: string,
): { readonly received: unknown; readonly expected: unknown } {
  const [first, ...later] = statusesIn(answer);
  const received =
    first !== undefined && first < 500 && status === 'below 500' ? ['below 500', ...later] : [first, ...later];
  return { received, expected: [status ?? undefined, ...(keepsConnection ? [200] : [])] };
}

/** Splits bytes into at most 200 pieces of random sizes. */
function split(bytes: Buffer, draw: (below: number) => number): Buffer[] {
  const pieces: Buffer[] = [];
  const maxSize = draw(2) === 0 ? 40 : 4_000;
  for (let offset = 0; offset < bytes.length && pieces.length < 200;) {
    const end = pieces.length === 199 ? bytes.length : offset + 1 + draw(maxSize);
    pieces.push(bytes.subarray(offset, end));
    offset = end;
  }
  return pieces;
}

describe('a hostile request', () => {
  it.each(SHAPES)('has the expected status: %s', async (_what, shape) => {
    const { received, expected } = compareStatuses(
      shape,
      await answerTo([shape.bytes, ...(shape.keepsConnection ? [LAST_REQUEST] : [])]),
    );
    expect(received).toEqual(expected);
  });

  it.each(SHAPES)('has the same status when it is sent in pieces: %s', async (_what, shape) => {
    const pieces = split(shape.bytes, randomFrom(shape.bytes.length));
    const { received, expected } = compareStatuses(
      shape,
      await answerTo([...pieces, ...(shape.keepsConnection ? [LAST_REQUEST] : [])]),
    );
    expect(received).toEqual(expected);
  });
});

describe('four hundred damaged requests', () => {
  const COUNT = 400;
  const CONCURRENCY = 8;

  /** Sends a damaged request, waits for the answer to a later request on another connection, and disconnects. */
  async function sendDamaged(seed: number): Promise<string> {
    const draw = randomFrom(seed);
    const ordinary = ordinaryRequests(KEY);
    const [index, otherIndex] = [draw(ordinary.length), draw(ordinary.length)];
    const bytes = mutated(ordinary[index] ?? LAST_REQUEST, draw, ordinary[otherIndex] ?? LAST_REQUEST);
    const { socket, closed, received } = await openSocket();
    await write(socket, split(Buffer.from(bytes), draw));
    await answerTo([LAST_REQUEST]);
    socket.end();
    await closed;
    return received();
  }

  it('cause no server failure and no wrong answer to other calls', async () => {
    const seeds = Array.from({ length: COUNT }, (_, seed) => seed);
    const failures: unknown[] = [];
    const workers = Array.from({ length: CONCURRENCY }, async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
        const answer = await sendDamaged(seed);
        if (statusesIn(answer).some((status) => status >= 500) || answer.includes('Internal server error'))
          failures.push({ seed, answer });
      }
    });
    const contents: string[] = [];
    while (seeds.length > 0) {
      const content = `call ${contents.length}`;
      const answer = await app.call('POST', '/v1/chat/completions', {
        model: 'echo',
        messages: [{ role: 'user', content }],
      });
      const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
      contents.push(choices[0]?.message.content ?? '');
    }
    await Promise.all(workers);
    expect(failures).toEqual([]);
    expect(contents.length).toBeGreaterThan(10);
    expect(contents).toEqual(contents.map((_, nth) => `call ${nth}`));
  });

  it('leave no connection open', async () => {
    const openConnections = async (): Promise<number> => {
      const text = await (await fetch(`${app.url}/metrics`, { headers: { connection: 'close' } })).text();
      return Number(/^lensgate_connections_open (\d+)$/m.exec(text)?.[1]);
    };
    // At most the connection of this read, and keep-alive connections of `fetch`.
    await expect.poll(openConnections).toBeLessThanOrEqual(3);
  });
});
