import type { IncomingHttpHeaders } from 'node:http';
import type { ByteStream } from '../../src/domain/bytes.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import type { Surface } from '../errors.ts';

/** A request as a parser sees it: read whole, within the row's limit, and nothing decided yet. */
export interface HttpRequest {
  readonly method: string;
  /** Path as it was sent, still encoded, without the query. */
  readonly path: string;
  /** Decoded path parameters; the tail of a `/*` pattern is named `*`. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Raw query text, without the question mark. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty when there was no body. Not inflated. */
  readonly body: Uint8Array;
}

/** How an answer's body is carried. */
export type HttpBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  | {
      readonly kind: 'stream';
      readonly stream: ByteStream;
      readonly contentType: string;
      /** Told once how the stream ended; `abandoned` when the client left. */
      readonly ended: (end: 'completed' | 'failed' | 'abandoned', failure?: Error) => void;
      /** Last bytes for a stream that fails after its head went out; the status is spent by then. Null breaks it off. */
      readonly lastWords: (failure: Error) => Uint8Array | null;
      /**
       * What may be said between any two chunks of the stream while it is silent, and means nothing; absent where its
       * readers know no such thing.
       */
      readonly heartbeat?: Uint8Array;
    };

export interface HttpAnswer {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further headers, names and values in turn: the form that costs least, for rows that carry the traffic. */
  readonly head?: readonly string[];
  readonly body: HttpBody;
}

/** Answers with a JSON body. */
export function json(value: unknown, headers?: Readonly<Record<string, string>>): HttpAnswer {
  return headers ? { headers, body: { kind: 'json', value } } : { body: { kind: 'json', value } };
}

/** Which activity a call counts as; null is not counted. */
type Category = 'llm' | 'mcp' | 'a2a';

export interface RouteFacts {
  /** `noun.verb`, unique. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Equivalent paths in find-my-way's notation; the first without its /v1 prefix names the call everywhere. */
  readonly paths: readonly [string, ...string[]];
  /** The error contract this row answers by. */
  readonly surface: Surface;
  readonly category: Category | null;
  /** `none` lets anonymous callers reach the operation; its access rule still decides. */
  readonly credential: 'required' | 'none';
  /** Query parameter that may carry the key where no header does. */
  readonly keyParameter?: string;
  /** Every status the row promises; each has a contract test. */
  readonly answers: readonly number[];
  /** Most bytes of body that are read, as received; `setting` is `max_request_size_mb`, `otlp` `OTLP_MAX_BODY_BYTES`. */
  readonly bodyLimit: number | 'setting' | 'otlp';
  /** Longest the body may take to come; later it is not waited for. As long as the edge allows when absent. */
  readonly bodyWithinMs?: number;
  /** Carries the traffic: served without the framework at the edge (ADR 0018). */
  readonly hot?: boolean;
}

/** One documented method and its paths, as data. */
export interface RouteRow extends RouteFacts {
  readonly handle: (request: HttpRequest, scope: Scope) => Promise<HttpAnswer> | HttpAnswer;
}

/** A row from its three parts: parse what came, run one operation, render what it gave. */
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
