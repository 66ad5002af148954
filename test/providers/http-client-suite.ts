import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { UpstreamAnswer } from '../../src/domain/http.ts';
import type { HttpClientOptions, UpstreamClient } from '../../src/runtime/http-client/client.ts';
import { type BareUpstream, faultOf, NEVER, OK, post, read, startBareUpstream } from '../support/bare-upstream.ts';
import { selfSigned } from '../support/certificate.ts';

const BODY = Buffer.from('{}');

/** Opens a client. The suite closes it. */
export type OpenClient = (options?: HttpClientOptions) => Promise<UpstreamClient>;

/** Contract of every adapter of the HTTP client port. */
export function httpClientSuite(name: string, open: OpenClient): void {
  const clients: UpstreamClient[] = [];
  const servers: Server[] = [];
  const upstreams: BareUpstream[] = [];

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    for (const server of servers.splice(0)) server.close();
    for (const upstream of upstreams.splice(0)) upstream.stop();
  });

  async function startUpstream(answer: Parameters<typeof startBareUpstream>[0]): Promise<BareUpstream> {
    const started = await startBareUpstream(answer);
    upstreams.push(started);
    return started;
  }

  async function openClient(options: HttpClientOptions = {}): Promise<UpstreamClient> {
    const opened = await open(options);
    clients.push(opened);
    return opened;
  }

  describe(`${name}: calls`, () => {
    describe('a connection', () => {
      it('sends a request unchanged, and is reused', async () => {
        const { origin, received, sockets } = await startUpstream((socket) => socket.write(OK));
        const http = await openClient();
        expect(await read(await post(http, `${origin}/v1/chat?x=1`))).toBe('ok');
        expect(received[0]).toBe(
          `POST /v1/chat?x=1 HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nconnection: keep-alive\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
        );
        expect(await read(await post(http, `${origin}/v1/chat`))).toBe('ok');
        expect(sockets.length).toBe(1);
      });

      it('is not used again after an answer with `connection: close`', async () => {
        const { origin, sockets } = await startUpstream((socket) =>
          socket.write(OK.replace('\r\n', '\r\nconnection: close\r\n')),
        );
        const http = await openClient();
        await read(await post(http, origin));
        await read(await post(http, origin));
        expect(sockets.length).toBe(2);
      });

      it('is closed when bytes follow an answer, and no call gets these bytes', async () => {
        const { origin, sockets } = await startUpstream((socket, connection) =>
          socket.write(connection === 0 ? `${OK}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison` : OK),
        );
        const http = await openClient({ connections: 1 });
        const calls = await Promise.all([post(http, origin).then(read), post(http, origin).then(read)]);
        expect(calls).toEqual(['ok', 'ok']);
        expect(sockets.length).toBe(2);
      });

      it('is closed when bytes arrive before a request', async () => {
        const { origin, sockets } = await startUpstream((socket) => socket.write(OK));
        const http = await openClient();
        await read(await post(http, origin));
        sockets[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison');
        await once(sockets[0] as Socket, 'close');
        expect(await read(await post(http, origin))).toBe('ok');
        expect(sockets.length).toBe(2);
      });

      it('is closed when an answer arrives before its whole request is sent', async () => {
        const server = createServer({ pauseOnConnect: true }, (socket) => {
          socket.on('error', () => socket.destroy());
          socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
        });
        servers.push(server.listen(0, '127.0.0.1'));
        await once(server, 'listening');
        const http = await openClient();
        const connected = once(server, 'connection');
        const { port } = server.address() as AddressInfo;
        const answer = await post(http, `http://127.0.0.1:${port}`, {}, Buffer.alloc(64 * 1024 * 1024));
        expect([answer.status, await read(answer)]).toEqual([413, 'no']);
        const [socket] = (await connected) as [Socket];
        socket.resume();
        await once(socket, 'close');
      });

      it('is free for the next call when an answer is complete, also while it is unread', async () => {
        const { origin, sockets } = await startUpstream((socket, _connection, call) => {
          if (call === 0) socket.write(OK);
        });
        const http = await openClient({ connections: 1 });
        const leaving = new AbortController();
        const first = await post(http, origin, { signal: leaving.signal });
        const second = post(http, origin);
        // Both requests have arrived on one connection.
        await expect.poll(() => sockets[0]?.bytesRead).toBeGreaterThan(200);
        first.body.cancel();
        leaving.abort();
        sockets[0]?.write(OK);
        expect(await read(await second)).toBe('ok');
      });
    });

    describe('a reader that cancels inside a chunk', () => {
      /** Cancels the body when a chunk contains `word`. */
      function cancelAt(word: string, { body }: UpstreamAnswer): Promise<void> {
        return new Promise((resolve, reject) => {
          body.pipe({
            chunk(bytes) {
              if (!Buffer.from(bytes).includes(word)) return true;
              body.cancel();
              resolve();
              return true;
            },
            done: () => reject(new Error('The cancelled stream ended.')),
            fail: reject,
          });
        });
      }

      it('does not put its connection back into the pool when the same read also ends the answer', async () => {
        const { origin, sockets } = await startUpstream((socket, connection) => {
          if (connection > 0) return void socket.write(OK);
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n');
          socket.once('data', () => socket.write('5\r\nerror\r\n0\r\n\r\n'));
        });
        const http = await openClient();
        const cancelled = cancelAt('error', await post(http, origin));
        // Makes the upstream write the rest of the answer at once, without a request of the client.
        sockets[0]?.emit('data', Buffer.from('on'));
        await cancelled;
        const later = await Promise.all(Array.from({ length: 6 }, () => post(http, origin).then(read)));
        expect(later).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok']);
        // Only the first request arrived on the first connection.
        expect(sockets[0]?.bytesRead).toBeLessThan(200);
      });

      it('does not put its connection back when it aborts its own signal', async () => {
        const { origin, sockets } = await startUpstream((socket, connection) => {
          // On the first connection, the head without its body `ok`.
          socket.write(connection > 0 ? OK : OK.slice(0, -2));
        });
        const http = await openClient({ connections: 1 });
        const leaving = new AbortController();
        const { body } = await post(http, origin, { signal: leaving.signal });
        const failed = new Promise<Error>((resolve) => {
          body.pipe({
            chunk() {
              leaving.abort(new Error('left'));
              return true;
            },
            done() {},
            fail: resolve,
          });
        });
        sockets[0]?.write('ok');
        expect((await failed).message).toBe('left');
        expect(await read(await post(http, origin))).toBe('ok');
      });
    });

    describe('calls beyond the limit of connections', () => {
      it('wait in order, and are not sent after an abort', async () => {
        const { origin, received, sockets } = await startUpstream(() => {});
        const http = await openClient({ connections: 1 });
        const leaving = new AbortController();
        const first = post(http, `${origin}/1`);
        const second = post(http, `${origin}/2`, { signal: leaving.signal });
        const third = post(http, `${origin}/3`);
        await expect.poll(() => received[0]).toContain('{}');
        const reason = new Error('left');
        leaving.abort(reason);
        await expect(second).rejects.toBe(reason);
        sockets[0]?.write(OK);
        await first.then(read);
        await expect.poll(() => received[0]).toContain('POST /3 ');
        sockets[0]?.write(OK);
        expect(await read(await third)).toBe('ok');
        expect(received[0]).not.toContain('/2');
      });

      it('are sent on a new connection when the first connection is lost', async () => {
        const { origin } = await startUpstream((socket, connection) => {
          if (connection === 0) socket.destroy();
          else socket.write(OK);
        });
        const http = await openClient({ connections: 1 });
        const [first, second] = [post(http, origin), post(http, origin)];
        expect(await faultOf(first)).toBe('cut');
        expect(await read(await second)).toBe('ok');
      });
    });

    describe('a reader that pauses', () => {
      it('does not count as silence of the upstream', async () => {
        const { origin } = await startUpstream((socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab');
          socket.once('data', () => {});
        });
        const http = await openClient({ silenceLimitMs: 300 });
        const { body } = await post(http, origin);
        const paused = Promise.withResolvers<void>();
        const ended = Promise.withResolvers<Error | null>();
        body.pipe({
          chunk() {
            paused.resolve();
            return false;
          },
          done: () => ended.resolve(null),
          fail: (error) => ended.resolve(error),
        });
        await paused.promise;
        let isPending = true;
        void ended.promise.then(() => {
          isPending = false;
        });
        // Four times the limit.
        await new Promise((resolve) => {
          setTimeout(resolve, 1_200);
        });
        expect(isPending).toBe(true);
        body.resume();
        expect(await ended.promise).toMatchObject({ fault: 'timeout' });
      });
    });

    describe('a request that cannot be sent', () => {
      it.each(['ftp://127.0.0.1/x', '127.0.0.1', '/v1', ''])('to %j is refused', async (address) => {
        expect(await faultOf(post(await openClient(), address))).toBe('misused');
      });

      it.each([
        { 'x-a': 'b\r\nc: d' },
        { 'x-a': 'b\0' },
        { 'x-a': 'Zoë 😀' },
        { 'x a': 'b' },
        { '': 'b' },
        { 'Content-Length': '1' },
        { 'transfer-encoding': 'chunked' },
      ])('with the header %j is refused', async (headers) => {
        const options = { signal: NEVER, headersTimeoutMs: 1_000 };
        expect(await faultOf((await openClient()).post('http://127.0.0.1:9/', headers, BODY, options))).toBe('misused');
      });

      it('after the client is closed, is refused', async () => {
        const { origin } = await startUpstream((socket) => setImmediate(() => socket.write(OK)));
        const http = await openClient();
        const openCall = post(http, origin).then(read);
        const closing = http.close();
        expect(await faultOf(post(http, origin))).toBe('misused');
        expect(await openCall).toBe('ok');
        await closing;
      });
    });

    describe('an upstream behind TLS', () => {
      it('is called only with a valid certificate for its name', async () => {
        const { key, cert } = selfSigned();
        const server = createSecureServer({ key, cert }, (socket) => {
          socket.on('error', () => socket.destroy());
          socket.on('data', () => socket.write(OK));
        });
        server.on('tlsClientError', () => {});
        servers.push(server.listen(0, '127.0.0.1'));
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        expect(await faultOf(post(await openClient(), `https://localhost:${port}/`))).toBe('unreachable');
        const trusted = getCACertificates();
        setDefaultCACertificates([...trusted, cert]);
        try {
          const http = await openClient();
          const calls = [
            await post(http, `https://localhost:${port}/`),
            await post(http, `https://localhost:${port}/`),
          ];
          expect(await Promise.all(calls.map(read))).toEqual(['ok', 'ok']);
          expect(await faultOf(post(await openClient(), `https://127.0.0.1:${port}/`))).toBe('unreachable');
        } finally {
          setDefaultCACertificates(trusted);
        }
      });
    });
  });
}
