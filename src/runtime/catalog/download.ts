import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** What is asked of an HTTP client; every `fetch` is one. */
export type Fetch = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<FetchedResponse>;

interface FetchedResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

/** A state of the source: its bytes, and a mark to ask by whether it has changed since. */
export interface Download {
  readonly bytes: Uint8Array;
  /** Null when the source gives none. */
  readonly mark: string | null;
  readonly source: 'file' | 'upstream';
}

/** A map is some three megabytes; more than this is something else. */
const MOST_BYTES = 16 * 1024 * 1024;
/** A source that asks to be left alone for longer is asked again after this all the same. */
const MOST_ASKED_MS = 24 * 3_600_000;
/** Hosts of raw files ask for a name that says who calls. */
const USER_AGENT = 'lensgate-catalog/1';

/** The source could not be read: why, in words fit to show. */
export class DownloadFailed extends Error {
  /** How long the source asks to be left alone; zero when it does not. */
  readonly askedMs: number;
  constructor(reason: string, options: ErrorOptions & { readonly askedMs?: number } = {}) {
    super(reason, options);
    this.name = 'DownloadFailed';
    this.askedMs = options.askedMs ?? 0;
  }
}

export interface DownloadOptions {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** Longest it may take, to the last byte. */
  readonly timeoutMs: number;
}

/** Reads the source: an http(s) address, a `file:` address or a path. Null when it still has this mark. */
export function download(url: string, mark: string | null, options: DownloadOptions): Promise<Download | null> {
  return /^https?:/i.test(url) ? overHttp(url, mark, options) : fromFile(url, mark);
}

async function fromFile(url: string, mark: string | null): Promise<Download | null> {
  const path = /^file:/i.test(url) ? fileURLToPath(url) : url;
  try {
    const { mtimeMs, size } = await stat(path);
    const current = `${mtimeMs}-${size}`;
    if (current === mark) return null;
    return { bytes: await readFile(path), mark: current, source: 'file' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new DownloadFailed(`the file cannot be read: ${code}`, { cause: error });
  }
}

async function overHttp(
  url: string,
  mark: string | null,
  { fetch, signal, timeoutMs }: DownloadOptions,
): Promise<Download | null> {
  const headers = { 'user-agent': USER_AGENT, accept: '*/*', ...(mark === null ? {} : { 'if-none-match': mark }) };
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    if (response.status !== 200) await response.body?.cancel();
    if (response.status === 304 && mark !== null) return null;
    if (response.status !== 200) {
      const askedMs = askedMsOf(response.headers.get('retry-after'));
      throw new DownloadFailed(`the source answered ${response.status}`, { askedMs });
    }
    return { bytes: await readAll(response), mark: response.headers.get('etag'), source: 'upstream' };
  } catch (error) {
    if (error instanceof DownloadFailed) throw error;
    throw new DownloadFailed(`the source cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** What `Retry-After` asks for: seconds, or a date. */
function askedMsOf(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const asked = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), MOST_ASKED_MS);
}

async function readAll(response: FetchedResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new DownloadFailed(`the source sends more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Messages of the HTTP client that have no code, and how they are told. */
const TOLD: Readonly<Record<string, string>> = { 'redirect count exceeded': 'too many redirects' };

/** The code of the deepest cause, else its name: never a text, which could carry the address and what is in it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : (TOLD[error.message] ?? error.name);
}
