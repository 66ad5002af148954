import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Expected result: the answer of the model, or a failure in the format of the dialect. */
type Outcome = 'answer' | 'failure';

/** Response bytes of an upstream, and the expected results without and with streaming. Null: not tested this way. */
export interface Shape {
  readonly whole: Outcome | null;
  readonly stream: Outcome | null;
  readonly write: (socket: Socket, body: Buffer) => void;
}

/** Raw TCP server on loopback. The model of a request selects the shape of the response. */
export interface HostileUpstream {
  readonly url: string;
  stop(): Promise<void>;
}

const WHOLE = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const chunk = (delta: unknown, finish: string | null = null): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const EVENTS = [chunk({ role: 'assistant', content: 'hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')];

/** Server-sent events with this line end and this text before each event. */
const sse = (end = '\n', before = '', events: readonly string[] = EVENTS, done = `data: [DONE]${end}${end}`): string =>
  events.map((event) => `${before}data: ${event}${end}${end}`).join('') + done;

const head = (lines: string, status = '200 OK'): string => `HTTP/1.1 ${status}\r\n${lines}\r\n\r\n`;
const sized = (body: string | Buffer, lines = 'content-type: application/json', status?: string): Buffer =>
  Buffer.concat([
    Buffer.from(head(`${lines}\r\ncontent-length: ${Buffer.byteLength(body)}`, status), 'latin1'),
    Buffer.from(body),
  ]);
const json = (value: unknown): Buffer => sized(JSON.stringify(value));
const STREAM = 'content-type: text/event-stream';
const events = (body: string | Buffer): Buffer => sized(body, STREAM);
const inChunks = (pieces: readonly string[], lines: string, end = '0\r\n\r\n'): string =>
  `${head(`${lines}\r\ntransfer-encoding: chunked`)}${pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)};x="y"\r\n${piece}\r\n`).join('')}${end}`;
const CHUNKED = head(`content-type: application/json\r\ntransfer-encoding: chunked`);

/** Sends bytes and keeps the connection open. `closes` then ends the connection, and `resets` resets it. */
const says = (bytes: string | Buffer) => (socket: Socket) => void socket.write(Buffer.from(bytes as string, 'latin1'));
const closes = (bytes: string | Buffer) => (socket: Socket) => void socket.end(Buffer.from(bytes as string, 'latin1'));
const resets = (bytes: string | Buffer) => (socket: Socket) =>
  void socket.write(Buffer.from(bytes as string, 'latin1'), () => setImmediate(() => socket.resetAndDestroy()));
/** Sends one byte in each turn of the event loop. */
const drips =
  (bytes: Buffer) =>
  (socket: Socket): void => {
    let offset = 0;
    const step = (): void => {
      if (offset >= bytes.length || socket.destroyed) return;
      socket.write(bytes.subarray(offset, offset + 1));
      offset += 1;
      setImmediate(step);
    };
    step();
  };

/** Shape that is tested without streaming only. `stream` is tested with streaming only, `both` in both ways. */
const whole = (write: Shape['write'], outcome: Outcome): Shape => ({ whole: outcome, stream: null, write });
const stream = (write: Shape['write'], outcome: Outcome): Shape => ({ whole: null, stream: outcome, write });
const both = (write: Shape['write'], outcome: Outcome = 'failure'): Shape => ({
  whole: outcome,
  stream: outcome,
  write,
});

const TEXT = JSON.stringify(WHOLE);
const choice = (message: unknown, more: object = {}): Buffer =>
  json({ ...WHOLE, choices: [{ index: 0, message, finish_reason: 'stop' }], ...more });

export const SHAPES: Readonly<Record<string, Shape>> = {
  // Unusual and valid.
  'single bytes': whole(drips(json(WHOLE)), 'answer'),
  'events in single bytes': stream(drips(events(sse())), 'answer'),
  'chunks of a byte, with extensions': whole(
    says(inChunks(TEXT.split(''), 'content-type: application/json')),
    'answer',
  ),
  trailers: whole(says(inChunks([TEXT], 'content-type: application/json', '0\r\nx-a: b\r\n\r\n')), 'answer'),
  'early hints': whole(says(`${head('link: x', '103 Early Hints').repeat(3)}${json(WHOLE).toString()}`), 'answer'),
  'HTTP/1.0 without a length': whole(
    closes(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${TEXT}`),
    'answer',
  ),
  'no length, ended by the connection': whole(closes(`${head('content-type: application/json')}${TEXT}`), 'answer'),
  'no media type': whole(says(sized(TEXT, 'x: y')), 'answer'),
  'repeated members of JSON': whole(says(sized(TEXT.replace('{', '{"id":"x","choices":[],'))), 'answer'),
  'whitespace around JSON': whole(says(sized(` \r\n\t${TEXT}\n\n `)), 'answer'),
  'a member named __proto__ in JSON': whole(
    says(sized(TEXT.replace('{', '{"__proto__":{"x":1},"constructor":1,'))),
    'answer',
  ),
  'events with CRLF': stream(says(events(sse('\r\n'))), 'answer'),
  'events with CR': stream(says(events(sse('\r'))), 'answer'),
  'a byte order mark before events': stream(says(Buffer.concat([events(`\ufeff${sse()}`)])), 'answer'),
  'comments, ids and retries between events': stream(
    says(events(sse('\n', ': hi\n\nid: 1\nretry: 9\nevent: message\n'))),
    'answer',
  ),
  'events without a space after the colon': stream(says(events(sse().replaceAll('data: ', 'data:'))), 'answer'),
  'two answers on one connection': whole(says(Buffer.concat([json(WHOLE), json({ ...WHOLE, id: 'other' })])), 'answer'),
  'an answer and other bytes after it': whole(says(Buffer.concat([json(WHOLE), Buffer.from('noise')])), 'answer'),
  'a reset after the answer': whole(resets(json(WHOLE)), 'answer'),

  // Not HTTP, or incomplete HTTP.
  'a connection closed immediately': both((socket) => void socket.end()),
  'a connection reset immediately': both((socket) => void socket.resetAndDestroy()),
  'a reset within the head': both(resets('HTTP/1.1 200 OK\r\ncontent-ty')),
  'a reset within the body': both(resets(json(WHOLE).subarray(0, -5))),
  'a reset within a chunk': both(resets(`${CHUNKED}ff\r\n{"id"`)),
  'a close within a chunk': both(closes(`${CHUNKED}ff\r\n{"id"`)),
  'a close before the last chunk': both(closes(`${CHUNKED}2\r\n{}\r\n`)),
  'a length that is too long': both(closes(`${head('content-length: 999\r\ncontent-type: application/json')}${TEXT}`)),
  'a length that is too short': both(says(`${head('content-length: 9\r\ncontent-type: application/json')}${TEXT}`)),
  'two lengths': both(says(`${head(`content-length: 5\r\ncontent-length: ${TEXT.length}`)}${TEXT}`)),
  'a length and chunks': both(says(`${head(`content-length: 5\r\ntransfer-encoding: chunked`)}0\r\n\r\n`)),
  'a negative length': both(says(`${head('content-length: -1')}${TEXT}`)),
  'a length in hexadecimal': both(says(`${head('content-length: 0xff')}${TEXT}`)),
  'a length above 64 bits': both(says(`${head('content-length: 99999999999999999999')}${TEXT}`)),
  'a chunk size that is not a number': both(says(`${CHUNKED}zz\r\n{}\r\n0\r\n\r\n`)),
  'a chunk size above 64 bits': both(says(`${CHUNKED}ffffffffffffffffff\r\n{}`)),
  'a negative chunk size': both(says(`${CHUNKED}-1\r\n{}\r\n0\r\n\r\n`)),
  'a chunk without its end': both(says(`${CHUNKED}2\r\n{}0\r\n\r\n`)),
  'a chunk size of 100,000 digits': both(says(`${CHUNKED}${'0'.repeat(100_000)}2\r\n{}`)),
  'an unknown transfer encoding': both(says(`${head('transfer-encoding: gzip, chunked')}0\r\n\r\n`)),
  'a head of a megabyte': both(says(head(`x: ${'y'.repeat(1_000_000)}\r\ncontent-length: 0`))),
  'a hundred thousand headers': both(says(head(`${'a: b\r\n'.repeat(100_000)}content-length: 0`))),
  'a header without a name': both(says(`${head(': x\r\ncontent-length: 2')}{}`)),
  'a header with a NUL': both(says(`${head('x: a\0b\r\ncontent-length: 2')}{}`)),
  'a thousand interim answers': both(says(head('a: b', '100 Continue').repeat(1_000))),
  'a switch of protocols': both(says(head('upgrade: x\r\nconnection: upgrade', '101 Switching Protocols'))),
  SSH: both(says('SSH-2.0-OpenSSH_9.9\r\n')),
  'a TLS alert': both(says(Buffer.from([0x15, 3, 3, 0, 2, 2, 40]))),
  'HTTP/2': both(says(Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]))),
  'a status of two digits': both(says('HTTP/1.1 20 OK\r\n\r\n')),
  silence: both(() => {}),
  'silence after the head': both(says(head('content-length: 99\r\ncontent-type: application/json'))),
  'silence within events': stream(
    says(`${head(`${STREAM}\r\ncontent-length: 9999`)}data: ${EVENTS[0]}\n\n`),
    'failure',
  ),

  // Valid HTTP without an answer of the model.
  'an empty body': both(says(head('content-length: 0'))),
  'no content': both(says(head('x: y', '204 No Content'))),
  'not modified': both(says(head('x: y', '304 Not Modified'))),
  'an HTML page': both(says(sized('<html>busy</html>', 'content-type: text/html'))),
  'a redirect': both(says(head('location: http://127.0.0.1:1/\r\ncontent-length: 0', '307 Temporary Redirect'))),
  'a redirect to itself': both(
    says(head('location: /v1/chat/completions\r\ncontent-length: 0', '301 Moved Permanently')),
  ),
  'an error with status 200': both(says(json({ error: { message: 'no', type: 't', code: '429' } }))),
  'an error that is a string': both(says(json({ error: 'no' }))),
  'an unknown status': both(says(sized('{}', 'x: y', '599 What'))),
  'status 999': both(says(sized('{}', 'x: y', '999 What'))),
  'status 429 with an invalid retry-after': both(
    says(sized('{"error":{"message":"slow"}}', 'retry-after: soon', '429 Slow')),
  ),
  'gzip without `accept-encoding`': both(
    (socket) => void socket.write(sized(gzipSync(TEXT), 'content-type: application/json\r\ncontent-encoding: gzip')),
  ),
  'lines of JSON': stream(says(sized(EVENTS.join('\n'), 'content-type: application/x-ndjson')), 'failure'),
  'lines of JSON as events': stream(says(events(EVENTS.join('\n'))), 'failure'),
  'events of another dialect': stream(
    says(events('event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n')),
    'failure',
  ),
  'an answer of another dialect': whole(
    says(json({ type: 'message', content: [{ type: 'text', text: 'x' }] })),
    'failure',
  ),
  'events without a request for a stream': whole(says(events(sse())), 'failure'),
  'one event of twenty megabytes': stream(says(events(`data: ${'x'.repeat(20_000_000)}`)), 'failure'),
  'an event that is not JSON': stream(says(events(`data: ${EVENTS[0]}\n\ndata: {"choices"\n\n`)), 'failure'),
  'an event of a hundred thousand levels': stream(says(events(`data: ${'['.repeat(100_000)}\n\n`)), 'failure'),
  'an error among events': stream(
    says(events(`data: ${EVENTS[0]}\n\ndata: {"error":{"message":"no"}}\n\n`)),
    'failure',
  ),
  'a hundred thousand levels of JSON': both(says(sized('['.repeat(100_000)))),
  'bytes that are not UTF-8': both(
    (socket) => void socket.write(sized(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0, 0xaf])]))),
  ),
  'truncated JSON': both(says(sized(TEXT.slice(0, -2)))),
  null: both(says(json(null))),
  'a list': both(says(json([]))),
  'choices that are not a list': both(says(json({ ...WHOLE, choices: 'hello' }))),
};

