import { type ByteSink, type ByteStream, collect } from '../domain/bytes.ts';
import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { HttpClient, HttpMethod, UpstreamAnswer } from '../domain/http.ts';
import type { Secret } from '../domain/secret.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { decodedBody } from './decoded-body.ts';
import { errorAnswerFailure, transportFailure } from './failures.ts';
import { containsSecret, withoutSecrets } from './secrets.ts';

/** An HTTP request to an upstream. */
export interface UpstreamCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** An array holds pieces to send in order, so that large parts are not copied. */
  readonly body: Uint8Array | readonly Uint8Array[];
  /** Method. POST when absent. */
  readonly method?: HttpMethod;
  /** Credentials of this call besides those of the deployment, by name. Both are redacted. */
  readonly credentials?: Readonly<Record<string, Secret>>;
}

/** Maximum bytes of an error body, and of the answer of a token counter. */
export const MAX_SHORT_ANSWER_BYTES = 1024 * 1024;

interface CallTerms {
  readonly signal: AbortSignal;
  /** Whose share of the connections the call uses. */
  readonly owner: ModelRequest['owner'];
  /** Reads error bodies. */
  readonly errorOf: NativeDialect['errorOf'];
}

/**
 * Sends a call. Throws UpstreamFailed for a status other than 2xx or a missing answer, and InvalidInput for a refused
 * address.
 */
export async function sendCall(
  http: HttpClient,
  deployment: Deployment,
  { method = 'POST', url, headers: sentHeaders, body }: UpstreamCall,
  { signal, errorOf, owner = '' }: CallTerms,
): Promise<UpstreamAnswer> {
  const { timeoutSeconds, addressByCaller = false } = deployment;
  const options = { signal, headersTimeoutMs: timeoutSeconds * 1000, owner, chosenByCaller: addressByCaller };
  let received: UpstreamAnswer;
  try {
    received =
      body instanceof Uint8Array
        ? await http.post(url, sentHeaders, body, options)
        : await http.send(method, url, sentHeaders, body, options);
  } catch (error) {
    throw transportFailure(deployment, error);
  }
  const { status } = received;
  const headers = redactedHeaders(deployment, received.headers);
  const answer: UpstreamAnswer = headers === received.headers ? received : { status, headers, body: received.body };
  if (status >= 200 && status <= 299) return answer;
  const sentBody = await readBody(deployment, answer, MAX_SHORT_ANSWER_BYTES);
  const errorBody = sentBody && (await decodedBody(sentBody, answer.headers, MAX_SHORT_ANSWER_BYTES));
  throw errorAnswerFailure(deployment, { status, headers: answer.headers, body: errorBody }, errorOf);
}

/** Answer headers without secrets. Some upstreams repeat the credential of the request. */
function redactedHeaders(
  deployment: Deployment,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (!containsSecret(deployment, headers)) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withoutSecrets(deployment, value)]));
}

/** Reads a complete body. Null when it has more than `limit` bytes. Throws UpstreamFailed when it is truncated. */
export function readBody(deployment: Deployment, answer: UpstreamAnswer, limit: number): Promise<Uint8Array | null> {
  return collect(answer.body, limit).catch((error: unknown) => {
    throw transportFailure(deployment, error);
  });
}

/** The stream, with transport failures converted to UpstreamFailed. */
export function withUpstreamFailures(deployment: Deployment, body: ByteStream): ByteStream {
  return {
    pipe(sink: ByteSink) {
      body.pipe({
        chunk: (bytes) => sink.chunk(bytes),
        done: () => sink.done(),
        fail(error) {
          const failure = transportFailure(deployment, error);
          sink.fail(failure instanceof Error ? failure : error);
        },
      });
    },
    resume: () => body.resume(),
    cancel: () => body.cancel(),
  };
}
