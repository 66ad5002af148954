import type { IncomingHttpHeaders } from 'node:http';
import type { ByteStream } from '../../../src/domain/bytes.ts';
import type { Unauthenticated } from '../../../src/domain/errors.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { Surface } from '../../errors.ts';
import type { FailureForm } from './failure-form.ts';
import type { HeaderLines } from './header-lines.ts';
import type { JsonSchema } from './schema.ts';

/** A request with its complete body, as rows parse it. */
export interface HttpRequest {
  readonly method: string;
  /** Percent-encoded path as sent, without the query. */
  readonly path: string;
  /** Decoded path parameters and wildcards by name. Invalid percent-encoding stays as sent. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Raw query text, without the question mark. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty without a body. Not decompressed. */
  readonly body: Uint8Array;
  /** Parses every member of the body immediately (`src/wire/json/README.md`). */
  readonly parsesEagerly?: boolean;
  /** Why the key in `Authorization` is refused, on a row with the credential `tried`; null or absent otherwise. */
  readonly refusedKey?: Unauthenticated | null;
}

/** Body of an answer. */
export type HttpBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  | {
      readonly kind: 'stream';
      readonly stream: ByteStream;
      readonly contentType: string;
      /** Last bytes of a stream that fails after its status was sent. Null closes the connection. */
      readonly failureEvent: (failure: Error) => Uint8Array | null;
      /** Bytes that clients ignore, sent while the stream is idle; absent where the format has none. */
      readonly heartbeat?: Uint8Array;
    };

export interface HttpAnswer {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** More headers, as lines: cheaper than `headers`. */
  readonly headerLines?: HeaderLines;
  readonly body: HttpBody;
}

/** Answers with a JSON body. */
export function json(value: unknown, headers?: Readonly<Record<string, string>>): HttpAnswer {
  return headers ? { headers, body: { kind: 'json', value } } : { body: { kind: 'json', value } };
}

/** An answer without a body. */
export const emptyAnswer = (status: number): HttpAnswer => ({
  status,
  body: { kind: 'bytes', bytes: new Uint8Array(), contentType: 'text/plain' },
});

/** Facts of a route row: everything except its handler. */
export interface RouteFacts {
  /** Noun, dot, and a name of the route within the noun, such as `keys.list`; unique. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Equivalent paths in the notation of @koa/router. The first is the documented one. */
  readonly paths: readonly [string, ...string[]];
  /** Error contract. */
  readonly surface: Surface;
  /**
   * `none`: keys are not read; the access rule of the operation decides. `offered`: as `none`, but a caller with a key
   * is identified. `tried`: as `offered`, but a wrong key in `Authorization` is passed to the handler, because the
   * header may have a token for an upstream.
   */
  readonly credential: 'required' | 'offered' | 'tried' | 'none';
  /** Also serves client addresses that are not allowed: for probes, and for signed messages of other services. */
  readonly anyAddress?: true;
  /** Query parameter that may contain the key. Headers have precedence. */
  readonly keyParameter?: string;
  /** Statuses of answers that the row documents. Each has a contract test. */
  readonly statuses: readonly number[];
  /**
   * Which answers may have the status of an upstream. `answers`: all, relayed unchanged. `failures`: only failures, in
   * the form of the surface.
   */
  readonly relays?: 'answers' | 'failures';
  /** Form of failures, for a row whose failures differ from those of its surface. */
  readonly failureForm?: FailureForm;
  /** Schema of the query parameters that have an effect. */
  readonly querySchema?: JsonSchema;
  /** Schema of the headers that change the answer, without the credential. */
  readonly headerSchema?: JsonSchema;
  /** Schema of the body; absent for a row without one. */
  readonly bodySchema?: JsonSchema;
  /** Media type of the body; JSON when absent. */
  readonly bodyType?: 'multipart/form-data' | 'application/x-www-form-urlencoded';
  /** Maximum body size in bytes, as received. `setting`: `max_request_size_mb`; `otlp`: `OTLP_MAX_BODY_BYTES`. */
  readonly bodyLimit: number | 'setting' | 'otlp';
  /**
   * Upload deadline of the body in ms. When absent: `SMALL_BODY_TIMEOUT_MS` for rows that require no key, else that of
   * the server.
   */
  readonly bodyTimeoutMs?: number;
  /** Served by the fast path, without Koa, where the request allows it (`src/http/fast-path/README.md`). */
  readonly hot?: boolean;
}

/** One method and its paths, with the handler. */
export interface RouteRow extends RouteFacts {
  readonly handle: (request: HttpRequest, scope: Scope) => Promise<HttpAnswer> | HttpAnswer;
}

/** Creates a row that parses the request, runs one operation and renders its result. */
export function route<Input, Result>(
  row: RouteFacts & {
    readonly parse: (request: HttpRequest) => Input;
    readonly run: (scope: Scope, input: Input) => Promise<Result> | Result;
    readonly render: (result: Result, request: HttpRequest) => HttpAnswer;
  },
): RouteRow {
  const { parse, run, render, ...facts } = row;
  return {
    ...facts,
    async handle(request, scope) {
      return render(await run(scope, parse(request)), request);
    },
  };
}
