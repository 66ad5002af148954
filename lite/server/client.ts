import { CommandFailure, HttpFailure, textOf } from '../failure.ts';

/** Deadline of a request to the server, in ms. */
const REQUEST_MS = 60_000;
/** Longest answer that is read, in bytes. */
const ANSWER_LIMIT = 256 * 1024 * 1024;

export interface Request {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  /** Body as JSON. */
  readonly json?: unknown;
  /** Body as it is. */
  readonly text?: string;
  /** Body as a form. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Deadline in ms, until the last byte of the answer. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** Requests to one server, with one key. */
export interface Client {
  readonly baseUrl: string;
  /** The answer of a request. Throws HttpFailure, and CommandFailure for a server that cannot be reached. */
  send(method: string, path: string, request?: Request): Promise<unknown>;
  /** An answer that is read as it arrives. Throws like `send`. The deadline bounds the whole answer. */
  open(method: string, path: string, request?: Request): Promise<Response>;
}

/** Path and query of a request. A null value leaves its parameter out. */
function target(baseUrl: string, path: string, query: Request['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined) search.append(name, String(value));
  const text = search.toString();
  const whole = `${baseUrl}/${path.replace(/^\/+/, '')}`;
  return text === '' ? whole : `${whole}${whole.includes('?') ? '&' : '?'}${text}`;
}

function bodyOf({ json, text, form }: Request): { readonly body?: string; readonly type?: string } {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  if (form !== undefined)
    return { body: new URLSearchParams(form).toString(), type: 'application/x-www-form-urlencoded' };
  return text === undefined ? {} : { body: text, type: 'application/json' };
}

/** JSON of an answer; its text where it is no JSON. */
async function valueOf(response: Response): Promise<unknown> {
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > ANSWER_LIMIT) throw new CommandFailure(`The answer of ${response.url} is too large.`);
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function createClient(baseUrl: string, key: string | null): Client {
  async function open(method: string, path: string, request: Request = {}): Promise<Response> {
    const { body, type } = bodyOf(request);
    const deadline = AbortSignal.timeout(request.deadlineMs ?? REQUEST_MS);
    const response = await fetchFrom(baseUrl, target(baseUrl, path, request.query), {
      method,
      headers: {
        accept: 'application/json',
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]),
      // A redirect to another address would carry the body, which may have secrets.
      redirect: 'manual',
    });
    if (response.status >= 300 && response.status < 400)
      throw new CommandFailure(
        `${baseUrl} redirects to ${response.headers.get('location') ?? 'another address'}. ` +
          'Use the final address as --base-url.',
      );
    if (!response.ok) throw new HttpFailure(response.status, await reading(baseUrl, () => valueOf(response)));
    return response;
  }
  return {
    baseUrl,
    open,
    async send(method, path, request) {
      const response = await open(method, path, request);
      return reading(baseUrl, () => valueOf(response));
    },
  };
}

const fetchFrom = (baseUrl: string, url: string, init: RequestInit): Promise<Response> =>
  reading(baseUrl, () => fetch(url, init));

/** Runs a step of a request. Throws CommandFailure where the server cannot be reached. */
async function reading<Result>(baseUrl: string, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw new CommandFailure(`Cannot reach the server at ${baseUrl}: ${textOf(error)}`);
  }
}
