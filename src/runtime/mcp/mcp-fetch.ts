import { collect } from '../../domain/bytes.ts';
import { DomainError, UpstreamFailed } from '../../domain/errors.ts';
import type { HttpClient, HttpMethod, UpstreamAnswer } from '../../domain/http.ts';
import { isJsonObject, jsonObjectOf } from '../../domain/json-object.ts';
import { headerSecrets } from '../../domain/secret-texts.ts';
import { boundedBody } from './bounded-body.ts';
import { CUT_STREAM, statusFailure, upstreamFailure } from './failures.ts';

/** The part of `fetch` that the transports of the protocol library call. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Status with which a server tells the protocol library that it has no open stream. */
const NO_STREAM = 405;
/** Statuses of answers without a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
/** Maximum wait for the head of an answer, in ms. Calls have shorter deadlines. */
const HEAD_MS = 600_000;
/** Maximum bytes of a refusal that are read. */
const REFUSAL_BYTES = 64 * 1024;
const EVENTS = /^\s*text\/event-stream/i;

interface FetchOptions {
  readonly http: Pick<HttpClient, 'send'>;
  /** Name of the server in errors. */
  readonly server: string;
  /** Whether the transport keeps one stream open for all answers: HTTP with SSE. */
  readonly hasOpenStream: boolean;
  /** Headers of each request, with lower-case names. They replace those of the transport. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Called when the open stream has ended. */
  readonly streamEnded: () => void;
}

type MessageId = string | number;

/**
 * `fetch` over the HTTP client of the process.
 * - A refused message throws UpstreamFailed with the status of the server.
 * - Streamable HTTP opens no stream for messages of the server, which would hold a connection: the answer is 405.
 * - A cancelled request ends its own answer, because servers may ignore the notification.
 * - A stream that ends without the response gets an error as its last event. Without it, the request would not end.
 */
export function createMcpFetch({ http, server, hasOpenStream, headers, streamEnded }: FetchOptions): McpFetch {
  /** Requests whose answers have not ended, by the id of their message. */
  const open = new Map<MessageId, AbortController>();

  async function send(method: string, url: string, { headers: given, body }: RequestInit, signal: AbortSignal) {
    const sent = { ...Object.fromEntries(new Headers(given)), ...(await headers()) };
    const bytes = typeof body === 'string' ? [Buffer.from(body)] : [];
    return await http.send(method as HttpMethod, url, sent, bytes, { signal, headersTimeoutMs: HEAD_MS });
  }

  /** The answer to a message. It stays in `open` until its body has ended. */
  async function post(url: string, init: RequestInit): Promise<Response> {
    const { id, cancelled } = messageOf(init.body);
    const controller = new AbortController();
    if (id !== null) open.set(id, controller);
    const ended = (): void => {
      if (id !== null) open.delete(id);
    };
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, controller.signal]) : controller.signal;
      const answer = await send('POST', url, init, signal);
      if (answer.status < 400) {
        const isStream = EVENTS.test(answer.headers['content-type'] ?? '');
        return responseOf(server, answer, {
          perEvent: false,
          lastBytes: id !== null && isStream ? (failure) => lastEvent(server, id, failure) : null,
          ended,
        });
      }
      const refusal = await collect(answer.body, REFUSAL_BYTES);
      const secrets = headerSecrets(Object.values(await headers()));
      throw statusFailure(server, { status: answer.status, headers: answer.headers, body: refusal, secrets });
    } catch (error) {
      ended();
      throw error;
    } finally {
      if (cancelled !== null) open.get(cancelled)?.abort(new UpstreamFailed('cancelled', CANCELLED));
    }
  }

  return async (url, init = {}) => {
    const { method = 'GET' } = init;
    if (method === 'POST') return await post(String(url), init);
    if (method === 'GET' && !hasOpenStream) return new Response(null, { status: NO_STREAM });
    const answer = await send(method, String(url), init, init.signal ?? new AbortController().signal);
    const isOpenStream = method === 'GET' && answer.status === 200;
    return responseOf(server, answer, {
      perEvent: isOpenStream,
      lastBytes: null,
      ended: isOpenStream ? streamEnded : () => undefined,
    });
  };
}

const CANCELLED = { provider: 'mcp', upstreamStatus: null } as const;

const isId = (value: unknown): value is MessageId => typeof value === 'string' || typeof value === 'number';

/** Id of a request, and the id of the request that a notification cancels; null where the message is another one. */
function messageOf(body: RequestInit['body']): {
  readonly id: MessageId | null;
  readonly cancelled: MessageId | null;
} {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : null;
  if (!isJsonObject(message)) return { id: null, cancelled: null };
  const { id, method, params } = message;
  const requestId = method === 'notifications/cancelled' ? jsonObjectOf(params)['requestId'] : null;
  return { id: isId(id) && method !== undefined ? id : null, cancelled: isId(requestId) ? requestId : null };
}

/** An event with an error. It ends a request that has received no response; the library ignores it for others. */
function lastEvent(server: string, id: MessageId, failure: Error | null): Uint8Array {
  const known = failure === null ? null : upstreamFailure(server, failure);
  const message = known instanceof DomainError ? known.message : `The MCP server ${server} ended its answer too early.`;
  const error = { jsonrpc: '2.0', id, error: { code: CUT_STREAM, message } };
  return Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(error)}\n\n`);
}

/** An answer as a `Response`. Throws UpstreamFailed for a status that a `Response` cannot have. */
function responseOf(
  server: string,
  { status, headers, body }: UpstreamAnswer,
  options: Parameters<typeof boundedBody>[1],
): Response {
  const isWithoutBody = WITHOUT_BODY.has(status);
  const isNoFinalStatus = status < 200 || status > 599;
  if (isWithoutBody || isNoFinalStatus) {
    body.cancel();
    options.ended();
  }
  if (isWithoutBody) return new Response(null, { status, headers });
  if (isNoFinalStatus)
    throw new UpstreamFailed(`The MCP server ${server} answered with the status ${status}.`, {
      provider: 'mcp',
      upstreamStatus: status,
    });
  return new Response(boundedBody(body, options), { status, headers });
}
