import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { STALLED_MS, writeAnswer } from '../../../rest-shims/answer-writer.ts';
import type { ByteSink } from '../../../src/domain/bytes.ts';

/** A source of bytes the test pushes by hand. */
function handSource() {
  const seen = { resumed: 0, cancelled: false };
  let sink: ByteSink | undefined;
  const piped = Promise.withResolvers<ByteSink>();
  return {
    seen,
    piped: piped.promise,
    stream: {
      pipe(to: ByteSink) {
        sink = to;
        piped.resolve(sink);
      },
      resume() {
        seen.resumed += 1;
      },
      cancel() {
        seen.cancelled = true;
      },
    },
  };
}

let source = handSource();
let ends: unknown[][] = [];

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((_request, response) => {
    void writeAnswer(response, {
      body: {
        kind: 'stream',
        stream: source.stream,
        contentType: 'text/event-stream',
        ended: (...end) => ends.push(end),
        lastWords: (failure) => Buffer.from(`data: ${failure.message}\n\n`),
      },
    });
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
  const open = async () => {
    source = handSource();
    ends = [];
    const answer = await fetch(`${url}/stream`);
    return { answer, sink: await source.piped };
  };

  it('is relayed chunk by chunk and told completed', async () => {
    const { answer, sink } = await open();
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    sink.chunk(Buffer.from('data: 1\n\n'));
    sink.chunk(Buffer.from('data: 2\n\n'));
    sink.done();
    expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\n');
    expect(ends).toEqual([['completed', undefined]]);
  });

  it('that fails says so in its last event', async () => {
    const { answer, sink } = await open();
    sink.chunk(Buffer.from('data: 1\n\n'));
    const failure = new Error('cut');
    sink.fail(failure);
    expect(await answer.text()).toBe('data: 1\n\ndata: cut\n\n');
    expect(ends).toEqual([['failed', failure]]);
  });

  it('is cancelled when the client leaves', async () => {
    const { answer } = await open();
    await answer.body?.cancel();
    await expect.poll(() => [source.seen.cancelled, ends]).toEqual([true, [['abandoned', undefined]]]);
  });

  it('is paused while the client does not read, and goes on when it does', async () => {
    source = handSource();
    ends = [];
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
    const sink = await source.piped;
    socket.pause();
    const chunk = Buffer.alloc(256 * 1024, 'x');
    let sent = 0;
    while (sink.chunk(chunk)) {
      sent += 1;
      expect(sent).toBeLessThan(1_000);
      await new Promise(setImmediate);
    }
    socket.resume();
    await expect.poll(() => source.seen.resumed).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(() => source.seen.cancelled).toBe(true);
  });

  it('is cancelled when the client has not read for minutes, and not before', async () => {
    source = handSource();
    ends = [];
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
    const sink = await source.piped;
    socket.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      // More than the sockets' own buffers can hold, so that nothing drains any more.
      sink.chunk(Buffer.alloc(32 * 1024 * 1024, 'x'));
      vi.advanceTimersByTime(STALLED_MS - 1);
      await new Promise(setImmediate);
      expect(source.seen.cancelled).toBe(false);
      vi.advanceTimersByTime(1);
    } finally {
      vi.useRealTimers();
    }
    await expect.poll(() => [source.seen.cancelled, ends]).toEqual([true, [['abandoned', undefined]]]);
    socket.destroy();
  });
});
