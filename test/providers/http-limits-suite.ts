import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { ReaderStalled, type UpstreamAnswer } from '../../src/domain/http.ts';
import type { HttpClientOptions, UpstreamClient } from '../../src/runtime/http-client/client.ts';
import { type BareUpstream, faultOf, OK, post, read, startBareUpstream } from '../support/bare-upstream.ts';
import type { OpenClient } from './http-client-suite.ts';

/** A head without a length, and the first part of a body. */
const ENDLESS = 'HTTP/1.1 200 OK\r\nx: y\r\n\r\nbegin';

/** Contract of every adapter of the HTTP client port about deadlines, connection shares and stalled readers. */
export function httpLimitsSuite(name: string, open: OpenClient): void {
  describe(`${name}: limits`, () => {
    let http: UpstreamClient | null = null;
    let upstream: BareUpstream | null = null;

    afterEach(async () => {
      upstream?.stop();
      await http?.close();
    });

    async function start(options: HttpClientOptions, answer: Parameters<typeof startBareUpstream>[0]) {
      upstream = await startBareUpstream(answer);
      http = await open(options);
      return { http, origin: upstream.origin, upstream };
    }

    /** Starts calls that receive the response head and keep their connection open. */
    async function hold(
      client: UpstreamClient,
      origin: string,
      calls: number,
      owner: string,
    ): Promise<UpstreamAnswer[]> {
      return await Promise.all(Array.from({ length: calls }, () => post(client, `${origin}/hold`, { owner })));
    }

    const neverEnding: Parameters<typeof startBareUpstream>[0] = (socket) => socket.write(ENDLESS);

    it('waiting for a connection counts towards the deadline of the head', async () => {
      const setup = await start({ connections: 1 }, neverEnding);
      const [openCall] = await hold(setup.http, setup.origin, 1, 'a');
      const waiting = post(setup.http, setup.origin, { owner: 'b', headersTimeoutMs: 50 });
      expect(setup.http.connections()).toEqual({ active: 1, idle: 0, waiting: 1, limit: 1 });
      await expect(waiting).rejects.toMatchObject({
        fault: 'timeout',
        message: 'The upstream did not answer in time (QUEUE_TIMEOUT).',
      });
      expect(setup.http.connections()).toMatchObject({ active: 1, waiting: 0 });
      openCall?.body.cancel();
    });

    it('an upstream that accepts and sends nothing times out', async () => {
      const setup = await start({}, () => {});
      const silent = post(setup.http, setup.origin, { headersTimeoutMs: 50 });
      await expect(silent).rejects.toMatchObject({
        fault: 'timeout',
        message: 'The upstream did not answer in time (HEAD_TIMEOUT).',
      });
      await expect.poll(() => setup.http.connections()).toMatchObject({ active: 0, idle: 0 });
    });

    it('a body that stops times out', async () => {
      const setup = await start({ silenceLimitMs: 50 }, neverEnding);
      const [openCall] = await hold(setup.http, setup.origin, 1, 'a');
      expect(await faultOf(read(openCall as UpstreamAnswer))).toBe('timeout');
    });

    it('a call aborted in the queue rejects immediately and is never sent', async () => {
      const setup = await start({ connections: 1 }, (socket, connection) =>
        socket.write(connection === 0 ? ENDLESS : OK),
      );
      const [openCall] = await hold(setup.http, setup.origin, 1, 'a');
      const leaving = new AbortController();
      const waiting = post(setup.http, `${setup.origin}/aborted`, { owner: 'b', signal: leaving.signal });
      const reason = new Error('left');
      leaving.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      expect(setup.http.connections().waiting).toBe(0);
      openCall?.body.cancel();
      expect(await read(await post(setup.http, setup.origin))).toBe('ok');
      expect(setup.upstream.received.join('')).not.toContain('/aborted');
    });

    it('one owner leaves connections for others, also with more calls than its share', async () => {
      const setup = await start({ connections: 8 }, (socket, connection) => {
        // The latest request on this connection, from its path on.
        const [path] = (setup.upstream.received[connection] ?? '').split('POST ').slice(-1);
        socket.write(path?.startsWith('/hold') === true ? ENDLESS : OK);
      });
      const many = Array.from({ length: 20 }, () => post(setup.http, `${setup.origin}/hold`, { owner: 'a' }));
      const openCalls = await Promise.all(many.slice(0, 6));
      // By default, an owner may use three quarters of the connections that other owners do not use.
      expect(setup.http.connections()).toEqual({ active: 6, idle: 0, waiting: 14, limit: 8 });
      expect(await read(await post(setup.http, setup.origin, { owner: 'b', headersTimeoutMs: 2_000 }))).toBe('ok');
      for (const { body } of openCalls) body.cancel();
      for (const call of many.slice(6)) (await call).body.cancel();
    });

    it('a freed connection goes to the owner that holds the fewest', async () => {
      const order: string[] = [];
      const setup = await start({ connections: 3, ownerFraction: 1 }, neverEnding);
      const [first, second, third] = await hold(setup.http, setup.origin, 3, 'a');
      const calls = ['a', 'a', 'b', 'a', 'c'].map(async (owner) => {
        const answer = await post(setup.http, setup.origin, { owner });
        order.push(owner);
        return answer;
      });
      first?.body.cancel();
      await expect.poll(() => order).toEqual(['b']);
      second?.body.cancel();
      await expect.poll(() => order).toEqual(['b', 'c']);
      third?.body.cancel();
      (await calls[2])?.body.cancel();
      (await calls[4])?.body.cancel();
      await expect.poll(() => order).toEqual(['b', 'c', 'a', 'a', 'a']);
      for (const call of calls) (await call).body.cancel();
    });

    it('a reader that stays paused fails, and its connection is closed', async () => {
      const setup = await start({ stallLimitMs: 100, silenceLimitMs: 60_000 }, neverEnding);
      const [openCall] = await hold(setup.http, setup.origin, 1, 'a');
      const failure = await new Promise<Error | null>((resolve) => {
        openCall?.body.pipe({ chunk: () => false, done: () => resolve(null), fail: resolve });
      });
      expect(failure).toBeInstanceOf(ReaderStalled);
      await expect.poll(() => setup.upstream.sockets[0]?.destroyed).toBe(true);
      expect(setup.http.connections()).toMatchObject({ active: 0, waiting: 0 });
    });

    it('the connection of an answer without a reader is closed', async () => {
      const setup = await start({ stallLimitMs: 100, silenceLimitMs: 60_000 }, (socket) => {
        socket.write(ENDLESS);
        // Without a reader, the client pauses the upstream when more than 64 KiB are buffered.
        socket.write(Buffer.alloc(4 * 1024 * 1024));
      });
      await hold(setup.http, setup.origin, 1, 'a');
      await expect.poll(() => setup.upstream.sockets[0]?.destroyed).toBe(true);
    });

    it('a paused reader pauses its upstream, and a resumed one gets every byte', async () => {
      const body = Buffer.alloc(8 * 1024 * 1024, 'abcdefghij');
      const setup = await start({}, (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
        socket.write(body);
      });
      const answer = await post(setup.http, setup.origin);
      const received = createHash('sha256');
      const ended = new Promise<void>((resolve, reject) => {
        answer.body.pipe({
          chunk(bytes) {
            received.update(bytes);
            setImmediate(() => answer.body.resume());
            return false;
          },
          done: resolve,
          fail: reject,
        });
        expect(setup.upstream.sockets[0]?.writableLength).toBeGreaterThan(0);
      });
      await ended;
      expect(received.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
    });

    it('a reader that throws fails its own call only', async () => {
      const setup = await start({ connections: 1 }, (socket, connection) =>
        socket.write(connection === 0 ? ENDLESS : OK),
      );
      const [openCall] = await hold(setup.http, setup.origin, 1, 'a');
      const failure = await new Promise<Error | null>((resolve) => {
        openCall?.body.pipe({
          chunk() {
            throw new Error('broken reader');
          },
          done: () => resolve(null),
          fail: resolve,
        });
      });
      expect(failure?.message).toBe('broken reader');
      expect(await read(await post(setup.http, setup.origin))).toBe('ok');
    });

    it('a body in pieces is sent with its length', async () => {
      const setup = await start({}, (socket) => socket.write(OK));
      const options = { signal: new AbortController().signal, headersTimeoutMs: 5_000 };
      const pieces = [Buffer.from('{'), Buffer.from('}')];
      expect(await read(await setup.http.send('POST', `${setup.origin}/p`, { a: 'b' }, pieces, options))).toBe('ok');
      const host = new URL(setup.origin).host;
      expect(setup.upstream.received[0]).toBe(
        `POST /p HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\na: b\r\ncontent-length: 2\r\n\r\n{}`,
      );
    });

    it('close lets active and queued calls end', async () => {
      const setup = await start({ connections: 1 }, (socket) => setImmediate(() => socket.write(OK)));
      const calls = [1, 2, 3].map((owner) => post(setup.http, setup.origin, { owner: `${owner}` }).then(read));
      const closing = setup.http.close();
      expect(await Promise.all(calls)).toEqual(['ok', 'ok', 'ok']);
      await closing;
      expect(setup.http.connections()).toEqual({ active: 0, idle: 0, waiting: 0, limit: 1 });
      await expect.poll(() => setup.upstream.sockets.every(({ destroyed }) => destroyed)).toBe(true);
    });
  });
}
