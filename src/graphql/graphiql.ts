import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';

/** The compressed page. It is decompressed for clients that accept neither gzip nor Brotli. */
export interface CompressedPage {
  readonly etag: string;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly brotli: Uint8Array<ArrayBuffer>;
}

/** Content security policy: inline code, workers of the page, calls to its own origin. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  'worker-src blob:',
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves GraphiQL as one self-contained page, without requests to other hosts. */
export function createGraphiQL() {
  let page: Promise<CompressedPage> | null = null;

  function make(): Promise<CompressedPage> {
    const worker = new Worker(new URL('./graphiql-worker.ts', import.meta.url));
    return once(worker, 'message').then(([result]) => result as CompressedPage);
  }

  return {
    /** Whether a browser requests the page. The URL may contain a query, because GraphiQL stores its query there. */
    wants({ method, headers }: IncomingMessage): boolean {
      return method === 'GET' && (headers.accept ?? '').includes('text/html');
    },
    async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      // After a failure, the next request tries again.
      page ??= make().catch((error: unknown) => {
        page = null;
        throw error;
      });
      const { etag, gzip, brotli } = await page;
      response.setHeader('etag', etag);
      response.setHeader('cache-control', 'no-cache');
      response.appendHeader('vary', 'accept, accept-encoding');
      const notModified = request.headers['if-none-match']?.includes(etag) ?? false;
      // Set explicitly, because Koa starts every response as 404.
      response.statusCode = notModified ? NOT_MODIFIED : OK;
      if (notModified) return void response.end();
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.setHeader('content-security-policy', POLICY);
      const encoding = encodingFor(request.headers['accept-encoding'] ?? '');
      if (encoding === null) {
        const inflate = createGunzip();
        inflate.end(gzip);
        return pipeline(inflate, response);
      }
      const body = encoding === 'br' ? brotli : gzip;
      response.setHeader('content-encoding', encoding);
      response.setHeader('content-length', body.length);
      response.end(body);
    },
  };
}

function encodingFor(accepted: string): 'br' | 'gzip' | null {
  if (/\bbr\b/.test(accepted)) return 'br';
  return /\bgzip\b/.test(accepted) ? 'gzip' : null;
}

const OK = 200;
const NOT_MODIFIED = 304;
