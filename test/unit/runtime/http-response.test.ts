import { describe, expect, it } from 'vitest';
import { MalformedResponse } from '../../../src/runtime/http-client/faults.ts';
import { ResponseParser } from '../../../src/runtime/http-client/response-parser.ts';
import { randomFrom } from '../../support/random.ts';

interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * Time for which the connection may be reused, in ms: 4 seconds, or two seconds less than a timeout in the answer. 0:
   * not reused. Null until the answer ends.
   */
  readonly keepAliveMs: number | null;
}

/**
 * The answer that a parser reads from these pieces, and the code of its error. With `closes`, the connection ends after
 * the last piece.
 */
function read(
  pieces: readonly Buffer[],
  closes = false,
): { readonly answer: ReceivedAnswer | null; readonly fault: string | null } {
  let answer: ReceivedAnswer | null = null;
  const parser = new ResponseParser({
    head(status, headers) {
      answer = { status, headers, body: '', keepAliveMs: null };
    },
    body(bytes) {
      if (answer) answer = { ...answer, body: answer.body + bytes.toString('latin1') };
    },
    ended(keepAliveMs) {
      if (answer) answer = { ...answer, keepAliveMs };
    },
  });
  parser.expect();
  try {
    for (const piece of pieces) parser.execute(piece);
    if (closes) parser.finish();
    return { answer, fault: null };
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    return { answer, fault: error.code };
  }
}

const readText = (text: string, closes = false) => read([Buffer.from(text)], closes);
const bodyOf = (headers: string, body = '') => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;

describe('an answer', () => {
  it.each([
    ['with a content-length', bodyOf('content-length: 5', 'hello'), { body: 'hello', keepAliveMs: 4_000 }],
    ['with content-length 0', bodyOf('content-length: 0'), { body: '', keepAliveMs: 4_000 }],
    ['in chunks', bodyOf('Transfer-Encoding: chunked', '3\r\nhel\r\n2;a="b"\r\nlo\r\n0\r\n\r\n'), { body: 'hello' }],
    [
      'with trailers',
      bodyOf('transfer-encoding: chunked', '5\r\nhello\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n'),
      { body: 'hello' },
    ],
    ['without a body', 'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n', { status: 204, keepAliveMs: 4_000 }],
    ['without a reason phrase', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', { status: 200, body: 'ok' }],
    [
      'after early hints',
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${bodyOf('content-length: 2', 'ok')}`,
      { body: 'ok' },
    ],
    ['with connection: close', bodyOf('connection: Close\r\ncontent-length: 2', 'ok'), { keepAliveMs: 0 }],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', { keepAliveMs: 0 }],
    [
      'of HTTP/1.0 with keep-alive',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n',
      { keepAliveMs: 4_000 },
    ],
    [
      'with a keep-alive timeout',
      bodyOf('keep-alive: timeout=65, max=9\r\ncontent-length: 0'),
      { keepAliveMs: 63_000 },
    ],
    ['with a short keep-alive', bodyOf('keep-alive: timeout=1\r\ncontent-length: 0'), { keepAliveMs: 0 }],
  ])('%s is read', (_what, text, expected) => {
    expect(readText(text)).toMatchObject({ answer: expected, fault: null });
  });

  it('without a length ends when the upstream closes, and its connection is not reused', () => {
    expect(readText(bodyOf('x: y', 'hello')).answer).toMatchObject({ body: 'hello', keepAliveMs: null });
    expect(readText(bodyOf('x: y', 'hello'), true).answer).toMatchObject({ body: 'hello', keepAliveMs: 0 });
  });

  it('has header names in lower case, joined values, and no headers of the connection', () => {
    const head = 'X-A: 1\r\nx-a:2\t\r\nConstructor: c\r\nTE: x\r\nKeep-Alive: x\r\nX-Empty:\r\nX-U: \xc3\xa9';
    const { answer, fault } = read([Buffer.from(bodyOf(`${head}\r\ncontent-length: 0`), 'latin1')]);
    expect([answer?.headers, fault]).toEqual([
      { 'x-a': '1, 2', constructor: 'c', 'x-empty': '', 'x-u': 'é', 'content-length': '0' },
      null,
    ]);
  });

  it('is the same for any boundaries of its reads', () => {
    const random = randomFrom(20);
    for (let round = 0; round < 400; round += 1) {
      const body = 'x\r\n0\r\n\r\ny'.repeat(1 + random(30));
      const chunked = random(2) === 0;
      const cut = random(body.length);
      const chunks = [body.slice(0, cut), body.slice(cut)]
        .filter((part) => part !== '')
        .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
        .join('');
      const text = chunked
        ? bodyOf('transfer-encoding: chunked', `${chunks}0\r\nt: v\r\n\r\n`)
        : bodyOf(`content-length: ${body.length}`, body);
      const bytes = Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${text}`);
      const pieces: Buffer[] = [];
      for (let offset = 0; offset < bytes.length;) {
        const size = 1 + random(random(3) === 0 ? 40 : 4);
        pieces.push(bytes.subarray(offset, offset + size));
        offset += size;
      }
      expect(read(pieces)).toMatchObject({ answer: { body, keepAliveMs: 4_000 }, fault: null });
    }
  });
});

