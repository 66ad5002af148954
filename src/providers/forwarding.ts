import type { JsonObject } from '../domain/json-object.ts';
import { type ByteSink, type ByteStream, collect, streamOfBytes } from '../domain/bytes.ts';
import type { Exchange, Outcome } from '../domain/chat/chat.ts';
import type { AwsAccounts } from '../domain/chat/aws-accounts.ts';
import { CloudRefused, type CloudTokens } from '../domain/chat/cloud-tokens.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { type HttpClient, HttpFailure, type UpstreamAnswer } from '../domain/http.ts';
import {
  type Forwarded,
  type Forwarder,
  type IssuedTokens,
  MAX_ANSWER_TIME_FACTOR,
} from '../domain/pass-through/forwarded.ts';
import { Secret } from '../domain/secret.ts';
import { unparsedExchange } from '../wire/exchange.ts';
import { withMembers } from '../wire/json/members.ts';
import { signedHeaders } from './bedrock/sign.ts';
import { decodedBody, encodingsOf } from './decoded-body.ts';
import type { UsageReader } from './forwarded-readers.ts';
import { withoutSecretTexts } from '../domain/secret-texts.ts';
import { credentialTexts, redactedBytes } from './redacted-bytes.ts';
import { createUsageReader } from './forwarded-usage.ts';

/** Maximum number of redirects of one call. */
const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NO_BODY: readonly Uint8Array[] = [];

/** Sources of cloud credentials. */
interface CredentialSources {
  /** Access tokens of Google Cloud. */
  readonly google: CloudTokens;
  readonly aws: AwsAccounts;
  /** Access tokens of other issuers. */
  readonly issued: IssuedTokens;
}

/** Creates the forwarder over an HTTP client. */
export function createForwarder(http: HttpClient, sources: CredentialSources): Forwarder {
  return {
    async forward(original, signal) {
      const request = original.cloud === undefined ? original : await withCloudCredentials(original, sources);
      const controller = new AbortController();
      const deadline = setTimeout(
        () => controller.abort(answerTimedOut(request)),
        request.timeoutSeconds * MAX_ANSWER_TIME_FACTOR * 1000,
      );
      deadline.unref();
      // One controller for deadline and caller costs less than AbortSignal.any.
      const abort = (): void => controller.abort(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
      const release = (): void => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', abort);
      };
      try {
        const answer = await sendFollowingRedirects(http, request, controller.signal);
        return await exchangeOf(request, answer, release);
      } catch (error) {
        release();
        throw failureOf(request, error);
      }
    },
  };
}

/** The request with its access token or AWS keys. Throws UpstreamFailed when the cloud refuses them. */
async function withCloudCredentials(
  request: Forwarded,
  { google, aws, issued }: CredentialSources,
): Promise<Forwarded> {
  const { cloud, provider } = request;
  const withToken = (token: Secret): Forwarded => ({
    ...request,
    credentials: { authorization: new Secret(`Bearer ${token.reveal()}`) },
  });
  try {
    if (cloud?.kind === 'google') return withToken((await google.for(cloud.credentials)).token);
    if (cloud?.kind === 'issued') return withToken(await issued.for(cloud));
    if (cloud?.kind === 'aws' && cloud.keys === null)
      return { ...request, cloud: { ...cloud, keys: await aws.for(cloud.account) } };
    return request;
  } catch (cause) {
    if (!(cause instanceof CloudRefused)) throw cause;
    throw new UpstreamFailed(cause.message, { provider, upstreamStatus: null }, { cause });
  }
}

/** Sends a request. Follows redirects of a GET within the same origin. */
async function sendFollowingRedirects(
  http: HttpClient,
  request: Forwarded,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  let url = request.url;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(http, { ...request, url }, signal);
    const next = redirects < MAX_REDIRECTS ? redirectOf(request, url, answer) : null;
    if (next === null) return answer;
    answer.body.cancel();
    url = next;
  }
}

/** Address that an answer redirects to. Null when it is not followed: credentials must not leave their origin. */
function redirectOf({ method }: Forwarded, url: string, { status, headers }: UpstreamAnswer): string | null {
  const { location } = headers;
  if (method !== 'GET' || !REDIRECT_STATUSES.has(status) || location === undefined) return null;
  const next = URL.parse(location, url);
  if (next === null || next.origin !== new URL(url).origin || next.username !== '' || next.password !== '') return null;
  next.hash = '';
  return next.href;
}

async function send(http: HttpClient, request: Forwarded, signal: AbortSignal): Promise<UpstreamAnswer> {
  const { method, url, credentials, replaced, timeoutSeconds, owner = '' } = request;
  const credentialNames = new Set(Object.keys(credentials).map((name) => name.toLowerCase()));
  const headers = Object.fromEntries([
    ...Object.entries(request.headers).filter(([name]) => !credentialNames.has(name.toLowerCase())),
    ...Object.entries(credentials).map(([name, value]) => [name, value.reveal()] as const),
  ]);
  const body = replaced === undefined ? request.body : withMembers(request.body, asJsonTexts(replaced));
  const pieces = body.length === 0 ? NO_BODY : [body];
  const { cloud } = request;
  const sentHeaders =
    cloud?.kind === 'aws' && cloud.keys !== null
      ? await signedHeaders({ method, url, headers, body }, cloud.keys, { ...cloud, at: new Date() })
      : headers;
  return await http.send(method, url, sentHeaders, pieces, { signal, headersTimeoutMs: timeoutSeconds * 1000, owner });
}

