// Lower bound for a Node process that sends events to a thousand readers: encodes an event once and writes the bytes to
// each socket. It does not check keys.
//   node bench/bare-feed.ts PORT
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

const [port = ''] = process.argv.slice(2);
const readers = new Set<Socket>();

/**
 * An event with an update of the same length as in the product, as one chunk of a chunked response. `name` contains the
 * time of sending, which the reader parses.
 */
function frameOf(name: string): Buffer {
  const trace = {
    traceId: '0'.repeat(32),
    name,
    service: 'fanout',
    startedAt: new Date().toISOString(),
    durationMs: 1,
    status: 'OK',
    spanCount: 1,
    inputTokens: 0,
    outputTokens: 0,
    models: ['gpt-4o'],
  };
  const data = { data: { traceUpdates: { cursor: 'AbCdEfGh.1', droppedUpdates: 0, trace } } };
  const event = `event: next\ndata: ${JSON.stringify(data)}\n\n`;
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
}

const server = createServer((request, response) => {
  if (request.url === '/graphql/stream') {
    const { socket } = request;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.write(':\n\n');
    readers.add(socket);
    socket.on('close', () => readers.delete(socket));
  } else if (request.url === '/v1/traces') {
    void text(request).then((body) => {
      // The span of the export is named `@milliseconds@`.
      const frame = frameOf(/@[\d.]+@/.exec(body)?.[0] ?? '');
      for (const socket of readers) socket.write(frame);
      response.end('{}');
    });
  } else response.end('{"key":"sk-bare"}'); // The answer of /key/generate, and of the readiness check.
});
server.listen({ port: Number(port), host: '127.0.0.1' });
