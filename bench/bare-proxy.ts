// Lower bound for a Node gateway: checks one bearer key, and forwards request and answer through undici's dispatch.
// It parses the request for its model and a JSON answer for its usage, and has no accounting. With `http` it calls the
// upstream through node:http.
//   node bench/bare-proxy.ts PORT UPSTREAM_ORIGIN KEY [http]
import { Agent, createServer, type IncomingMessage, request as callHttp, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

const [port = '', upstream = '', key = '', through = 'undici'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const pool = new Pool(upstream, { connections: 256, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
const expected = `Bearer ${key}`;
let tokens = 0;

const usageOf = (bytes: Buffer): number => {
  const answer: { readonly usage?: { readonly total_tokens?: number } } = JSON.parse(bytes.toString());
  return answer.usage?.total_tokens ?? 0;
};

function relay(response: ServerResponse): Dispatcher.DispatchHandler {
  let jsonChunks: Buffer[] | null = null;
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      const type = String(headers['content-type']);
      if (type.includes('json')) jsonChunks = [];
      const length = headers['content-length'];
      response.writeHead(
        status,
        length === undefined ? { 'content-type': type } : { 'content-type': type, 'content-length': String(length) },
      );
    },
    onResponseData(_controller, chunk) {
      jsonChunks?.push(chunk);
      response.write(chunk);
    },
    onResponseEnd() {
      if (jsonChunks !== null) tokens += usageOf(Buffer.concat(jsonChunks));
      response.end();
    },
    onResponseError() {
      response.destroy();
    },
  };
}

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const requested: { readonly model?: string } = JSON.parse(body.toString());
  if (requested.model === undefined) {
    response.writeHead(400).end();
    return;
  }
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    authorization: 'Bearer sk-upstream',
  };
  if (through === 'http') return forwardThroughHttp(request.url ?? '/', headers, body, response);
  pool.dispatch({ path: request.url ?? '/', method: 'POST', body, headers }, relay(response));
}

function forwardThroughHttp(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  response: ServerResponse,
): void {
  const call = callHttp(`${upstream}${path}`, { method: 'POST', headers, agent }, (answer) => {
    const { 'content-type': type = '', 'content-length': length } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, {
      'content-type': type,
      ...(length === undefined ? {} : { 'content-length': length }),
    });
    const jsonChunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => {
      if (type.includes('json')) jsonChunks.push(chunk);
      response.write(chunk);
    });
    answer.on('end', () => {
      if (jsonChunks.length > 0) tokens += usageOf(Buffer.concat(jsonChunks));
      response.end();
    });
  });
  call.on('error', () => response.destroy());
  call.end(body);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(tokens));
    return;
  }
  if (request.headers.authorization !== expected) {
    response.writeHead(401).end();
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => forward(request, response, Buffer.concat(parts)));
});
server.listen(Number(port), '127.0.0.1', 4096);
process.once('SIGTERM', () => process.exit(0));
