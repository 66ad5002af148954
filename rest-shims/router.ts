import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { Caller } from '../src/domain/caller.ts';
import { DomainError } from '../src/domain/errors.ts';
import type { Scope } from '../resolvers/scope.ts';
import { endWith, writeAnswer } from './answer-writer.ts';
import { NO_BODY, readBody, RequestAborted } from './body.ts';
import { requireCredential } from './credential.ts';
import { failureHead } from './failure-head.ts';
import { type RenderedError, renderError, UNROUTED } from './errors.ts';
import type { Incoming, Outgoing } from './outgoing.ts';
import type { RouteRow } from './route.ts';

/** What the router needs of the house around it. */
export interface RouterOptions {
  readonly rows: readonly RouteRow[];
  /** The caller behind a key; throws Unauthenticated. */
  readonly identify: (key: string) => Caller | Promise<Caller>;
  readonly scopeFor: (caller: Caller | null, response: Outgoing) => Scope;
  /** Told of every failure once, by the door that answers it. */
  readonly failed: (failure: RequestFailure) => void;
  /** Most body bytes of rows whose limit a setting decides, by its name. */
  readonly bodyLimits: Readonly<Record<'setting' | 'otlp', number>>;
  /** How long a stream of events may be silent before it is sent a sign of life; 0 or absent sends none. */
  readonly heartbeatMs?: number;
}

/** A failure as the log sees it. */
export interface RequestFailure {
  readonly row: RouteRow;
  readonly status: number;
  readonly error: unknown;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Serves the route rows: find, identify, read, run, write. Answers every request it is given. */
export function createRouter({ rows, identify, scopeFor, failed, bodyLimits, heartbeatMs = 0 }: RouterOptions) {
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

  return async function serve(request: Incoming, response: Outgoing): Promise<void> {
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
        const identified = identify(requireCredential(request.headers, inQuery));
        caller = identified instanceof Promise ? await identified : identified;
      }
      const read = row.method === 'GET' ? NO_BODY : readBody(request, limitOf(row), row.bodyWithinMs);
      const body = read instanceof Promise ? await read : read;
      const search = mark === -1 ? '' : url.slice(mark + 1);
      const { params } = found;
      const { headers } = request;
      const scope = scopeFor(caller, response);
      const answer = row.handle({ method: row.method, path, search, params, headers, body }, scope);
      const written = writeAnswer(response, answer instanceof Promise ? await answer : answer, heartbeatMs);
      if (written) await written;
    } catch (error) {
      if (error instanceof RequestAborted || response.destroyed) return;
      const rendered = renderError(row.surface, error instanceof DomainError ? error : null, request.headers);
      failed({ row, status: rendered.status, error });
      if (response.headersSent) return void response.destroy();
      writeError(response, rendered, failureHead(row, { error, headers: request.headers, caller }));
    }
  };
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
