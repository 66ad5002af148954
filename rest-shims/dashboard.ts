import type { IncomingHttpHeaders } from 'node:http';
import { SUCCESS } from './errors.ts';
import { dashboardPage } from './helpers/pages/dashboard.ts';
import type { HttpAnswer, RouteRow } from './helpers/http/route.ts';

/** A file for browsers: not compressed, and in two compressed encodings. */
export interface DashboardFile {
  readonly contentType: string;
  /** Quoted hash of the content. */
  readonly etag: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

/** The browser code of the dashboard. */
export interface DashboardFiles {
  readonly script: DashboardFile;
  readonly style: DashboardFile;
}

const ROW = { method: 'GET', surface: 'management', credential: 'none', bodyLimit: 0 } as const;

/**
 * The page of the dashboard and its files. Neither contains data: the script reads the graph with the credential of the
 * visitor.
 */
export function dashboardRoutes(files: () => Promise<DashboardFiles>): readonly RouteRow[] {
  return [
    { ...ROW, name: 'dashboard.page', paths: ['/ui'], statuses: [200], handle: dashboardPage },
    {
      ...ROW,
      name: 'dashboard.script',
      paths: ['/ui/dashboard.js'],
      statuses: [200, 304],
      handle: async ({ headers }) => answerWith((await files()).script, headers),
    },
    {
      ...ROW,
      name: 'dashboard.style',
      paths: ['/ui/dashboard.css'],
      statuses: [200, 304],
      handle: async ({ headers }) => answerWith((await files()).style, headers),
    },
  ];
}

/** Sends the file in the smallest encoding that the browser accepts, or 304 if the browser has this content. */
function answerWith(
  { contentType, etag, plain, gzip, brotli }: DashboardFile,
  { 'accept-encoding': accepted = '', 'if-none-match': known = '' }: IncomingHttpHeaders,
): HttpAnswer {
  const headers = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding', 'x-content-type-options': 'nosniff' };
  const bytesAnswer = (bytes: Uint8Array) => ({ kind: 'bytes', bytes, contentType }) as const;
  if (known.includes(etag)) return { status: SUCCESS.notModified, headers, body: bytesAnswer(new Uint8Array(0)) };
  if (/\bbr\b/.test(accepted)) return { headers: { ...headers, 'content-encoding': 'br' }, body: bytesAnswer(brotli) };
  if (/\bgzip\b/.test(accepted))
    return { headers: { ...headers, 'content-encoding': 'gzip' }, body: bytesAnswer(gzip) };
  return { headers, body: bytesAnswer(plain) };
}
