import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { STALL_TIMEOUT_MS } from '../../../rest-shims/helpers/http/answer-writer.ts';
import { createEventStreams, MULTIPART, SERVER_SENT_EVENTS } from '../../../src/graphql/event-streams.ts';

/** An endless source that counts the calls of `next` and `return`. */
function endlessSource() {
  const state = { read: 0, returned: 0 };
  const event = { data: { text: 'x'.repeat(64 * 1024) } };
  const results: AsyncIterableIterator<object> = {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      state.read += 1;
      return Promise.resolve({ done: false, value: event });
    },
    return() {
      state.returned += 1;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { state, results };
}

let server: Server;
let client: Socket;
afterEach(() => {
  vi.useRealTimers();
  client.destroy();
  server.close();
});

/** The response to a client that has sent a request and reads nothing. */
async function stalledResponse(): Promise<ServerResponse> {
  const response = Promise.withResolvers<ServerResponse>();
  server = createServer((_request, answer) => response.resolve(answer));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause();
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  return await response.promise;
}

describe.each([
  ['SSE', SERVER_SENT_EVENTS],
  ['multipart', MULTIPART],
])('a client of %s that stops reading', (_name, framing) => {
  it('is disconnected after a deadline, and its source is closed after at most one more read', async () => {
    const response = await stalledResponse();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const streams = createEventStreams(JSON.stringify);
    const { state, results } = endlessSource();
    const closed = new Promise<void>((resolve) => {
      response.once('close', resolve);
    });
    void streams.write(response, results, framing);
    // The buffers of the kernel are full when the source is not read in 50 turns of the event loop.
    let read = -1;
    let turnsWithoutRead = 0;
    while (turnsWithoutRead < 50) {
      await new Promise((resolve) => setImmediate(resolve));
      const isStalled = state.read === read && response.socket?.writableNeedDrain === true;
      turnsWithoutRead = isStalled ? turnsWithoutRead + 1 : 0;
      read = state.read;
    }
    vi.advanceTimersByTime(STALL_TIMEOUT_MS - 1);
    expect([response.destroyed, state.returned]).toEqual([false, 0]);
    vi.advanceTimersByTime(1);
    await closed;
    expect(response.destroyed).toBe(true);
    expect(state.returned).toBe(1);
    expect(state.read).toBeLessThanOrEqual(read + 1);
    streams.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
