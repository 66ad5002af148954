import { CommandFailure, HttpFailure, textOf } from '../failure.ts';

/** Deadline of a request to the server, in ms. */
const REQUEST_MS = 60_000;
/** Default of the longest answer that is read, in bytes. */
const ANSWER_LIMIT = 256 * 1024 * 1024;

export interface Request {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  /** Body as JSON. */
  readonly json?: unknown;
  /** Body as a JSON text, sent unchanged. */
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
  /** Returns the answer: JSON, or text. Throws HttpFailure, and CommandFailure for a server that cannot be reached. */
  send(method: string, path: string, request?: Request): Promise<unknown>;
  /** Returns the answer before its body is read. Throws like `send`. The deadline includes the body. */
  open(method: string, path: string, request?: Request): Promise<Response>;
}

/** URL of a request. Parameters with a null value are left out. */
function urlOf(baseUrl: string, path: string, query: Request['query'] = {}): string {
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

/** Reads a body. Throws CommandFailure as soon as the body is longer than the limit, in bytes. */
async function textWithin(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) throw new CommandFailure(`The answer of ${response.url} is too large.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The body of an answer as JSON; as text where the body is no JSON. */
async function valueOf(response: Response, limit: number): Promise<unknown> {
  const text = await textWithin(response, limit);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function createClient(baseUrl: string, key: string | null, answerLimit = ANSWER_LIMIT): Client {
  const readAnswer = (response: Response): Promise<unknown> =>
    runRequestStep(baseUrl, () => valueOf(response, answerLimit));

  async function open(method: string, path: string, request: Request = {}): Promise<Response> {
    const { body, type } = bodyOf(request);
    const deadline = AbortSignal.timeout(request.deadlineMs ?? REQUEST_MS);
    const init: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]),
      // A followed redirect would send the body, which may have secrets, to another address.
      redirect: 'manual',
    };
    const url = urlOf(baseUrl, path, request.query);
    const response = await runRequestStep(baseUrl, () => fetch(url, init));
    if (response.status >= 300 && response.status < 400)
      throw new CommandFailure(
        `${baseUrl} redirects to ${response.headers.get('location') ?? 'another address'}. ` +
          'Use the final address as --base-url.',
      );
    if (!response.ok) throw new HttpFailure(response.status, await readAnswer(response));
    return response;
  }
  return {
    baseUrl,
    open,
    async send(method, path, request) {
      return readAnswer(await open(method, path, request));
    },
  };
}

/** Runs a step of a request. Throws CommandFailure for a failed connection and a passed deadline. */
async function runRequestStep<Result>(baseUrl: string, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw new CommandFailure(`Cannot reach the server at ${baseUrl}: ${textOf(error)}`);
  }
}
