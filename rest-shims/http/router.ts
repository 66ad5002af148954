import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { Caller } from '../../src/domain/caller.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { endWith, writeAnswer } from './answer-writer.ts';
import { BodyTimeout, NO_BODY, readBody, RequestAborted, SMALL_BODY_MS } from './body.ts';
import { requireCredential } from './credential.ts';
import { failureHead } from './failure-headers.ts';
import { type RenderedError, renderError, UNROUTED } from '../errors.ts';
import type { Incoming, Outgoing } from './outgoing.ts';
import type { RouteRow } from './route.ts';

/** What the router needs of the house around it. */
export interface RouterOptions {
  readonly rows: readonly RouteRow[];
  /** The caller behind a key; throws Unauthenticated, and LimitExceeded after too many wrong keys of one address. */
  readonly identify: (key: string, request: Incoming) => Caller | Promise<Caller>;
  readonly scopeFor: (caller: Caller | null, response: Outgoing) => Scope;
  /** Told of every failure once, by the door that answers it. */
  readonly failed: (failure: RequestFailure) => void;
  /** Most body bytes of rows whose limit a setting decides, by its name. */
  readonly bodyLimits: Readonly<Record<'setting' | 'otlp', number>>;
  /** How long a stream of events may be silent before it is sent a sign of life; 0 or absent sends none. */
  readonly heartbeatMs?: number;
  /** How long a client may leave a full socket unread before it is cut. */
  readonly stallMs?: number;
}

/** A failure as the log sees it. */
export interface RequestFailure {
  readonly row: RouteRow;
  readonly status: number;
  readonly error: unknown;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Serves the route rows: find, identify, read, run, write. Answers every request it is given. `refuse` answers one
 * without running its row.
 */
export function createRouter({
  rows,
  identify,
  scopeFor,
  failed,
  bodyLimits,
  heartbeatMs = 0,
  stallMs,
}: RouterOptions) {
  const tree = findMyWay({ ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 4096 });
  for (const row of rows) {
    for (const path of row.paths) tree.on(row.method, path, () => {}, row);
  }

  /** The tree gives up on a path whose percent signs decode to nothing; such a path is then taken literally. */
  const find = (method: HTTPMethod, path: string) =>
    tree.find(method, path) ?? (path.includes('%') ? tree.find(method, path.replaceAll('%', '%25')) : null);
  const allowedMethods = (path: string): string[] => METHODS.filter((method) => find(method, path) !== null);

  const limitOf = (row: RouteRow): number =>
    typeof row.bodyLimit === 'number' ? row.bodyLimit : bodyLimits[row.bodyLimit];

  /** Requests answered by `refuse`: a late answer or failure of their rows is dropped. */
  const refused = new WeakSet<Outgoing>();

  /** How long the body of a row may take to arrive; undefined for as long as the edge allows. Bodies without a key are small. */
  const bodyTimeOf = ({ bodyWithinMs, credential }: RouteRow): number | undefined =>
    bodyWithinMs ?? (credential === 'none' ? SMALL_BODY_MS : undefined);

  const rowOf = ({ method, url = '/' }: Incoming): RouteRow | null => {
    const found = find((method ?? 'GET') as HTTPMethod, url.split('?', 1)[0] ?? '/');
    return found === null ? null : (found.store as RouteRow);
  };

  /**
   * Answers a request with a failure in the form of its row, without running it; false when no row matches. The head of
   * the answer must not have been sent.
   */
  function refuse(request: Incoming, response: Outgoing, error: DomainError): boolean {
    const row = rowOf(request);
    if (row === null) return false;
    const rendered = renderError(row.surface, error, request.headers);
    failed({ row, status: rendered.status, error });
    refused.add(response);
    writeError(response, rendered, failureHead(row, { error, headers: request.headers, caller: null }));
    return true;
  }

  async function serve(request: Incoming, response: Outgoing): Promise<void> {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const found = find((request.method ?? 'GET') as HTTPMethod, path);
    if (found === null) return unrouted(response, allowedMethods(path));
    const row = found.store as RouteRow;
    // One function with its waits inside: a promise that is refused before anybody waits for it costs a refusal double.
    let caller: Caller | null = null;
    try {
      if (row.credential === 'required') {
        const inQuery = row.keyParameter === undefined ? null : queryKey(url, mark, row.keyParameter);
        const identified = identify(requireCredential(request.headers, inQuery), request);
        caller = identified instanceof Promise ? await identified : identified;
      }
      const read = row.method === 'GET' ? NO_BODY : readBody(request, limitOf(row), bodyTimeOf(row));
      const body = read instanceof Promise ? await read : read;
      const search = mark === -1 ? '' : url.slice(mark + 1);
      const { params } = found;
      const { headers } = request;
      const scope = scopeFor(caller, response);
      const answer = row.handle({ method: row.method, path, search, params, headers, body }, scope);
      const written = writeAnswer(response, answer instanceof Promise ? await answer : answer, heartbeatMs, stallMs);
      if (written) await written;
    } catch (error) {
      if (error instanceof RequestAborted || response.destroyed || refused.has(response)) return;
      const rendered = renderError(row.surface, error instanceof DomainError ? error : null, request.headers);
      failed({ row, status: rendered.status, error });
      if (response.headersSent) return void response.destroy();
      if (error instanceof BodyTimeout) response.shouldKeepAlive = false;
      writeError(response, rendered, failureHead(row, { error, headers: request.headers, caller }));
    }
  }

  return Object.assign(serve, { refuse });
}

const queryKey = (url: string, mark: number, parameter: string): string | null =>
  mark === -1 ? null : new URLSearchParams(url.slice(mark + 1)).get(parameter);

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
  endWith(response, body);
}

/** No row: 405 when the path exists for other methods, else 404. */
function unrouted(response: Outgoing, allow: readonly string[]): void {
  const { status, body } = allow.length > 0 ? UNROUTED.methodNotAllowed : UNROUTED.notFound;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...(allow.length > 0 ? { allow: allow.join(', ') } : {}),
    'content-type': 'application/json',
    'content-length': bytes.length,
  });
  response.end(bytes);
}