describe('the line before a chunk', () => {
  const lines = [
    '5',
    '05',
    '000000000005',
    '0000000000005',
    'A',
    'a',
    'fF',
    '5 ',
    '5\t;a="b"',
    '5;',
    ' 5',
    '',
    'g',
    '5g',
    '5\r',
    ':',
    '@',
    '`',
    '/',
  ];
  it.each(lines)('%j has the same meaning whole, in two pieces and byte by byte', (line) => {
    const size = Number.parseInt(line, 16);
    const body = 'x'.repeat(Number.isNaN(size) ? 5 : size);
    const bytes = Buffer.from(bodyOf('transfer-encoding: chunked', `${line}\r\n${body}\r\n0\r\n\r\n`));
    const isValid = /^[0-9a-f]{1,12}[\t ]*(?:;.*)?$/i.test(line);
    const expected = isValid ? { answer: { body }, fault: null } : { fault: 'CHUNK_SIZE' };
    expect(read([bytes])).toMatchObject(expected);
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toMatchObject(expected);
    expect(read([...bytes].map((byte) => Buffer.from([byte])))).toMatchObject(expected);
  });
});

describe('invalid and ambiguous answers', () => {
  it.each([
    ['SSH-2.0-OpenSSH_9.9\r\n', 'STATUS_LINE'],
    ['HTTP/2 200 OK\r\n\r\n', 'STATUS_LINE'],
    ['HTTP/1.1 20 OK\r\n\r\n', 'STATUS_LINE'],
    ['HTTP/1.1 099 No\r\n\r\n', 'STATUS_LINE'],
    ['\r\nHTTP/1.1 200 OK\r\n\r\n', 'STATUS_LINE'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'INFORMATIONAL'],
    ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(17), 'INFORMATIONAL'],
    [bodyOf('a: b\nc: d'), 'HEAD_CHARACTER'],
    [bodyOf('a: b\rc: d'), 'HEAD_CHARACTER'],
    [bodyOf('a: b\0'), 'HEAD_CHARACTER'],
    [bodyOf('a : b'), 'HEADER_NAME'],
    [bodyOf(': b'), 'HEADER_NAME'],
    [bodyOf('a: b\r\n folded: c'), 'HEADER_NAME'],
    [bodyOf('a: b\r\n folded'), 'HEADER'],
    [bodyOf('nothing'), 'HEADER'],
    [bodyOf('content-length: 5\r\ncontent-length: 5', 'hello'), 'CONTENT_LENGTH'],
    [bodyOf('content-length: 5\r\nContent-Length: 6', 'hello'), 'CONTENT_LENGTH'],
    [bodyOf('content-length: 5, 5', 'hello'), 'CONTENT_LENGTH'],
    [bodyOf('content-length: +5', 'hello'), 'CONTENT_LENGTH'],
    [bodyOf('content-length: 0x5', 'hello'), 'CONTENT_LENGTH'],
    [bodyOf('content-length:', 'hello'), 'CONTENT_LENGTH'],
    [bodyOf('content-length: 5\r\ntransfer-encoding: chunked', '0\r\n\r\n'), 'TRANSFER_ENCODING'],
    [bodyOf('transfer-encoding: gzip, chunked', '0\r\n\r\n'), 'TRANSFER_ENCODING'],
    [bodyOf('transfer-encoding: chunked\r\ntransfer-encoding: chunked', '0\r\n\r\n'), 'TRANSFER_ENCODING'],
    [bodyOf('transfer-encoding: identity', 'x'), 'TRANSFER_ENCODING'],
    ['HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 'TRANSFER_ENCODING'],
    [bodyOf('transfer-encoding: chunked', '5\nhello\r\n0\r\n\r\n'), 'CHUNK_SIZE'],
    [bodyOf('transfer-encoding: chunked', '-5\r\nhello\r\n'), 'CHUNK_SIZE'],
    [bodyOf('transfer-encoding: chunked', '0x5\r\nhello\r\n'), 'CHUNK_SIZE'],
    [bodyOf('transfer-encoding: chunked', '5 5\r\nhello\r\n'), 'CHUNK_SIZE'],
    [bodyOf('transfer-encoding: chunked', 'fffffffffffff\r\n'), 'CHUNK_SIZE'],
    [bodyOf('transfer-encoding: chunked', '\r\nhello\r\n'), 'CHUNK_SIZE'],
    [bodyOf('transfer-encoding: chunked', '4\r\nhello\r\n'), 'CHUNK_END'],
    [bodyOf('transfer-encoding: chunked', '0\r\nno trailer\r\n\r\n'), 'HEADER'],
    [bodyOf('transfer-encoding: chunked', '0\r\na: b\nc: d\r\n\r\n'), 'TRAILER'],
    [bodyOf('content-length: 2', 'okHTTP/1.1 200 OK\r\n'), 'UNEXPECTED_BYTES'],
    [`HTTP/1.1 204 No Content\r\n\r\nhello`, 'UNEXPECTED_BYTES'],
    [bodyOf(`a: ${'b'.repeat(20_000)}`), 'OVERFLOW'],
    [`HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}`, 'OVERFLOW'],
    [bodyOf('transfer-encoding: chunked', `5;${'x'.repeat(5_000)}`), 'OVERFLOW'],
    [bodyOf('transfer-encoding: chunked', `0\r\n${'a: bcdefgh\r\n'.repeat(2_000)}`), 'OVERFLOW'],
  ])('%j gives %s, in one piece and byte by byte', (text, fault) => {
    expect(readText(text).fault).toBe(fault);
    const bytes = [...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte]));
    expect(read(bytes).fault).toBe(fault);
  });

  it.each([
    bodyOf('content-length: 5', 'hell'),
    bodyOf('transfer-encoding: chunked', '5\r\nhello\r\n'),
    bodyOf('transfer-encoding: chunked', '5\r\nhello\r\n0\r\n'),
    'HTTP/1.1 200 OK\r\ncontent-length',
    '',
  ])('%j is incomplete when the connection ends', (text) => {
    expect(readText(text, true).fault).toBe('CLOSED_EARLY');
  });

  it('have the same result whole and in two pieces, for any input', () => {
    const random = randomFrom(7);
    const words = [
      'HTTP/1.1 200 OK',
      '\r\n',
      '\r\n\r\n',
      'content-length: 3',
      'transfer-encoding: chunked',
      ': ',
      '3',
      '0',
      'abc',
      '\n',
      ';',
      '\0',
      'é',
    ];
    for (let round = 0; round < 2_000; round += 1) {
      const text = `HTTP/1.1 200 OK\r\n${Array.from({ length: random(12) }, () => words[random(words.length)]).join('')}`;
      const whole = readText(text, true);
      const bytes = Buffer.from(text);
      const cut = random(bytes.length);
      expect(
        read(
          [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0),
          true,
        ),
      ).toEqual(whole);
    }
  });
});
