import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { assertRoute } from '../../../src/domain/keys/route-rights.ts';
import { type RenderedError, renderError } from '../../errors.ts';
import { renderFormedError } from './row-errors.ts';
import { endWithBody, writeAnswer } from './answer-writer.ts';
import { BodyTimeout, NO_BODY, readBody, RequestAborted, SMALL_BODY_TIMEOUT_MS } from './body.ts';
import { readCredential, requireCredential } from './credential.ts';
import { failureHeaders } from './failure-headers.ts';
import type { Incoming, Outgoing } from './outgoing.ts';
import { assignedRequestId } from './request-id.ts';
import { groupsOf } from './route-groups.ts';
import type { RouteFacts, RouteRow } from './route.ts';

export interface RowServerOptions {
  /**
   * Called before the credential is read, except for rows with `anyAddress`. Throws Forbidden for a client address that
   * is not allowed.
   */
  readonly admit?: (request: Incoming) => void;
  /**
   * Authenticates a key. Throws Unauthenticated, LimitExceeded after too many wrong keys from one address, and
   * Unavailable.
   */
  readonly identify: (key: string, request: Incoming) => Caller | Promise<Caller>;
  readonly scopeFor: (caller: Caller | null, response: Outgoing) => Scope;
  /** Runs a handler with the author of its changes, for the audit log; absent without an audit log. */
  readonly authored?: Authored;
  /** Called for every failure that is rendered, for the log. Not called for a request that the client aborts. */
  readonly failed: (failure: RequestFailure) => void;
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

/** Runs work with the caller as the author of its changes. */
export type Authored = <Result>(caller: Caller, headers: Incoming['headers'], work: () => Result) => Result;

/** A failed request, for the log. */
export interface RequestFailure {
  readonly row: RouteFacts;
  readonly status: number;
  readonly error: unknown;
  /** The `x-request-id` of the answer; null if none is assigned. */
  readonly requestId: string | null;
}

/** A request and the row that it matched. */
interface RowExchange {
  readonly row: RouteRow;
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly request: Incoming;
  readonly response: Outgoing;
}

/** Runs rows for requests of Koa's router and of the fast path. */
export interface RowServer {
  /**
   * Identifies the caller, reads the body, runs the row and writes its answer or its failure. Rejects only if writing
   * the failure fails.
   */
  serve(exchange: RowExchange): Promise<void>;
  /** Answers with a failure in the form of the row, without running it. A later answer of a running row is dropped. */
  refuse(exchange: Omit<RowExchange, 'params'>, error: DomainError): void;
}

export function createRowServer(options: RowServerOptions): RowServer {
  const { admit, identify, scopeFor, authored, failed, bodyLimits, heartbeatMs = 0, stallMs } = options;
  const parsesEagerly = options.jsonScan === false;
  const refused = new WeakSet<Outgoing>();

  const limitOf = (row: RouteRow): number =>
    typeof row.bodyLimit === 'number' ? row.bodyLimit : bodyLimits[row.bodyLimit];

  function callerOf(row: RouteRow, request: Incoming): Caller | Promise<Caller> | null {
    if (row.anyAddress !== true) admit?.(request);
    if (row.credential === 'none') return null;
    if (row.credential === 'offered') {
      const input = readCredential(request.headers);
      return input === null || input === '' ? null : identify(input, request);
    }
    const inQuery = row.keyParameter === undefined ? null : queryKey(request.url ?? '', row.keyParameter);
    return identify(requireCredential(request.headers, inQuery), request);
  }

  /** Answers with a failure. Closes the connection if the head of an answer is already sent. */
  function answerFailure(
    { row, request, response }: Omit<RowExchange, 'params'>,
    error: unknown,
    caller: Caller | null,
  ): void {
    const { headers } = request;
    const domainError = error instanceof DomainError ? error : null;
    const rendered =
      domainError !== null && row.failureForm !== undefined
        ? renderFormedError(row.failureForm, domainError, headers)
        : renderError(row.surface, domainError, headers);
    failed({ row, status: rendered.status, error, requestId: assignedRequestId(response) });
    if (response.headersSent) return void response.destroy();
    if (error instanceof BodyTimeout) response.shouldKeepAlive = false;
    writeError(response, rendered, failureHeaders(row, { error, headers, caller }));
  }

  return {
    async serve(exchange) {
      const { row, params, request, response } = exchange;
      // All awaits are in this function: each further async function that a rejection passes doubles the cost of a
      // refusal.
      let caller: Caller | null = null;
      try {
        const identified = callerOf(row, request);
        caller = identified instanceof Promise ? await identified : identified;
        const { path, search } = splitTarget(request.url ?? '/');
        if (caller !== null && row.credential === 'required') assertRoute(caller.key, { path, groups: groupsOf(row) });
        const reading = row.method === 'GET' ? NO_BODY : readBody(request, limitOf(row), bodyTimeout(row));
        const body = reading instanceof Promise ? await reading : reading;
        const scope = scopeFor(caller, response);
        const { method } = row;
        const httpRequest = { method, path, search, params, headers: request.headers, body, parsesEagerly };
        const answer =
          authored === undefined || caller === null || !mayChange(row)
            ? row.handle(httpRequest, scope)
            : authored(caller, request.headers, () => row.handle(httpRequest, scope));
        const writing = writeAnswer(response, answer instanceof Promise ? await answer : answer, heartbeatMs, stallMs);
        if (writing) await writing;
      } catch (error) {
        if (error instanceof RequestAborted || response.destroyed || refused.has(response)) return;
        answerFailure(exchange, error, caller);
      }
    },
    refuse(exchange, error) {
      refused.add(exchange.response);
      answerFailure(exchange, error, null);
    },
  };
}

/**
 * Whether a row may make changes that the audit log records. Hot rows do not: they call models, count tokens or forward
 * requests.
 */
const mayChange = ({ method, hot }: RouteRow): boolean => method !== 'GET' && hot !== true;

/** Upload deadline of the body of a row in ms; undefined for `requestTimeout` of the server. */
const bodyTimeout = ({ bodyTimeoutMs, credential }: RouteRow): number | undefined =>
  bodyTimeoutMs ?? (credential !== 'required' ? SMALL_BODY_TIMEOUT_MS : undefined);

function splitTarget(url: string): { readonly path: string; readonly search: string } {
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
