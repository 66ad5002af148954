import { request } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { MalformedResponse } from '../../../src/runtime/http-client/faults.ts';
import { ResponseParser } from '../../../src/runtime/http-client/response-parser.ts';
import { randomFrom } from '../../support/random.ts';

/** A complete answer; null for an answer that is malformed or incomplete. */
type Read = { readonly status: number; readonly body: string } | null;

function readHere(pieces: readonly Buffer[]): Read {
  let status = 0;
  let body = '';
  let isComplete = false;
  const parser = new ResponseParser({
    head: (received) => {
      status = received;
    },
    body: (bytes) => {
      body += bytes.toString('latin1');
    },
    ended: () => {
      isComplete = true;
    },
  });
  parser.expect();
  try {
    for (const piece of pieces) parser.execute(piece);
    parser.finish();
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
  }
  return isComplete ? { status, body } : null;
}

/** The answer that the client of Node.js reads. */
function readByNode(pieces: readonly Buffer[]): Promise<Read> {
  return new Promise((resolve) => {
    const connection = new Duplex({ read() {}, write: (_chunk, _encoding, written) => written() });
    const end = (read: Read): void => {
      connection.destroy();
      resolve(read);
    };
    const sent = request({ createConnection: () => connection, host: 'upstream' });
    sent.on('error', () => end(null));
    sent.on('upgrade', () => end(null));
    sent.on('response', (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1');
      });
      answer.on('error', () => end(null));
      answer.on('end', () => end({ status: answer.statusCode ?? 0, body }));
    });
    sent.end();
    setImmediate(() => {
      for (const piece of [...pieces, null]) connection.push(piece);
    });
  });
}

const WORDS = {
  status: [
    ...Array.from({ length: 20 }, () => '200 OK'),
    '204 No Content',
    '304 Not Modified',
    '404',
    '205 Reset',
    '20 x',
    '2000 x',
  ],
  length: ['5', '5', '5', '5', '5', '5', '4', '6', '05', '+5', '-1', '5, 5', '0x5', ''],
  coding: [
    'chunked',
    'chunked',
    'chunked',
    'CHUNKED',
    'gzip, chunked',
    'chunked, identity',
    'identity',
    'xchunked',
    '',
  ],
  header: ['x: y', 'content-length: 5', 'transfer-encoding: chunked', 'connection: close', ' folded', 'bad', 'a: \x00'],
  extension: [...Array.from({ length: 30 }, () => ''), ';a', ';a="b;c"', ' ', ';\n', ';\r', ',x', '_1', '\0'],
  data: ['hello', 'x\r\ny', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'],
  lineEnd: [...Array.from({ length: 200 }, () => '\r\n'), '\n', '\r', '\r\r\n', ''],
} as const;

it('reads no other answer than the client of Node.js, for any bytes and boundaries of reads', async () => {
  const random = randomFrom(31);
  const one = (words: readonly string[]): string => words[random(words.length)] ?? '';
  const line = (text: string): string => `${text}${one(WORDS.lineEnd)}`;
  function chunks(): string {
    const parts = Array.from({ length: random(4) }, () => {
      const data = one(WORDS.data);
      const sign = random(20) === 0 ? one(['-', '+', '0x', ' ', '0', '00']) : '';
      return line(`${sign}${data.length.toString(16)}${one(WORDS.extension)}`) + line(data);
    });
    const last = line(one(['0', '0', '0', '0', '0', '0', '00', '-0', '']));
    const trailer = random(4) === 0 ? line(one(WORDS.header)) : '';
    return [...parts, last, trailer, line('')].join('');
  }
  function answer(): string {
    const isChunked = random(3) > 0;
    const before = random(6) === 0 ? 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n' : '';
    const framing = isChunked ? `transfer-encoding: ${one(WORDS.coding)}` : `content-length: ${one(WORDS.length)}`;
    const headers = [framing, ...Array.from({ length: random(3) === 0 ? 1 : 0 }, () => one(WORDS.header))];
    const head = [`HTTP/1.1 ${one(WORDS.status)}`, ...headers, ''].map(line).join('');
    const whole = before + head + (isChunked ? chunks() : 'hello');
    return random(8) === 0 ? whole.slice(0, random(whole.length)) : whole;
  }
  let read = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const bytes = Buffer.from(answer(), 'latin1');
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const size = 1 + random(random(2) === 0 ? 3 : 60);
      pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    const here = readHere(pieces);
    const sent = bytes.toString('latin1');
    expect({ sent, read: here }).toEqual({ sent, read: readHere([bytes]) });
    // oxlint-disable-next-line no-await-in-loop -- one connection at a time.
    const byNode = await readByNode(pieces);
    if (here === null || byNode === null) continue;
    read += 1;
    expect({ sent, read: here }).toEqual({ sent, read: byNode });
  }
  // Most random answers are malformed for one of the two.
  expect(read).toBeGreaterThan(300);
}, 30_000);
