import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamClient } from '../../src/runtime/http-client/client.ts';
import { type BareUpstream, faultOf, OK, post, read, startBareUpstream } from '../support/bare-upstream.ts';
import type { OpenClient } from './http-client-suite.ts';

const head = (lines: string, body = ''): string => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\n${body}`;
const CHUNKED = 'transfer-encoding: chunked';

/** Bytes of an upstream, whether it then closes the connection, and the expected outcome of the call. */
const ANSWERS: readonly (readonly [text: string, closes: boolean, outcome: string])[] = [
  [OK, false, '200 ok'],
  [head('content-length: 0'), false, '200 '],
  ['HTTP/1.1 204 No Content\r\n\r\n', false, '204 '],
  ['HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\nno', false, '503 no'],
  [`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}`, false, '200 ok'],
  [`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(16)}${OK}`, false, '200 ok'],
  [head(CHUNKED, '2\r\nok\r\n0\r\n\r\n'), false, '200 ok'],
  [head(CHUNKED, '1;x=y\r\no\r\n1\r\nk\r\n0\r\ntrailer: x\r\n\r\n'), false, '200 ok'],
  [head('x: y', 'ok'), true, '200 ok'],
  ['HTTP/1.0 200 OK\r\n\r\nok', true, '200 ok'],
  ['HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', false, '200 ok'],
  // Truncated responses.
  ['', true, 'cut'],
  ['HTTP/1.1 200', true, 'cut'],
  ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n', true, 'cut'],
  [head('content-length: 5', 'hell'), true, 'cut'],
  [head(CHUNKED), true, 'cut'],
  [head(CHUNKED, '5\r\nhell'), true, 'cut'],
  [head(CHUNKED, '5\r\nhello\r\n'), true, 'cut'],
  [head(`connection: close\r\n${CHUNKED}`, '5\r\nhell'), true, 'cut'],
  [head('connection: close\r\ncontent-length: 5', 'hell'), true, 'cut'],
  [head(CHUNKED, '5\r\nhello\r\n0\r\n'), true, 'cut'],
  // Not HTTP, ambiguous to parsers, or above a limit: 16 interim answers and a head of 16 KiB.
  ['SSH-2.0-OpenSSH_9.9\r\n', false, 'garbled'],
  ['HTTP/2 200 OK\r\n\r\n', false, 'garbled'],
  ['HTTP/1.1 20 OK\r\n\r\n', false, 'garbled'],
  ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', false, 'garbled'],
  [`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(17)}${OK}`, false, 'garbled'],
  [head('a : b\r\ncontent-length: 2', 'ok'), false, 'garbled'],
  [head('a: b\r\n folded\r\ncontent-length: 2', 'ok'), false, 'garbled'],
  [head('a: \0\r\ncontent-length: 2', 'ok'), false, 'garbled'],
  [head('a: b\nc: d\r\ncontent-length: 2', 'ok'), false, 'garbled'],
  [head('content-length: 2\r\ncontent-length: 2', 'ok'), false, 'garbled'],
  [head('content-length: 2\r\ncontent-length: 3', 'ok'), false, 'garbled'],
  [head('content-length: +2', 'ok'), false, 'garbled'],
  [head(`content-length: 2\r\n${CHUNKED}`, '0\r\n\r\n'), false, 'garbled'],
  [head(`${CHUNKED}\r\ncontent-length: 2`, '0\r\n\r\n'), false, 'garbled'],
  [head('transfer-encoding: gzip, chunked', '0\r\n\r\n'), false, 'garbled'],
  [head('transfer-encoding: identity', 'ok'), false, 'garbled'],
  [head(CHUNKED, '-5\r\nhello\r\n'), false, 'garbled'],
  [head(CHUNKED, '0x5\r\nhello\r\n'), false, 'garbled'],
  [head(CHUNKED, '5\r\nhelloo\r\n'), false, 'garbled'],
  [head(CHUNKED, '5\nhello\r\n0\r\n\r\n'), false, 'garbled'],
  [head(`a: ${'b'.repeat(20_000)}`), false, 'garbled'],
];

async function outcomeOf(http: UpstreamClient, origin: string): Promise<string> {
  const call = post(http, origin).then(async (answer) => `${answer.status} ${await read(answer)}`);
  const fault = await faultOf(call);
  return fault === 'none' ? await call : fault;
}

/** Contract of every adapter about hostile upstreams: the same outcome, without an effect on the next call. */
export function httpHostileSuite(name: string, open: OpenClient): void {
  describe(`${name}: a hostile upstream`, () => {
    let http: UpstreamClient;
    let upstream: BareUpstream | null = null;

    beforeAll(async () => {
      http = await open({ connections: 1, silenceLimitMs: 5_000 });
    });
    afterEach(() => upstream?.stop());
    afterAll(() => http.close());

    it.each(ANSWERS)(
      'that sends %j (closes: %j) gives %j, in one write and byte by byte',
      async (text, closes, outcome) => {
        for (const pieces of [[text], [...Buffer.from(text, 'latin1')].map((byte) => String.fromCharCode(byte))]) {
          // A longer text is sent in one write only.
          if (pieces.length > 1_000) continue;
          let calls = 0;
          upstream = await startBareUpstream(async (socket) => {
            calls += 1;
            if (calls > 1) return void socket.write(OK);
            socket.setNoDelay(true);
            for (const piece of pieces) {
              socket.write(piece, 'latin1');
              if (pieces.length > 1) await new Promise(setImmediate);
            }
            if (closes) socket.end();
          });
          const { origin } = upstream;
          const [first, second] = await Promise.all([outcomeOf(http, origin), outcomeOf(http, origin)]);
          expect([first, second]).toEqual([outcome, '200 ok']);
          upstream.stop();
        }
      },
    );

    it.each([OK.replace('ok', 'no'), 'junk', '\r\n\r\n'])(
      'that sends %j after an answer does not affect the next call',
      async (junk) => {
        upstream = await startBareUpstream((socket, connection) => socket.write(connection === 0 ? OK + junk : OK));
        const { origin } = upstream;
        const calls = await Promise.all([outcomeOf(http, origin), outcomeOf(http, origin)]);
        expect(calls).toEqual(['200 ok', '200 ok']);
      },
    );

    it('that resets the connection fails the call, before the head and after it', async () => {
      upstream = await startBareUpstream((socket, connection) => {
        if (connection === 0) socket.resetAndDestroy();
        else socket.write(head('content-length: 5', 'hell'), () => setImmediate(() => socket.resetAndDestroy()));
      });
      expect(await faultOf(post(http, upstream.origin))).toBe('cut');
      const { body } = await post(http, upstream.origin);
      expect(await faultOf(read({ status: 200, headers: {}, body }))).toBe('cut');
    });

    it('without a listener is unreachable', async () => {
      upstream = await startBareUpstream(() => {});
      const { origin } = upstream;
      upstream.stop();
      await expect.poll(() => faultOf(post(http, origin))).toBe('unreachable');
    });
  });
}
