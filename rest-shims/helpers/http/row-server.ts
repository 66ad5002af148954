import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { DomainError, Unauthenticated } from '../../../src/domain/errors.ts';
import { assertRoute } from '../../../src/domain/keys/route-rights.ts';
import { type RenderedError, renderError } from '../../errors.ts';
import { renderFormedError } from './row-errors.ts';
import { endWithBody, writeAnswer } from './answer-writer.ts';
import { BodyTimeout, NO_BODY, readBody, RequestAborted, SMALL_BODY_TIMEOUT_MS } from './body.ts';
import { hasGatewayHeader, readCredential, requireCredential } from './credential.ts';
import { failureHeaders } from './failure-headers.ts';
import type { Incoming, Outgoing } from './outgoing.ts';
import { assignedRequestId } from './request-id.ts';
import { groupsOf } from './route-groups.ts';
import type { HttpAnswer, HttpRequest, RouteFacts, RouteRow } from './route.ts';

export interface RowServerOptions {
  /**
   * Called before the credential is read, except for rows with `anyAddress`. Throws Forbidden for a client address that
   * is not allowed.
   */
  readonly admit?: (request: Incoming) => void;
  /**
   * Authenticates a key. Throws Unauthenticated, LimitExceeded after too many wrong keys from one address, and
   * Unavailable. Without a request, a wrong key is not counted.
   */
  readonly identify: (key: string, request?: Incoming) => Caller | Promise<Caller>;
  readonly scopeFor: (caller: Caller | null, response: Outgoing) => Scope;
  /** Absent without an audit log. */
  readonly withAuthor?: RunWithAuthor;
  /** Called for every failure that is rendered, for the log. Not called for a request that the client aborts. */
  readonly onFailure: (failure: RequestFailure) => void;
  /** Body limits in bytes of rows whose `bodyLimit` is a setting. */
  readonly bodyLimits: Readonly<Record<'setting' | 'otlp', number>>;
  /** False parses every member of a body immediately (`src/wire/json/README.md`). */
  readonly jsonScan?: boolean;
  /** Interval of heartbeats on idle event streams, in ms; 0 or absent sends none. */
  readonly heartbeatMs?: number;
  /**
   * Time in ms after which a client is disconnected if its full socket does not drain; `STALL_TIMEOUT_MS` when absent.
   */
  readonly stallMs?: number;
}

/** Runs work with the caller as the author of its changes, for the audit log. */
export type RunWithAuthor = <Result>(caller: Caller, headers: Incoming['headers'], work: () => Result) => Result;

/** A failed request, for the log. */
export interface RequestFailure {
  readonly row: RouteFacts;
  readonly status: number;
  readonly error: unknown;
  /** The `x-request-id` of the answer; null if none is assigned. */
  readonly requestId: string | null;
}

/** A request and the row that it matched. */
interface MatchedRequest {
  readonly row: RouteRow;
  readonly request: Incoming;
  readonly response: Outgoing;
}

/** A request that its row serves. */
export interface RowExchange extends MatchedRequest {
  readonly params: HttpRequest['params'];
}

/**
 * Steps of every row, in the order of their calls. On the fast path `serveRow` calls them, on Koa the middleware of
 * `row-middleware.ts`. A step that throws or rejects ends the request with `fail`.
 */
export interface RowSteps {
  /** Throws Forbidden for a client address that is not allowed. */
  admit(exchange: RowExchange): void;
  /** Authenticates the caller of a row that reads a key. Throws as `identify` of the options. */
  identify(exchange: RowExchange): Caller | Promise<Caller | null> | null;
  /** Throws Forbidden if the caller's key may not call the route. */
  authorize(exchange: RowExchange, caller: Caller | null): void;
  /** Reads the body, up to the limit of the row. Throws and rejects as `readBody` in `body.ts`. */
  readBody(exchange: RowExchange): Uint8Array | Promise<Uint8Array>;
  /** Runs the handler, with the caller as the author of its changes. */
  handle(exchange: RowExchange, caller: Caller | null, body: Uint8Array): HttpAnswer | Promise<HttpAnswer>;
  /**
   * Writes the answer. The promise for a stream resolves when its last byte is written. The answer of a refused request
   * is dropped: its stream is cancelled.
   */
  write(exchange: RowExchange, answer: HttpAnswer): void | Promise<void>;
  /**
   * Answers with a failure in the form of the row. Does nothing for an aborted or refused request. Closes the
   * connection if the head of an answer is already sent. Throws if writing fails.
   */
  fail(exchange: RowExchange, error: unknown, caller: Caller | null): void;
  /** Answers with a failure in the form of the row, without running it. A later answer of a running row is dropped. */
  refuse(matched: MatchedRequest, error: DomainError): void;
}

/** Start of virtual keys. */
const KEY_PREFIX = 'sk-';

