import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The part of `fetch` that a download uses. */
export type Fetch = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<FetchedResponse>;

interface FetchedResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

/** Content of the source, with a validator for conditional requests. */
export interface Download {
  readonly bytes: Uint8Array;
  /** ETag, or time and size of a file; null when the source sends none. */
  readonly validator: string | null;
  readonly source: 'file' | 'upstream';
}

/** Maximum bytes of a price map over HTTP. The current one has about 3 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum delay by a `Retry-After` header, in ms. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** Hosts of raw files require a user agent. */
const USER_AGENT = 'lensgate-catalog/1';

/** The source could not be read. The message may be shown. */
export class DownloadFailed extends Error {
  /** `Retry-After` of the source, in ms; zero without one. */
  readonly retryAfterMs: number;
  constructor(reason: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(reason, options);
    this.name = 'DownloadFailed';
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

export interface DownloadOptions {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** Timeout of the whole download over HTTP. */
  readonly timeoutMs: number;
}

/**
 * Reads the source: an http(s) address, a `file:` address or a path. Null when `validator` still matches. Throws
 * DownloadFailed for a source that cannot be read or is too large.
 */
export function download(url: string, validator: string | null, options: DownloadOptions): Promise<Download | null> {
  return /^https?:/i.test(url) ? overHttp(url, validator, options) : fromFile(url, validator);
}

async function fromFile(url: string, validator: string | null): Promise<Download | null> {
  try {
    const path = /^file:/i.test(url) ? fileURLToPath(url) : url;
    const { mtimeMs, size } = await stat(path);
    const current = `${mtimeMs}-${size}`;
    if (current === validator) return null;
    return { bytes: await readFile(path), validator: current, source: 'file' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new DownloadFailed(`the file cannot be read: ${code}`, { cause: error });
  }
}

async function overHttp(
  url: string,
  validator: string | null,
  { fetch, signal, timeoutMs }: DownloadOptions,
): Promise<Download | null> {
  const headers = {
    'user-agent': USER_AGENT,
    accept: '*/*',
    ...(validator === null ? {} : { 'if-none-match': validator }),
  };
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    if (response.status === 200)
      return { bytes: await readAll(response), validator: response.headers.get('etag'), source: 'upstream' };
    await response.body?.cancel();
    if (response.status === 304 && validator !== null) return null;
    const retryAfterMs = retryAfterMsOf(response.headers.get('retry-after'));
    throw new DownloadFailed(`the source answered ${response.status}`, { retryAfterMs });
  } catch (error) {
    if (error instanceof DownloadFailed) throw error;
    throw new DownloadFailed(`the source cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** Delay in ms of a `Retry-After` header, which has seconds or a date; zero without a valid one. */
function retryAfterMsOf(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const delayMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(delayMs) ? 0 : Math.min(Math.max(delayMs, 0), MAX_RETRY_AFTER_MS);
}

async function readAll(response: FetchedResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new DownloadFailed(`the price map is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Texts for errors of the HTTP client that have no code. */
const REASONS: Readonly<Record<string, string>> = { 'redirect count exceeded': 'too many redirects' };

/**
 * The code of the deepest cause, else its text in `REASONS`, else its name. Its message is not used, because a message
 * could contain the address with secrets.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : (REASONS[error.message] ?? error.name);
}
