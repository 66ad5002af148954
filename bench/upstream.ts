// A fake OpenAI-compatible upstream on bare sockets, several times faster than node:http, so that it is not the
// bottleneck. Answers JSON, or 50 SSE chunks for a stream. Chunks are sent as fast as possible; for the user `paced`,
// one every 10 ms with its time of sending.
//   node bench/upstream.ts PORT
// GET /calls returns the number of completions.
import { createServer, type Socket } from 'node:net';

const PORT = Number(process.argv[2]);
const CHUNKS = 50;
const HEAD = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench-model' };
const usage = { prompt_tokens: 42, completion_tokens: 150, total_tokens: 192 };

const answer = Buffer.from(
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'alpha beta '.repeat(75).trim() }, finish_reason: 'stop' },
    ],
    usage,
  }),
);
const ANSWER = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n`),
  answer,
]);
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';

const frame = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const event = (value: unknown): string => frame(`data: ${JSON.stringify(value)}\n\n`);
const chunk = (delta: object, finish: string | null): string =>
  event({ ...HEAD, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

const FIRST = chunk({ role: 'assistant', content: '' }, null);
const MIDDLE = chunk({ content: ' token' }, null);
const LAST = chunk({}, 'stop');
const USAGE = event({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage });
const DONE = `${frame('data: [DONE]\n\n')}0\r\n\r\n`;

const PACE_MS = 10;
let calls = 0;

function paced(socket: Socket): void {
  socket.write(STREAM_HEAD);
  let sent = 0;
  const next = (): void => {
    if (socket.destroyed) return;
    const stamp = `T${process.hrtime.bigint()}T`;
    socket.write(chunk({ content: stamp }, sent === CHUNKS - 1 ? 'stop' : null));
    sent += 1;
    if (sent < CHUNKS) setTimeout(next, PACE_MS);
    else socket.write(DONE);
  };
  next();
}

function stream(socket: Socket, withUsage: boolean): void {
  socket.write(STREAM_HEAD);
  let sent = 0;
  // One chunk per turn of the event loop, so that the proxy under test receives separate chunks.
  const next = (): void => {
    if (socket.destroyed) return;
    if (sent === CHUNKS) {
      socket.write((withUsage ? USAGE : '') + DONE);
      return;
    }
    socket.write(sent === 0 ? FIRST : sent === CHUNKS - 1 ? LAST : MIDDLE);
    sent += 1;
    setImmediate(next);
  };
  next();
}

/** The first complete request of a buffer and its end; null while it is incomplete. */
function readRequest(buffer: Buffer): { readonly head: string; readonly body: Buffer; readonly end: number } | null {
  const headEnd = buffer.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = buffer.toString('latin1', 0, headEnd).toLowerCase();
  const bodyStart = headEnd + 4;
  if (head.includes('\r\ntransfer-encoding: chunked')) {
    const last = buffer.indexOf('0\r\n\r\n', bodyStart);
    // The last chunk, which has length 0, is `0\r\n\r\n`: five bytes.
    return last < 0 ? null : { head, body: buffer.subarray(bodyStart, last), end: last + 5 };
  }
  const end = bodyStart + Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0);
  return buffer.length < end ? null : { head, body: buffer.subarray(bodyStart, end), end };
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => {
    waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
    for (let request = readRequest(waiting); request !== null; request = readRequest(waiting)) {
      waiting = waiting.subarray(request.end);
      if (request.head.startsWith('get ')) {
        const body = String(calls);
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        continue;
      }
      calls += 1;
      if (request.body.includes('"user":"paced"')) paced(socket);
      else if (request.body.includes('"stream":true')) stream(socket, request.body.includes('"include_usage":true'));
      else socket.write(ANSWER);
    }
  });
});
server.listen(PORT, '127.0.0.1', 4096);
process.once('SIGTERM', () => process.exit(0));
