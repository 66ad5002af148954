import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

interface ReceivedSearch {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly json: Json;
}

/** Loopback server with an API of each search provider, below a path with the name of the provider. */
export interface SearchUpstream {
  readonly url: string;
  readonly received: readonly ReceivedSearch[];
  stop(): Promise<void>;
}

const BRAVE = {
  type: 'search',
  web: {
    results: [
      { title: 'T1', url: 'https://a.test/1', description: 'S1', page_age: '2026-01-02T03:04:05' },
      { title: 'T2', url: 'https://a.test/2', description: 'S2', age: '2 days ago' },
    ],
  },
};

/** Answers in the format of each provider. */
const ANSWERS: Readonly<Record<string, Json>> = {
  perplexity: {
    id: 'x',
    results: [
      { title: 'T1', url: 'https://a.test/1', snippet: 'S1', date: '2026-01-02', last_updated: '2026-02-03' },
      { title: 'T2', url: 'https://a.test/2', snippet: 'S2' },
    ],
  },
  tavily: {
    query: 'x',
    results: [
      { title: 'T1', url: 'https://a.test/1', content: 'S1', score: 0.9, published_date: '2026-01-02' },
      { title: 'T2', url: 'https://a.test/2', content: 'S2', score: 0.8 },
    ],
  },
  exa_ai: {
    requestId: 'x',
    results: [
      { id: '1', title: 'T1', url: 'https://a.test/1', text: 'S1', publishedDate: '2026-01-02T00:00:00.000Z' },
      { id: '2', title: null, url: 'https://a.test/2', highlights: ['S2', 'S3'] },
    ],
  },
  brave: BRAVE,
  serper: {
    organic: [
      { title: 'T1', link: 'https://a.test/1', snippet: 'S1', date: 'Jan 2, 2026', position: 1 },
      { title: 'T2', link: 'https://a.test/2', snippet: 'S2', position: 2 },
    ],
  },
  searxng: {
    query: 'x',
    results: [
      { title: 'T1', url: 'https://a.test/1', content: 'S1', publishedDate: '2026-01-02T00:00:00' },
      { title: 'T2', url: 'https://a.test/2', content: 'S2' },
    ],
  },
};

/**
 * Starts the server on a free loopback port. A query can change the answer: `status:<status>` fails and repeats the
 * credential, `no list` and `no json` get an unusable answer, and `no answer` gets none. All searches below
 * `/<provider>/broken` fail with 502.
 */
export async function startSearchUpstream(): Promise<SearchUpstream> {
  const received: ReceivedSearch[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const text = Buffer.concat(chunks).toString();
      const json = text === '' ? {} : (JSON.parse(text) as Json);
      const { method = '', headers } = request;
      received.push({ method, path: pathname, query: Object.fromEntries(searchParams), headers, json });
      const sent = json['query'] ?? json['q'] ?? searchParams.get('q');
      const query = typeof sent === 'string' ? sent : '';
      const [, provider = '', mode] = pathname.split('/');
      if (query.startsWith('no answer')) return;
      const status = mode === 'broken' ? 502 : Number(/^status:(\d+)/.exec(query)?.[1] ?? 200);
      response.writeHead(status, { 'content-type': 'application/json' });
      if (status !== 200) response.end(JSON.stringify({ error: { message: `refused: ${headers.authorization}` } }));
      else if (query === 'no json') response.end('<html>');
      else if (query === 'no list') response.end('{}');
      else response.end(JSON.stringify(ANSWERS[provider]));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
