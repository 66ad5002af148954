import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { STALL_TIMEOUT_MS, writeAnswer } from '../../../rest-shims/helpers/http/answer-writer.ts';
import type { HttpAnswer } from '../../../rest-shims/helpers/http/route.ts';
import type { ByteSink, ByteStream } from '../../../src/domain/bytes.ts';
import { settledCall } from '../../support/settled-call.ts';

/** Byte stream whose chunks the test pushes. */
function manualSource() {
  const sourceState = { resumed: 0, cancelled: false };
  let sink: ByteSink | undefined;
  const piped = Promise.withResolvers<ByteSink>();
  return {
    sourceState,
    piped: piped.promise,
    stream: {
      pipe(to: ByteSink) {
        sink = to;
        piped.resolve(sink);
      },
      resume() {
        sourceState.resumed += 1;
      },
      cancel() {
        sourceState.cancelled = true;
      },
    },
  };
}

let source = manualSource();
let heartbeatMs = 0;
let ends: unknown[][] = [];

/** Wraps a stream as gateway calls do. */
const asGatewayStream = (bytes: ByteStream): ByteStream =>
  settledCall({ bytes, deltas: () => [][Symbol.iterator]() as never }, (end, failure) =>
    ends.push([end, failure]),
  ).bytes();

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((_request, response) => {
    const answer: HttpAnswer = {
      body: {
        kind: 'stream',
        stream: asGatewayStream(source.stream),
        contentType: 'text/event-stream',
        failureEvent: (failure) => Buffer.from(`data: ${failure.message}\n\n`),
        heartbeat: Buffer.from(': beat\n\n'),
      },
    };
    void writeAnswer(response, answer, heartbeatMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('a stream', () => {
  const openStream = async () => {
    source = manualSource();
    ends = [];
    const answer = await fetch(`${url}/stream`);
    return { answer, sink: await source.piped };
  };

  it('is relayed and reported as completed', async () => {
    const { answer, sink } = await openStream();
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    sink.chunk(Buffer.from('data: 1\n\n'));
    sink.chunk(Buffer.from('data: 2\n\n'));
    sink.done();
    expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\n');
    expect(ends).toEqual([['completed', undefined]]);
  });

  it('that fails ends with an error event', async () => {
    const { answer, sink } = await openStream();
    sink.chunk(Buffer.from('data: 1\n\n'));
    const failure = new Error('cut');
    sink.fail(failure);
    expect(await answer.text()).toBe('data: 1\n\ndata: cut\n\n');
    expect(ends).toEqual([['failed', failure]]);
  });

  it('is cancelled when the client disconnects', async () => {
    const { answer } = await openStream();
    await answer.body?.cancel();
    await expect.poll(() => [source.sourceState.cancelled, ends]).toEqual([true, [['abandoned', undefined]]]);
  });

  it('is paused while the client does not read, and resumed afterwards', async () => {
    source = manualSource();
    ends = [];
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
    const sink = await source.piped;
    socket.pause();
    const chunk = Buffer.alloc(256 * 1024, 'x');
    let sentChunks = 0;
    while (sink.chunk(chunk)) {
      sentChunks += 1;
      expect(sentChunks).toBeLessThan(1_000);
      await new Promise(setImmediate);
    }
    socket.resume();
    await expect.poll(() => source.sourceState.resumed).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(() => source.sourceState.cancelled).toBe(true);
  });

  it('is cancelled when the client has not read for the stall timeout, and not before', async () => {
    source = manualSource();
    ends = [];
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
    const sink = await source.piped;
    socket.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      // More than the socket buffers can hold, so that `drain` is not emitted.
      sink.chunk(Buffer.alloc(32 * 1024 * 1024, 'x'));
      vi.advanceTimersByTime(STALL_TIMEOUT_MS - 1);
      await new Promise(setImmediate);
      expect(source.sourceState.cancelled).toBe(false);
      vi.advanceTimersByTime(1);
    } finally {
      vi.useRealTimers();
    }
    await expect.poll(() => [source.sourceState.cancelled, ends]).toEqual([true, [['abandoned', undefined]]]);
    socket.destroy();
  });

  describe('that is idle', () => {
    /** Opens a stream whose heartbeat runs on fake timers. */
    async function openIdle(ms: number) {
      heartbeatMs = ms;
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      return await openStream();
    }
    afterEach(() => {
      vi.useRealTimers();
      heartbeatMs = 0;
    });

    it('has one heartbeat for each interval, and none while chunks arrive', async () => {
      const { answer, sink } = await openIdle(10_000);
      sink.chunk(Buffer.from('data: 1\n\n'));
      vi.advanceTimersByTime(10_000);
      vi.advanceTimersByTime(10_000);
      for (const piece of [2, 3, 4]) {
        sink.chunk(Buffer.from(`data: ${piece}\n\n`));
        vi.advanceTimersByTime(5_000);
      }
      vi.advanceTimersByTime(5_000);
      sink.done();
      vi.advanceTimersByTime(60_000);
      expect(await answer.text()).toBe('data: 1\n\n: beat\n\n: beat\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n: beat\n\n');
      expect(vi.getTimerCount()).toBe(0);
    });

    it('has no heartbeat if heartbeats are disabled', async () => {
      const { answer, sink } = await openIdle(0);
      vi.advanceTimersByTime(3_600_000);
      sink.done();
      expect(await answer.text()).toBe('');
    });

    it('has no heartbeat after its client disconnects', async () => {
      const { answer } = await openIdle(10_000);
      await answer.body?.cancel();
      await expect.poll(() => ends).toEqual([['abandoned', undefined]]);
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});
