import { type ByteSink, type ByteStream, collect } from '../domain/bytes.ts';
import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { HttpClient, HttpMethod, UpstreamAnswer } from '../domain/http.ts';
import type { Secret } from '../domain/secret.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { refusal, transportFailure } from './failures.ts';
import { tellsSecret, withoutSecrets } from './secrets.ts';

/** A request as a vendor gets it. */
export interface UpstreamCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In pieces where parts of it are large and not to be copied. */
  readonly body: Uint8Array | readonly Uint8Array[];
  /** POST when absent. */
  readonly method?: HttpMethod;
  /** What proves who calls, by name, where that is not the deployment's own: not to be shown either. */
  readonly credentials?: Readonly<Record<string, Secret>>;
}

/** Most bytes of an error's body that are read. */
export const ERROR_LIMIT = 1024 * 1024;

/** Sends a call. Throws UpstreamFailed for an answer whose status says no, and when none comes. */
export async function accepted(
  http: HttpClient,
  deployment: Deployment,
  call: UpstreamCall,
  { signal, errorOf, owner }: Terms & { readonly errorOf: NativeDialect['errorOf'] },
): Promise<UpstreamAnswer> {
  const answer = await sent(http, deployment, call, { signal, owner });
  if (answer.status >= 200 && answer.status <= 299) return answer;
  const { status, headers } = answer;
  throw refusal(deployment, { status, headers, body: await readBody(deployment, answer, ERROR_LIMIT) }, errorOf);
}

/** When a call ends, and by whose share of the connections it is sent. */
interface Terms {
  readonly signal: AbortSignal;
  readonly owner: ModelRequest['owner'];
}

async function sent(
  http: HttpClient,
  deployment: Deployment,
  { method = 'POST', url, headers, body }: UpstreamCall,
  { signal, owner = '' }: Terms,
): Promise<UpstreamAnswer> {
  const { timeoutSeconds, addressByCaller = false } = deployment;
  const options = { signal, headersTimeoutMs: timeoutSeconds * 1000, owner, chosenByCaller: addressByCaller };
  try {
    const answer =
      body instanceof Uint8Array
        ? await http.post(url, headers, body, options)
        : await http.send(method, url, headers, body, options);
    return { ...answer, headers: showable(deployment, answer.headers) };
  } catch (error) {
    throw transportFailure(deployment, error);
  }
}

/** Headers as callers may see them: some upstreams repeat the credential they were given. */
function showable(deployment: Deployment, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!tellsSecret(deployment, Object.values(headers))) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withoutSecrets(deployment, value)]));
}

/** Reads a body whole; null when it has more than `limit` bytes. */
export async function readBody(
  deployment: Deployment,
  answer: UpstreamAnswer,
  limit: number,
): Promise<Uint8Array | null> {
  try {
    return await collect(answer.body, limit);
  } catch (error) {
    throw transportFailure(deployment, error);
  }
}

/** The same stream, failing in the words callers know. */
export function inKnownWords(deployment: Deployment, body: ByteStream): ByteStream {
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