export function createRowSteps(options: RowServerOptions): RowSteps {
  const { admit, identify, scopeFor, withAuthor, onFailure, bodyLimits, heartbeatMs = 0, stallMs } = options;
  const parsesEagerly = options.jsonScan === false;
  /** The failures with which requests were refused. */
  const refused = new WeakMap<Outgoing, DomainError>();
  /** Why the keys of requests are refused, for rows with the credential `tried`. */
  const refusedKeys = new WeakMap<Incoming, Unauthenticated>();

  const limitOf = (row: RouteRow): number =>
    typeof row.bodyLimit === 'number' ? row.bodyLimit : bodyLimits[row.bodyLimit];

  /** Returns null for a wrong key in `Authorization`, and keeps the reason for the handler. */
  function tryKey(request: Incoming): Caller | Promise<Caller | null> | null {
    const keepReason = (error: unknown): null => {
      if (!(error instanceof Unauthenticated) || hasGatewayHeader(request.headers)) throw error;
      refusedKeys.set(request, error);
      return null;
    };
    try {
      const input = readCredential(request.headers);
      if (input === null || input === '') return null;
      // A token for an upstream is no wrong key of its address.
      const identified = identify(input, input.startsWith(KEY_PREFIX) ? request : undefined);
      return identified instanceof Promise ? identified.catch(keepReason) : identified;
    } catch (error) {
      return keepReason(error);
    }
  }

  function answerFailure({ row, request, response }: MatchedRequest, error: unknown, caller: Caller | null): void {
    const { headers } = request;
    const domainError = error instanceof DomainError ? error : null;
    const rendered =
      domainError !== null && row.failureForm !== undefined
        ? renderFormedError(row.failureForm, domainError, headers)
        : renderError(row.surface, domainError, headers);
    onFailure({ row, status: rendered.status, error, requestId: assignedRequestId(response) });
    if (response.headersSent) return void response.destroy();
    if (error instanceof BodyTimeout) response.shouldKeepAlive = false;
    writeError(response, rendered, failureHeaders(row, { error, headers, caller }));
  }

  return {
    admit({ row, request }) {
      if (row.anyAddress !== true) admit?.(request);
    },
    identify({ row, request }) {
      if (row.credential === 'none') return null;
      if (row.credential === 'tried') return tryKey(request);
      if (row.credential === 'offered') {
        const input = readCredential(request.headers);
        return input === null || input === '' ? null : identify(input, request);
      }
      const inQuery = row.keyParameter === undefined ? null : queryKey(request.url ?? '', row.keyParameter);
      return identify(requireCredential(request.headers, inQuery), request);
    },
    authorize({ row, request }, caller) {
      if (caller === null || (row.credential !== 'required' && row.credential !== 'tried')) return;
      assertRoute(caller.key, { path: splitTarget(request.url).path, groups: groupsOf(row) });
    },
    readBody: ({ row, request }) =>
      row.method === 'GET' ? NO_BODY : readBody(request, limitOf(row), bodyTimeout(row)),
    handle({ row, params, request, response }, caller, body) {
      const scope = scopeFor(caller, response);
      const { method } = row;
      const { headers } = request;
      const common = { method, ...splitTarget(request.url), params, headers, body, parsesEagerly };
      const refusedKey = row.credential === 'tried' ? (refusedKeys.get(request) ?? null) : null;
      const httpRequest = refusedKey === null ? common : { ...common, refusedKey };
      const isAudited = withAuthor !== undefined && caller !== null && mayChange(row);
      return isAudited
        ? withAuthor(caller, headers, () => row.handle(httpRequest, scope))
        : row.handle(httpRequest, scope);
    },
    write({ response }, answer) {
      const refusal = refused.get(response);
      if (refusal === undefined) return writeAnswer(response, answer, heartbeatMs, stallMs);
      // Frees the upstream connection.
      if (answer.body.kind === 'stream') answer.body.stream.cancel(refusal);
      return undefined;
    },
    fail(exchange, error, caller) {
      const { response } = exchange;
      if (error instanceof RequestAborted || response.destroyed || refused.has(response)) return;
      answerFailure(exchange, error, caller);
    },
    refuse(matched, error) {
      refused.set(matched.response, error);
      answerFailure(matched, error, null);
    },
  };
}

/**
 * Runs a row for the fast path. All awaits are in this function: each further async function that a rejection passes
 * doubles the cost of a refusal. Rejects only if writing the failure fails.
 */
export async function serveRow(steps: RowSteps, exchange: RowExchange): Promise<void> {
  let caller: Caller | null = null;
  try {
    steps.admit(exchange);
    const identified = steps.identify(exchange);
    caller = identified instanceof Promise ? await identified : identified;
    steps.authorize(exchange, caller);
    const reading = steps.readBody(exchange);
    const answer = steps.handle(exchange, caller, reading instanceof Promise ? await reading : reading);
    const writing = steps.write(exchange, answer instanceof Promise ? await answer : answer);
    if (writing) await writing;
  } catch (error) {
    steps.fail(exchange, error, caller);
  }
}

/**
 * Whether a row may make changes that the audit log records. Hot rows do not: they call models, count tokens, forward
 * requests or store spans.
 */
const mayChange = ({ method, hot }: RouteRow): boolean => method !== 'GET' && hot !== true;

/** Upload deadline of the body of a row in ms; undefined for `requestTimeout` of the server. */
const bodyTimeout = ({ bodyTimeoutMs, credential }: RouteRow): number | undefined =>
  bodyTimeoutMs ?? (credential === 'required' ? undefined : SMALL_BODY_TIMEOUT_MS);

function splitTarget(url = '/'): { readonly path: string; readonly search: string } {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) };
}

const queryKey = (url: string, parameter: string): string | null =>
  new URLSearchParams(splitTarget(url).search).get(parameter);

function writeError(
  response: Outgoing,
  { status, headers, contentType, body }: RenderedError,
  head: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    ...head,
    ...headers,
    'content-type': contentType,
    'content-length': body.length,
  });
  endWithBody(response, body);
}
