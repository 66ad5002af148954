import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in front of an HTTP server. It passes every request on, unless a test holds or answers it. */
export interface HoldingProxy {
  /** Its address, with the path and query of the server's address. */
  readonly url: string;
  /** Holds requests whose address contains this text, until the returned function is called. */
  hold(text: string): () => void;
  /** Answers such requests itself after the first `butFirst`, until the returned function is called. */
  answer(text: string, answer: ProxyAnswer, butFirst?: number): () => void;
  /** Body sizes of the passed requests whose address contains this text, in bytes. */
  passed(text: string): readonly number[];
  close(): Promise<void>;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function startHoldingProxy(target: string): Promise<HoldingProxy> {
  let held: { readonly text: string; readonly open: Promise<void> } | null = null;
  const passed: { readonly url: string; bytes: number }[] = [];
  let answering: { readonly text: string; readonly answer: ProxyAnswer; butFirst: number } | null = null;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, headers, url = '/' } = incoming;
    if (answering !== null && url.includes(answering.text) && answering.butFirst-- <= 0) {
      incoming.resume();
      const { status, headers: head, body } = answering.answer;
      return void outgoing.writeHead(status, head).end(body);
    }
    if (held !== null && url.includes(held.text)) await held.open;
    // The client has left, and its body with it.
    if (incoming.destroyed) return;
    const about = { url, bytes: 0 };
    passed.push(about);
    incoming.on('data', (piece: Buffer) => (about.bytes += piece.length));
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
      held = { text, open: promise };
      return () => {
        held = null;
        resolve();
      };
    },
    answer(text, answer, butFirst = 0) {
      answering = { text, answer, butFirst };
      return () => {
        answering = null;
      };
    },
    passed: (text) => passed.filter(({ url: to }) => to.includes(text)).map(({ bytes }) => bytes),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
