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
const MOST_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** Hosts of raw files ask for a name that says who calls. */
const USER_AGENT = 'lensgate-catalog/1';

/** The source could not be read: why, in words fit to show. */
export class DownloadFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'DownloadFailed';
  }
}

/** Reads the source: an http(s) address, a `file:` address or a path. Null when it still has this mark. */
export function download(
  url: string,
  mark: string | null,
  options: { readonly fetch: Fetch; readonly signal: AbortSignal },
): Promise<Download | null> {
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
  { fetch, signal }: { readonly fetch: Fetch; readonly signal: AbortSignal },
): Promise<Download | null> {
  const headers = { 'user-agent': USER_AGENT, accept: '*/*', ...(mark === null ? {} : { 'if-none-match': mark }) };
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
    if (response.status === 304) {
      await response.body?.cancel();
      return null;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new DownloadFailed(`the source answered ${response.status}`);
    }
    return { bytes: await readAll(response), mark: response.headers.get('etag'), source: 'upstream' };
  } catch (error) {
    if (error instanceof DownloadFailed) throw error;
    throw new DownloadFailed(`the source cannot be read: ${reasonOf(error)}`, { cause: error });
  }
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

/** The code of the deepest cause, else its name: never a text, which could carry the address and what is in it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
