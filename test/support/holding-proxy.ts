import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Proxy in front of an HTTP server. It forwards every request that a test does not hold or answer. */
export interface HoldingProxy {
  /** Address of the proxy, with the path and query of the server's address. */
  readonly url: string;
  /** Delays requests whose URL contains this text, until the returned function is called. */
  hold(text: string): () => void;
  /** Answers requests whose URL contains this text, except the first `skip`, until the returned function is called. */
  answer(text: string, answer: ProxyAnswer, skip?: number): () => void;
  /** Body sizes of the forwarded requests whose URL contains this text, in bytes. */
  passed(text: string): readonly number[];
  close(): Promise<void>;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function startHoldingProxy(target: string): Promise<HoldingProxy> {
  let block: { readonly text: string; readonly open: Promise<void> } | null = null;
  const passed: { readonly url: string; bytes: number }[] = [];
  let answering: { readonly text: string; readonly answer: ProxyAnswer; skip: number } | null = null;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, headers, url = '/' } = incoming;
    const matches = answering !== null && url.includes(answering.text);
    if (answering !== null && matches && answering.skip > 0) answering.skip -= 1;
    else if (answering !== null && matches) {
      incoming.resume();
      const { status, headers: head, body } = answering.answer;
      return void outgoing.writeHead(status, head).end(body);
    }
    if (block !== null && url.includes(block.text)) await block.open;
    // The body of a client that has disconnected is incomplete.
    if (incoming.destroyed) return;
    const forwarded = { url, bytes: 0 };
    passed.push(forwarded);
    incoming.on('data', (piece: Buffer) => {
      forwarded.bytes += piece.length;
    });
    const onward = request(new URL(url, target), { method, headers });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    hold(text) {
      const { promise, resolve } = Promise.withResolvers<void>();
      block = { text, open: promise };
      return () => {
        block = null;
        resolve();
      };
    },
    answer(text, answer, skip = 0) {
      answering = { text, answer, skip };
      return () => {
        answering = null;
      };
    },
    passed: (text) => passed.filter((forwarded) => forwarded.url.includes(text)).map(({ bytes }) => bytes),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
