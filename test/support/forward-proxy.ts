import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Forward proxy on loopback. It connects to 127.0.0.1 for every host. */
export interface ForwardProxy {
  readonly port: number;
  /** Received request lines: `CONNECT host:port` and `POST http://host:port/path`. */
  readonly requestLines: readonly string[];
  /** `proxy-authorization` header of each request. */
  readonly authorizations: readonly (string | undefined)[];
  /** Rejects all later requests with this status. */
  refuse(status: number): void;
  stop(): Promise<void>;
}

export async function startForwardProxy(): Promise<ForwardProxy> {
  const requestLines: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  let refusal: number | null = null;

  const server = createServer((from, to) => {
    requestLines.push(`${from.method} ${from.url}`);
    authorizations.push(from.headers['proxy-authorization']);
    if (refusal !== null) return void to.writeHead(refusal).end('refused');
    const { port, pathname, search } = new URL(from.url ?? '');
    const { 'proxy-authorization': _ours, 'proxy-connection': _hop, ...headers } = from.headers;
    const onward = request(
      { host: '127.0.0.1', port, path: pathname + search, method: from.method ?? 'GET', headers },
      (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(to);
      },
    );
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (from, socket: Socket, head: Buffer) => {
    requestLines.push(`CONNECT ${from.url}`);
    authorizations.push(from.headers['proxy-authorization']);
    if (refusal !== null) return void socket.end(`HTTP/1.1 ${refusal} Refused\r\ncontent-length: 0\r\n\r\n`);
    const onward = connect(Number(from.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy()).on('close', () => sockets.delete(onward));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requestLines,
    authorizations,
    refuse(status) {
      refusal = status;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
