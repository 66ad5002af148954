import type { IncomingHttpHeaders } from 'node:http';
import type { ByteStream } from '../../../src/domain/bytes.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { Surface } from '../../errors.ts';
import type { FailureForm } from './failure-form.ts';
import type { HeaderLines } from './header-lines.ts';
import type { JsonSchema } from './schema.ts';

/** A request as a row parses it, with its whole body, within the limit of the row. */
export interface HttpRequest {
  readonly method: string;
  /** Path as it was sent, still encoded, without the query. */
  readonly path: string;
  /** Decoded path parameters and wildcards by name; text that cannot be decoded stays encoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Raw query text, without the question mark. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty when there was no body. Not inflated. */
  readonly body: Uint8Array;
  /** Parses every member of the body at once (`src/wire/json/README.md`). */
  readonly parsesWhole?: boolean;
}

/** How an answer's body is carried. */
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
  /** Further headers as lines: the cheapest form, for hot rows. */
  readonly head?: HeaderLines;
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
  /** Equivalent paths in the notation of @koa/router; the first without its /v1 prefix names the call everywhere. */
  readonly paths: readonly [string, ...string[]];
  /** The error contract this row answers by. */
  readonly surface: Surface;
  readonly category: Category | null;
  /**
   * `none` lets anonymous callers reach the operation; its access rule still decides. `offered` does so, too, but identifies the
   * caller where a key is sent.
   */
  readonly credential: 'required' | 'offered' | 'none';
  /** Serves addresses that are not on the list of allowed ones: probes, and signed messages of other services. */
  readonly anyAddress?: true;
  /** Query parameter that may carry the key where no header does. */
  readonly keyParameter?: string;
  /** Every status the row promises; each has a contract test. */
  readonly answers: readonly number[];
  /** What is relayed from an upstream with its status: every answer, or failures in the form of the surface. */
  readonly relays?: 'answers' | 'failures';
  /** Form of failures, where the surface has several. */
  readonly failures?: FailureForm;
  /** Query parameters, as an object; those that a row ignores are not named. */
  readonly query?: JsonSchema;
  /** Headers that change the answer, beside the credential, as an object. */
  readonly headers?: JsonSchema;
  /** Body as JSON, where it has one. */
  readonly request?: JsonSchema;
  /** Media type of that body; JSON when absent. */
  readonly requestType?: 'multipart/form-data' | 'application/x-www-form-urlencoded';
  /** Most bytes of body that are read, as received; `setting` is `max_request_size_mb`, `otlp` `OTLP_MAX_BODY_BYTES`. */
  readonly bodyLimit: number | 'setting' | 'otlp';
  /** How long the body may take to arrive, in ms; the limit of the server when absent. */
  readonly bodyWithinMs?: number;
  /** Carries most of the traffic: plain requests take the fast path past Koa (`src/http/fast-path/README.md`). */
  readonly hot?: boolean;
}

/** One documented method and its paths, as data. */
export interface RouteRow extends RouteFacts {
  readonly handle: (request: HttpRequest, scope: Scope) => Promise<HttpAnswer> | HttpAnswer;
}

/** A row of three parts: parse the request, run one operation, render its result. */
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
