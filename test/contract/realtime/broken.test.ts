import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRealtime, type RealtimeClient } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream, type UpstreamSession } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const MEGABYTE = 1024 * 1024;

let app: TestApp;
let upstream: RealtimeUpstream;

beforeAll(async () => {
  upstream = await startRealtimeUpstream();
  app = await startGateway();
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

function startGateway(): Promise<TestApp> {
  const litellm_params = { model: 'openai/gpt-realtime', api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-1' };
  return startApp({
    config: { model_list: [{ model_name: 'voice', litellm_params }], general_settings: { max_request_size_mb: 1 } },
  });
}

async function openSession(
  gateway = app,
): Promise<{ client: RealtimeClient; session: UpstreamSession; traceId: string }> {
  const { traceId, headers } = newTrace();
  const client = await openRealtime(gateway, { headers: { ...headers, authorization: `Bearer ${gateway.adminKey}` } });
  return { client, session: await upstream.session(), traceId };
}

/** Status and error code in the spend row of a session. */
async function endOf(traceId: string, gateway = app): Promise<unknown> {
  const [only, ...more] = (await spansIn(gateway, traceId)) as {
    spendRow: { status: string; errorCode: string | null };
  }[];
  expect(more).toEqual([]);
  return [only?.spendRow.status, only?.spendRow.errorCode];
}

const failureEvent = (reason: string) => ({
  type: 'error',
  event_id: expect.stringMatching(/^event_/),
  error: {
    type: 'internal_server_error',
    code: '500',
    message: `litellm.APIConnectionError: APIConnectionError: OpenAIException - ${reason}`,
    param: null,
    event_id: null,
  },
});

describe('an upstream', () => {
  it.each([
    ['destroys the connection', (wire) => wire.destroy(), 'The upstream closed the connection without a close frame.'],
    ['half-closes the connection', (wire) => wire.end(), 'The upstream closed the connection without a close frame.'],
    [
      'sends an invalid frame',
      (wire) => wire.write(Buffer.alloc(64, 0xff)),
      'The upstream sent an invalid WebSocket message.',
    ],
    [
      'begins a message of 64 MiB',
      (wire) => wire.write(Buffer.from([0x81, 127, 0, 0, 0, 0, 4, 0, 0, 0])),
      'The upstream sent a message above the size limit.',
    ],
    [
      'sends text that is not UTF-8',
      (wire) => wire.write(Buffer.from([0x81, 2, 0xc3, 0x28])),
      'The upstream sent an invalid WebSocket message.',
    ],
  ] satisfies [string, (wire: UpstreamSession['wire']) => void, string][])(
    'that %s is reported, and the session ends',
    async (_how, misbehave, reason) => {
      const { client, session, traceId } = await openSession();
      session.sendEvent({ type: 'response.created' });
      misbehave(session.wire);
      expect(JSON.parse(await client.nextMessage())).toEqual({ type: 'response.created' });
      expect(JSON.parse(await client.nextMessage())).toEqual(failureEvent(reason));
      expect((await client.closed).code).toBe(1011);
      await session.closed;
      expect(await endOf(traceId)).toEqual(['FAILURE', 'UPSTREAM_FAILED']);
    },
  );

  it('that closes after an error event has its code and reason forwarded', async () => {
    const { client, session, traceId } = await openSession();
    session.sendEvent({ type: 'error', error: { message: 'The session has expired.' } });
    session.socket.close(4000, 'invalid_request_error.expired');
    expect(JSON.parse(await client.nextMessage())).toEqual({
      type: 'error',
      error: { message: 'The session has expired.' },
    });
    expect(await client.closed).toEqual({ code: 4000, reason: 'invalid_request_error.expired' });
    expect(await endOf(traceId)).toEqual(['FAILURE', 'UPSTREAM_FAILED']);
  });

  it('that closes with an error code and no error event is reported by an error event', async () => {
    const { client, session, traceId } = await openSession();
    session.socket.close(1013, 'busy');
    expect(JSON.parse(await client.nextMessage())).toEqual(
      failureEvent('The session was closed with code 1013: busy.'),
    );
    expect(await client.closed).toEqual({ code: 1013, reason: 'busy' });
    expect(await endOf(traceId)).toEqual(['FAILURE', 'UPSTREAM_FAILED']);
  });

  it('that closes normally closes the session without an error', async () => {
    const { client, session, traceId } = await openSession();
    session.socket.close();
    expect((await client.closed).code).toBe(1000);
    expect(await endOf(traceId)).toEqual(['SUCCESS', null]);
  });

  it('that sends fast is read only as fast as the client reads', async () => {
    const { client, session } = await openSession();
    client.socket.pause();
    const event = `{"type":"response.output_audio.delta","delta":"${'A'.repeat(64 * 1024)}"}`;
    let sentCount = 0;
    // The gateway has stopped reading when more than 1 MiB stays unsent, unchanged in five checks.
    await new Promise<void>((resolve) => {
      let unsentBytes = -1;
      let stableChecks = 0;
      const timer = setInterval(() => {
        const before = unsentBytes;
        unsentBytes = session.socket.bufferedAmount;
        stableChecks = unsentBytes > MEGABYTE && unsentBytes === before ? stableChecks + 1 : 0;
        if (stableChecks === 5) {
          clearInterval(timer);
          resolve();
        }
        if (unsentBytes > 2 * MEGABYTE) return;
        for (let events = 0; events < 32; events += 1, sentCount += 1) session.socket.send(event);
      }, 50);
    });
    let receivedCount = 0;
    const all = new Promise<void>((resolve) => {
      client.socket.on('message', () => {
        receivedCount += 1;
        if (receivedCount === sentCount) resolve();
      });
    });
    client.socket.resume();
    await all;
    expect(receivedCount).toBe(sentCount);
    client.socket.close();
    await session.closed;
  });
});

describe('a client', () => {
  it('that disconnects closes the connection to the upstream', async () => {
    const { client, session, traceId } = await openSession();
    client.socket.terminate();
    expect((await session.closed).code).toBe(1000);
    expect(await endOf(traceId)).toEqual(['FAILURE', 'CLIENT_GONE']);
  });

  it('that disconnects after an answer is charged for the answer', async () => {
    const { client, session, traceId } = await openSession();
    session.sendEvent({ type: 'response.done', response: { usage: { input_tokens: 3, output_tokens: 1 } } });
    await client.nextMessage();
    client.socket.close(1001);
    await session.closed;
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'SUCCESS', usage: { inputTokens: 3, outputTokens: 1 } } },
    ]);
  });

  it.each([
    ['a message above the size limit', 'x'.repeat(MEGABYTE + 1), 1009, 'TOO_LARGE'],
    ['an invalid close code', null, 1002, 'INVALID_INPUT'],
  ])('that sends %s is disconnected', async (_what, text, code, errorCode) => {
    const { client, session, traceId } = await openSession();
    if (text !== null) client.socket.send(text);
    // A masked close frame with code 1006.
    else client.wire.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xee]));
    expect((await client.closed).code).toBe(code);
    await session.closed;
    expect(await endOf(traceId)).toEqual(['FAILURE', errorCode]);
  });

  it('that disconnects before the upstream has opened leaves no connection open', async () => {
    const reached = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    upstream.answer((wire) => {
      wire.on('close', closed.resolve).on('end', () => wire.end());
      wire.resume();
      reached.resolve();
    });
    const { traceId, headers } = newTrace();
    const { port } = new URL(app.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `GET /v1/realtime?model=voice HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.adminKey}\r\ntraceparent: ${headers.traceparent}\r\n` +
        'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await reached.promise;
    socket.end();
    await closed.promise;
    upstream.answer(null);
    socket.destroy();
    expect(await endOf(traceId)).toEqual(['FAILURE', 'CLIENT_GONE']);
  });
});

it('a session that is open at shutdown gets an error, and is recorded', async () => {
  const gateway = await startGateway();
  const { client, session, traceId } = await openSession(gateway);
  const stopped = gateway.stop({ keepData: true });
  expect(JSON.parse(await client.nextMessage())).toEqual({
    type: 'error',
    event_id: expect.stringMatching(/^event_/),
    error: {
      type: 'service_unavailable',
      code: '503',
      message: 'The process is shutting down.',
      param: null,
      event_id: null,
    },
  });
  expect((await client.closed).code).toBe(1001);
  expect((await session.closed).code).toBe(1000);
  await stopped;
  const restarted = await startApp({ dataDir: gateway.dataDir });
  try {
    expect(await endOf(traceId, restarted)).toEqual(['FAILURE', 'UNAVAILABLE']);
  } finally {
    await restarted.stop();
  }
});

it('no session leaves a connection open', async () => {
  await expect.poll(() => upstream.connections()).toBe(0);
});