/** Answers with unusual content. The caller must receive an answer or a failure. */
export const ODD_ANSWERS: Readonly<Record<string, Buffer>> = {
  'no choices': json({ ...WHOLE, choices: [] }),
  'a choice that is null': json({ ...WHOLE, choices: [null] }),
  'no message': choice(undefined),
  'content that is a number': choice({ role: 'assistant', content: 5 }),
  'content that is a list': choice({ role: 'assistant', content: [{ type: 'text', text: 'hello' }] }),
  'calls that are not a list': choice({ role: 'assistant', content: null, tool_calls: 'x' }),
  'a call without a function': choice({ role: 'assistant', content: null, tool_calls: [{ id: 1 }, null] }),
  'usage below zero': choice(WHOLE.choices[0]?.message, { usage: { prompt_tokens: -5, completion_tokens: -1 } }),
  'usage that is infinite': sized(TEXT.replace('"prompt_tokens":1', '"prompt_tokens":1e999')),
  'usage that is a string': choice(WHOLE.choices[0]?.message, { usage: 'much' }),
  'a model that is an object': choice(WHOLE.choices[0]?.message, { model: {} }),
  'a lone surrogate': sized(TEXT.replace('hello', '\\ud800')),
};

/** Starts the upstream. A model that is neither a shape nor an odd answer gets an ordinary answer with its name. */
export async function startHostileUpstream(): Promise<HostileUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(received.toString('latin1', 0, end))?.[1] ?? 0);
      const body = received.subarray(end + 4, end + 4 + length);
      if (body.length < length) return;
      received = Buffer.alloc(0);
      const { model, stream: isStream } = JSON.parse(body.toString()) as { model: string; stream?: boolean };
      const odd = ODD_ANSWERS[model];
      if (odd !== undefined) return void socket.write(odd);
      const shape = SHAPES[model];
      if (shape !== undefined) return shape.write(socket, body);
      const named = JSON.stringify(WHOLE).replace('hello', model);
      socket.write(
        isStream === true ? events(sse('\n', '', [chunk({ content: model }), chunk({}, 'stop')])) : sized(named),
      );
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