const asJsonTexts = (members: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));

async function exchangeOf(request: Forwarded, answer: UpstreamAnswer, release: () => void): Promise<Exchange> {
  const { status } = answer;
  const secrets = credentialTexts(request);
  const headers = withoutCredentials(answer.headers, secrets);
  if (Number(headers['content-length'] ?? 0) > request.answerLimit) {
    answer.body.cancel();
    throw answerTooLarge(request);
  }
  const isError = status >= 400;
  const reader = isError ? null : createUsageReader(request, headers);
  const bytes = boundedBytes(request, answer.body, { reader, release });
  if (isError) {
    // Some upstreams repeat the key in the message of an error.
    const isCompressed = secrets.length > 0 && encodingsOf(headers).length > 0;
    const readable = isCompressed ? await readableError(bytes, { status, headers }) : { headers, bytes };
    const redacted = redactedBytes(readable.bytes, secrets);
    const ofError = redacted === bytes ? headers : withoutLength(readable.headers);
    const failed = unparsedExchange({ status, headers: ofError }, redacted, undefined);
    return { ...failed, outcome: () => ({ ...failed.outcome(), failure: statusFailure(status) }) };
  }
  const plain = unparsedExchange({ status, headers }, bytes, undefined);
  return reader === null ? plain : { ...plain, streaming: true, outcome: () => reader.outcome() ?? plain.outcome() };
}

/** Maximum size of a compressed error body, and of its text, in bytes. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** The decompressed body of an error. A body that cannot be decompressed is replaced by a message. */
async function readableError(
  bytes: ByteStream,
  { status, headers }: Pick<UpstreamAnswer, 'status' | 'headers'>,
): Promise<Pick<UpstreamAnswer, 'headers'> & { readonly bytes: ByteStream }> {
  const compressed = await collect(bytes, MAX_ERROR_BYTES);
  const text = compressed && (await decodedBody(compressed, headers, MAX_ERROR_BYTES));
  const { 'content-encoding': _encoding, ...plain } = headers;
  if (text !== null) return { headers: plain, bytes: streamOfBytes(text) };
  const message = `The upstream answered with status ${status}. Its compressed body is left out: it cannot be checked for credentials.`;
  const replaced = Buffer.from(JSON.stringify({ error: { message } }));
  return { headers: { ...plain, 'content-type': 'application/json' }, bytes: streamOfBytes(replaced) };
}

const statusFailure = (status: number): NonNullable<Outcome['failure']> => ({
  message: `The upstream answered with status ${status}.`,
  code: String(status),
});

/** Answer headers without the credentials of the request. Some upstreams repeat them. */
function withoutCredentials(
  headers: UpstreamAnswer['headers'],
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  // With a backslash, a value may have a secret in a form that JSON escapes.
  const mayHaveSecret = (value: string): boolean => value.includes('\\') || secrets.some((one) => value.includes(one));
  if (!Object.values(headers).some(mayHaveSecret)) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withoutSecretTexts(value, secrets)]));
}

/** Headers of a body whose length is not known. */
const withoutLength = ({
  'content-length': _length,
  ...headers
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> => headers;

/**
 * The body of an answer. Fails above the answer limit. Passes every forwarded chunk to the reader. Calls `release` when
 * the body ends, fails or is cancelled.
 */
function boundedBytes(
  request: Forwarded,
  body: ByteStream,
  { reader, release }: { readonly reader: UsageReader | null; readonly release: () => void },
): ByteStream {
  let size = 0;
  let ended = false;
  const fail = (sink: ByteSink, error: Error): void => {
    if (ended) return;
    ended = true;
    release();
    const failure = failureOf(request, error);
    sink.fail(failure instanceof Error ? failure : error);
  };
  return {
    pipe(sink) {
      body.pipe({
        chunk(bytes) {
          if (ended) return false;
          size += bytes.length;
          if (size > request.answerLimit) {
            body.cancel();
            fail(sink, answerTooLarge(request));
            return false;
          }
          reader?.add(bytes);
          return sink.chunk(bytes);
        },
        done() {
          if (ended) return;
          ended = true;
          release();
          reader?.end();
          sink.done();
        },
        fail: (error) => fail(sink, error),
      });
    },
    resume: () => body.resume(),
    cancel(failure) {
      release();
      body.cancel(failure);
    },
  };
}

function answerTimedOut({ provider, timeoutSeconds }: Forwarded): UpstreamFailed {
  const message = `The answer was not complete within ${timeoutSeconds * MAX_ANSWER_TIME_FACTOR} seconds.`;
  return new UpstreamFailed(message, { provider, upstreamStatus: null, timedOut: true });
}

function answerTooLarge({ provider, answerLimit }: Forwarded): UpstreamFailed {
  const message = `The answer has more than ${answerLimit} bytes.`;
  return new UpstreamFailed(message, { provider, upstreamStatus: null, timedOut: false });
}

/** Converts a transport failure to UpstreamFailed. Returns other errors unchanged. */
function failureOf({ provider }: Forwarded, error: unknown): unknown {
  if (!(error instanceof HttpFailure)) return error;
  const timedOut = error.fault === 'timeout';
  return new UpstreamFailed(error.message, { provider, upstreamStatus: null, timedOut }, { cause: error });
}
