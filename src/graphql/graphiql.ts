import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';

/** The page as it is kept: compressed both ways; a client that takes neither has it inflated for it. */
export interface MadePage {
  readonly etag: string;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly brotli: Uint8Array<ArrayBuffer>;
}

/** What the page may do: its own inline code, its own workers, and calls to where it came from. */
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

/** GraphiQL with everything it needs inside: no other host is ever asked. */
export function createGraphiQL() {
  let page: Promise<MadePage> | null = null;

  function make(): Promise<MadePage> {
    const worker = new Worker(new URL('./graphiql-worker.ts', import.meta.url));
    return once(worker, 'message').then(([made]) => made as MadePage);
  }

  return {
    /** Whether this is a browser asking for a page. It may name a query: the page keeps its own in the address. */
    wants({ method, headers }: IncomingMessage): boolean {
      return method === 'GET' && (headers.accept ?? '').includes('text/html');
    },
    async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      // A page that could not be made is tried again by the next who asks.
      page ??= make().catch((error: unknown) => {
        page = null;
        throw error;
      });
      const { etag, gzip, brotli } = await page;
      response.setHeader('etag', etag);
      response.setHeader('cache-control', 'no-cache');
      response.appendHeader('vary', 'accept, accept-encoding');
      const held = request.headers['if-none-match']?.includes(etag) ?? false;
      // Said even where it is the usual one: Koa begins every answer as not found.
      response.statusCode = held ? NOT_MODIFIED : OK;
      if (held) return void response.end();
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.setHeader('content-security-policy', POLICY);
      const accepted = request.headers['accept-encoding'] ?? '';
      const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
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

const OK = 200;
const NOT_MODIFIED = 304;
