import { gzipSync } from 'node:zlib';

/** Malformed or unusual request and its expected response. */
export interface HostileRequest {
  readonly what: string;
  readonly bytes: Buffer;
  /** Expected status. `below 500` where tests of the graph check it. Null if the server closes the connection. */
  readonly status: number | 'below 500' | null;
  /** Whether the connection stays open for the next request. */
  readonly keepsConnection: boolean;
}

type Status = HostileRequest['status'];

const CHAT = '/v1/chat/completions';
const JSON_BODY = '{"model":"demo","messages":[{"role":"user","content":"Hi"}]}';

/** Malformed and unusual requests for a server with this virtual key. */
export function hostileRequests(key: string): readonly HostileRequest[] {
  const auth = `authorization: Bearer ${key}\r\n`;
  const raw = (what: string, text: string, status: Status): HostileRequest => ({
    what,
    bytes: Buffer.from(text, 'latin1'),
    status,
    keepsConnection: false,
  });
  const keepsOpen = (request: HostileRequest): HostileRequest => ({ ...request, keepsConnection: true });
  const closes = (request: HostileRequest): HostileRequest => ({ ...request, keepsConnection: false });
  /** POST request with its content length, unless `framed` is false. `head` may contain another length. */
  const post = (
    what: string,
    { path = CHAT, head = auth, body = JSON_BODY as string | Buffer, framed = true },
    status: Status,
  ): HostileRequest => {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    const length = framed ? `content-length: ${bytes.length}\r\n` : '';
    return {
      what,
      bytes: Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\nhost: x\r\n${head}${length}\r\n`, 'latin1'), bytes]),
      status,
      keepsConnection: true,
    };
  };
  const get = (what: string, path: string, head: string, status: Status): HostileRequest =>
    keepsOpen(raw(what, `GET ${path} HTTP/1.1\r\nhost: x\r\n${head}\r\n`, status));
  const json = (what: string, body: string | Buffer, status: Status): HostileRequest => post(what, { body }, status);
  const otlp = (what: string, type: string, body: string | Buffer, status: Status): HostileRequest =>
    post(what, { path: '/v1/traces', head: `${auth}${type}`, body }, status);
  const graph = (what: string, body: string, status: Status): HostileRequest =>
    post(what, { path: '/graphql', head: 'content-type: application/json\r\n', body }, status);
  const form = (what: string, type: string, body: string, status: Status): HostileRequest =>
    post(what, { path: '/v1/audio/transcriptions', head: `${auth}content-type: ${type}\r\n`, body }, status);
  const upgrade = (what: string, path: string, head: string, status: Status): HostileRequest =>
    get(what, path, `connection: upgrade\r\nupgrade: websocket\r\n${head}`, status);
  const handshake = 'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const content = (value: string): string => `{"model":"demo","messages":[{"role":"user","content":${value}}]}`;

  return [
    // Request line.
    raw('no HTTP', 'nonsense\r\n\r\n', 400),
    raw('a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400),
    raw('an HTTP/2 greeting', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400),
    raw('no version', `GET /health/liveness\r\n\r\n`, 200),
    raw('an unknown version', `GET /health/liveness HTTP/9.9\r\nhost: x\r\n\r\n`, 400),
    raw('an unknown method', `BREW /v1/models HTTP/1.1\r\nhost: x\r\n\r\n`, 400),
    raw('CONNECT', `CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n`, null),
    keepsOpen(raw('TRACE', `TRACE /v1/models HTTP/1.1\r\nhost: x\r\n\r\n`, 405)),
    raw('a target of 20,000 characters', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431),
    raw('a null byte in the target', `GET /v1/\0models HTTP/1.1\r\nhost: x\r\n\r\n`, 400),
    // Request target.
    get('invalid percent encoding', '/v1/traces/%ff%fe%zz', auth, 404),
    get('an encoded slash', '/v1/traces/..%2f..%2fetc', auth, 404),
    get('parent segments in the path', '/v1/../../../../etc/passwd', auth, 404),
    get('names of prototypes in the path', '/v1/__proto__/constructor', auth, 404),
    get('2,000 query parameters', `/v1/traces?${'a=1&'.repeat(2_000)}`, auth, 200),
    get('invalid percent encoding in the query', '/v1/traces?cursor=%E0%A4%A', auth, 400),
    get('an absolute target with an invalid host', 'http://[broken/v1/models', auth, 200),
    // Headers.
    raw('no host', `GET /v1/models HTTP/1.1\r\n${auth}\r\n`, 400),
    post('two hosts', { head: `${auth}host: y\r\n` }, 200),
    raw('a bare line feed', `GET /v1/models HTTP/1.1\nhost: x\n\n`, 400),
    closes(get('a name with a space', '/v1/models', `x y: z\r\n`, 400)),
    closes(get('a folded line', '/v1/models', `x-y: z\r\n folded\r\n`, 400)),
    closes(get('a null byte in a value', '/v1/models', `x-y: a\0b\r\n`, 400)),
    closes(get('a carriage return in a value', '/v1/models', `x-y: a\rb\r\n`, 400)),
    closes(get('a header of 20,000 characters', '/v1/models', `x-y: ${'a'.repeat(20_000)}\r\n`, 431)),
    closes(get('3,000 headers', '/v1/models', 'x:y\r\n'.repeat(3_000), 431)),
    get('a key of 10,000 characters', '/v1/models', `authorization: Bearer sk-${'a'.repeat(10_000)}\r\n`, 401),
    get('a key outside of ASCII', '/v1/models', 'authorization: Bearer sk-\xff\xfe\r\n', 401),
    get('an empty key', '/v1/models', 'authorization: Bearer \r\n', 401),
    get('another scheme', '/v1/models', 'authorization: Basic c2s6\r\n', 401),
    get('two keys', '/v1/models', `authorization: Bearer sk-wrong\r\n${auth}`, 401),
    // Framing.
    closes(post('two lengths', { head: `${auth}content-length: 5\r\n` }, 400)),
    closes(post('a length and chunks', { head: `${auth}transfer-encoding: chunked\r\n` }, 400)),
    closes(post('a negative length', { head: `${auth}content-length: -1\r\n`, framed: false }, 400)),
    closes(post('a length of two numbers', { head: `${auth}content-length: 5, 5\r\n`, framed: false }, 400)),
    closes(
      post('a length beyond 64 bits', { head: `${auth}content-length: 99999999999999999999\r\n`, framed: false }, 400),
    ),
    closes(
      post(
        'a length that is larger than the limit',
        { head: `${auth}connection: close\r\ncontent-length: 99999999999\r\n`, framed: false },
        400,
      ),
    ),
    closes(post('an unknown transfer encoding', { head: `${auth}transfer-encoding: gzip\r\n`, framed: false }, 400)),
    closes(
      post(
        'a space before the colon of the transfer encoding',
        { head: `${auth}transfer-encoding : chunked\r\n`, framed: false },
        400,
      ),
    ),
    closes(
      post(
        'a chunk size that is not a number',
        { head: `${auth}transfer-encoding: chunked\r\n`, framed: false, body: 'ZZ\r\n' },
        400,
      ),
    ),
    closes(
      post(
        'a chunk that is too long',
        { head: `${auth}transfer-encoding: chunked\r\n`, framed: false, body: '1\r\nab\r\n' },
        400,
      ),
    ),
    post('an unknown expectation', { head: `${auth}expect: 200-maybe\r\n` }, 417),
    closes(
      post(
        'an upgrade to an unsupported protocol',
        { head: `${auth}connection: upgrade, close\r\nupgrade: h2c\r\n` },
        200,
      ),
    ),
    // JSON.
    json('text that is not JSON', 'nonsense', 400),
    json('an empty body', '', 400),
    json('truncated JSON', JSON_BODY.slice(0, -5), 400),
    json('two JSON texts', JSON_BODY + JSON_BODY, 400),
    json('an array', '[]', 400),
    json('null', 'null', 400),
    json('50,000 nested arrays', content(deep(50_000)), 200),
    json('50,000 nested objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, 400),
    json('a repeated member', '{"model":"demo","model":"other","messages":[{"role":"user","content":"Hi"}]}', 400),
    json('a member named __proto__', '{"__proto__":{"model":"demo"},"messages":[]}', 400),
    json('invalid UTF-8', Buffer.concat([Buffer.from(content('"')), Buffer.from([0xff, 0xc0, 0x80])]), 400),
    json('a lone surrogate', content(String.raw`"\ud800"`), 200),
    json('a null character', content(String.raw`"a\u0000b"`), 200),
    json(
      'a number of 5,000 digits',
      `{"model":"demo","messages":[{"role":"user","content":"Hi"}],"n":${'9'.repeat(5_000)}}`,
      200,
    ),
    json('a model that is an object', '{"model":{},"messages":[]}', 400),
    json('a model of 100,000 characters', `{"model":"${'a'.repeat(100_000)}","messages":[]}`, 400),
    json('a byte order mark', `\ufeff${JSON_BODY}`, 400),
    json('UTF-16', Buffer.from(JSON_BODY, 'utf16le'), 400),
    // Forms.
    form('a form without a boundary', 'multipart/form-data', 'x', 400),
    form(
      'a form without an end',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="file"\r\n\r\nx',
      400,
    ),
    form(
      'a form of 5,000 parts',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(5_000),
      400,
    ),
    form('a boundary of 10,000 characters', `multipart/form-data; boundary=${'b'.repeat(10_000)}`, 'x', 400),
    form(
      'a name with a null byte',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="\0"\r\n\r\nx\r\n--b--',
      400,
    ),
    // OTLP exports.
    otlp('an export that is not protobuf', 'content-type: application/x-protobuf\r\n', '\xff\xff\xff\xff', 400),
    otlp('an export that is not JSON', 'content-type: application/json\r\n', '{"resourceSpans":', 400),
    otlp('an export with an unsupported media type', 'content-type: text/html\r\n', '<html>', 400),
    otlp('an export that is not gzip', 'content-type: application/json\r\ncontent-encoding: gzip\r\n', 'nonsense', 400),
    otlp(
      'an export with an unknown content encoding',
      'content-type: application/json\r\ncontent-encoding: br\r\n',
      'x',
      400,
    ),
    otlp(
      'an export that inflates to 200 MB',
      'content-type: application/json\r\ncontent-encoding: gzip\r\n',
      gzipSync(Buffer.alloc(200 * 1024 * 1024)),
      413,
    ),
    otlp(
      'an export with truncated gzip',
      'content-type: application/json\r\ncontent-encoding: gzip\r\n',
      gzipSync('{"resourceSpans":[]}').subarray(0, 15),
      400,
    ),
    // GraphQL.
    graph('a GraphQL request that is not JSON', 'nonsense', 400),
    graph('a query that is a number', '{"query":1}', 400),
    graph('500 nested fields', JSON.stringify({ query: `{ ${'a { '.repeat(500)}b${' }'.repeat(500)} }` }), 'below 500'),
    graph(
      '20,000 aliases',
      JSON.stringify({ query: `{ ${Array.from({ length: 20_000 }, (_, n) => `a${n}: __typename`).join(' ')} }` }),
      'below 500',
    ),
    graph(
      'a fragment that spreads itself',
      JSON.stringify({ query: 'query { ...a } fragment a on Query { ...a }' }),
      'below 500',
    ),
    graph(
      'a batch of a hundred operations',
      `[${Array.from({ length: 100 }, () => '{"query":"{ __typename }"}').join(',')}]`,
      400,
    ),
    get('variables that are not JSON', '/graphql?query={__typename}&variables=%7B', '', 400),
    // WebSockets.
    closes(upgrade('a handshake without a key', '/v1/realtime?model=demo', auth, 400)),
    closes(upgrade('a handshake without a credential', '/v1/realtime?model=demo', handshake, 401)),
    closes(
      upgrade(
        'a handshake with an old version',
        '/v1/realtime?model=demo',
        `${auth}${handshake.replace('13', '1')}`,
        400,
      ),
    ),
    closes(upgrade('a handshake for an unknown model', '/v1/realtime?model=none', `${auth}${handshake}`, 400)),
    closes(
      upgrade(
        'a handshake on a path without WebSockets',
        '/v1/models',
        `connection: close\r\n${auth}${handshake}`,
        200,
      ),
    ),
    closes(upgrade('a handshake without a model', '/v1/realtime', `${auth}${handshake}`, 400)),
  ];
}

/** Well-formed HTTP requests as input for mutations. They use the models `echo` and `demo`. */
export function ordinaryRequests(key: string): readonly Buffer[] {
  const auth = `authorization: Bearer ${key}\r\n`;
  const post = (path: string, type: string, body: string): Buffer =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: x\r\n${auth}content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  const messages = [{ role: 'user', content: 'Grüß Gott' }];
  const json = (path: string, body: object): Buffer => post(path, 'application/json', JSON.stringify(body));
  const span = {
    traceId: '5'.repeat(32),
    spanId: '6'.repeat(16),
    name: 'a',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
  };
  return [
    json('/v1/chat/completions', { model: 'echo', messages, temperature: 0.5, stop: ['x'] }),
    json('/v1/chat/completions', { model: 'demo', messages, stream: true }),
    json('/v1/messages', { model: 'demo', max_tokens: 9, messages }),
    json('/v1/responses', { model: 'demo', input: 'Hi' }),
    json('/v1beta/models/demo:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
    json('/v1/embeddings', { model: 'demo', input: ['a', 'b'] }),
    json('/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
    json('/graphql', {
      query: 'query ($first: Int) { traces(first: $first) { nodes { traceId } } }',
      variables: { first: 2 },
    }),
    json('/key/generate', { key_alias: 'a', max_budget: 1 }),
    post(
      '/v1/audio/transcriptions',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\ndemo\r\n--b--\r\n',
    ),
    Buffer.from(`GET /v1/traces?limit=5&sort=start HTTP/1.1\r\nhost: x\r\n${auth}\r\n`),
    Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${auth}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ),
  ];
}
