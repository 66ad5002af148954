import type { JsonObject } from '../domain/json-object.ts';
import type { ByteSink, ByteStream } from '../domain/bytes.ts';
import type { Exchange, Outcome } from '../domain/chat/chat.ts';
import type { AwsAccounts } from '../domain/chat/aws-accounts.ts';
import { CloudRefused, type CloudTokens } from '../domain/chat/cloud-tokens.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { type HttpClient, HttpFailure, type UpstreamAnswer } from '../domain/http.ts';
import { type Forwarded, type Forwarder, type IssuedTokens, LONGEST_ANSWER } from '../domain/pass-through/forwarded.ts';
import { Secret } from '../domain/secret.ts';
import { unparsedExchange } from '../wire/exchange.ts';
import { withMembers } from '../wire/json/members.ts';
import { signedHeaders } from './bedrock/sign.ts';
import type { AnswerReader } from './forwarded-readers.ts';
import { readerOf } from './forwarded-usage.ts';

/** Most redirects of one call that are followed. */
const MOST_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NO_BODY: readonly Uint8Array[] = [];

/** Sources of the identities that calls are signed with. */
interface Identities {
  /** Access tokens of Google Cloud. */
  readonly google: CloudTokens;
  readonly aws: AwsAccounts;
  /** Access tokens of other issuers. */
  readonly issued: IssuedTokens;
}

/** Creates the forwarder over an HTTP client. */
export function createForwarder(http: HttpClient, identities: Identities): Forwarder {
  return {
    async forward(received, signal) {
      const request = received.cloud === undefined ? received : await identified(received, identities);
      const ending = new AbortController();
      const deadline = setTimeout(() => ending.abort(tooLong(request)), request.timeoutSeconds * LONGEST_ANSWER * 1000);
      deadline.unref();
      // One controller for both costs less than a composite signal.
      const leave = (): void => ending.abort(signal.reason);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      const end = (): void => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', leave);
      };
      try {
        const answer = await followed(http, request, ending.signal);
        return exchangeOf(request, answer, end);
      } catch (error) {
        end();
        throw failureOf(request, error);
      }
    },
  };
}

/** The request with an access token, or with the keys of its account at Amazon. Throws UpstreamFailed. */
async function identified(request: Forwarded, { google, aws, issued }: Identities): Promise<Forwarded> {
  const { cloud, provider } = request;
  const bearing = (token: Secret): Forwarded => ({
    ...request,
    credentials: { authorization: new Secret(`Bearer ${token.reveal()}`) },
  });
  try {
    if (cloud?.kind === 'google') return bearing((await google.for(cloud.credentials)).token);
    if (cloud?.kind === 'issued') return bearing(await issued.for(cloud));
    if (cloud?.kind === 'aws' && cloud.keys === null)
      return { ...request, cloud: { ...cloud, keys: await aws.for(cloud.account) } };
    return request;
  } catch (cause) {
    if (!(cause instanceof CloudRefused)) throw cause;
    throw new UpstreamFailed(cause.message, { provider, upstreamStatus: null }, { cause });
  }
}

/** Sends a request, and again to another path of the same origin for each redirect of a GET. */
async function followed(http: HttpClient, request: Forwarded, signal: AbortSignal): Promise<UpstreamAnswer> {
  let url = request.url;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(http, { ...request, url }, signal);
    const next = redirects < MOST_REDIRECTS ? redirectOf(request, url, answer) : null;
    if (next === null) return answer;
    answer.body.cancel();
    url = next;
  }
}

/** Address that an answer redirects to; null when it is not followed. Credentials stay at their origin. */
function redirectOf({ method }: Forwarded, url: string, { status, headers }: UpstreamAnswer): string | null {
  const { location } = headers;
  if (method !== 'GET' || !REDIRECTS.has(status) || location === undefined) return null;
  const next = URL.parse(location, url);
  if (next === null || next.origin !== new URL(url).origin || next.username !== '' || next.password !== '') return null;
  next.hash = '';
  return next.href;
}

async function send(http: HttpClient, request: Forwarded, signal: AbortSignal): Promise<UpstreamAnswer> {
  const { method, url, credentials, replaced: members, timeoutSeconds, owner = '' } = request;
  const replaced = new Set(Object.keys(credentials).map((name) => name.toLowerCase()));
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !replaced.has(name.toLowerCase())),
  );
  for (const [name, value] of Object.entries(credentials)) headers[name] = value.reveal();
  const body = members === undefined ? request.body : withMembers(request.body, asTexts(members));
  const pieces = body.length === 0 ? NO_BODY : [body];
  const { cloud } = request;
  const sent =
    cloud?.kind === 'aws' && cloud.keys !== null
      ? await signedHeaders({ method, url, headers, body }, cloud.keys, { ...cloud, at: new Date() })
      : headers;
  return await http.send(method, url, sent, pieces, { signal, headersTimeoutMs: timeoutSeconds * 1000, owner });
}

const asTexts = (members: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));

function exchangeOf(request: Forwarded, answer: UpstreamAnswer, end: () => void): Exchange {
  const { status } = answer;
  const headers = withoutCredentials(request, answer.headers);
  if (Number(headers['content-length'] ?? 0) > request.answerLimit) {
    answer.body.cancel();
    throw tooLarge(request);
  }
  const isError = status >= 400;
  const reader = isError ? null : readerOf(request, headers);
  const bytes = boundedBytes(request, answer.body, { reader, end });
  const plain = unparsedExchange({ status, headers }, bytes, undefined);
  if (isError) return { ...plain, outcome: () => ({ ...plain.outcome(), failure: refusalOf(status) }) };
  return reader === null ? plain : { ...plain, streaming: true, outcome: () => reader.outcome() ?? plain.outcome() };
}

const refusalOf = (status: number): NonNullable<Outcome['failure']> => ({
  message: `The upstream answered with status ${status}.`,
  code: String(status),
});

/** Some upstreams repeat the credential of the request in a header. */
function withoutCredentials(
  { credentials }: Forwarded,
  headers: UpstreamAnswer['headers'],
): Readonly<Record<string, string>> {
  const secrets = Object.values(credentials)
    .map((secret) => secret.reveal())
    .filter((secret) => secret !== '');
  if (!Object.values(headers).some((value) => secrets.some((secret) => value.includes(secret)))) return headers;
  const redacted = (value: string): string =>
    secrets.reduce((text, secret) => text.replaceAll(secret, '<secret>'), value);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redacted(value)]));
}

/** The body of an answer, up to its limit. The reader sees every chunk that is forwarded. */
function boundedBytes(
  request: Forwarded,
  body: ByteStream,
  { reader, end }: { readonly reader: AnswerReader | null; readonly end: () => void },
): ByteStream {
  let size = 0;
  let over = false;
  const fail = (sink: ByteSink, error: Error): void => {
    if (over) return;
    over = true;
    end();
    const failure = failureOf(request, error);
    sink.fail(failure instanceof Error ? failure : error);
  };
  return {
    pipe(sink) {
      body.pipe({
        chunk(bytes) {
          if (over) return false;
          size += bytes.length;
          if (size > request.answerLimit) {
            body.cancel();
            fail(sink, tooLarge(request));
            return false;
          }
          reader?.add(bytes);
          return sink.chunk(bytes);
        },
        done() {
          if (over) return;
          over = true;
          end();
          reader?.end();
          sink.done();
        },
        fail: (error) => fail(sink, error),
      });
    },
    resume: () => body.resume(),
    cancel(failure) {
      end();
      body.cancel(failure);
    },
  };
}

const failed = ({ provider }: Forwarded, message: string, about: Partial<UpstreamFailed> = {}): UpstreamFailed =>
  new UpstreamFailed(message, { provider, upstreamStatus: null, timedOut: about.timedOut ?? false });

const tooLong = (request: Forwarded): UpstreamFailed =>
  failed(request, `The answer was not complete within ${request.timeoutSeconds * LONGEST_ANSWER} seconds.`, {
    timedOut: true,
  });

const tooLarge = (request: Forwarded): UpstreamFailed =>
  failed(request, `The answer has more than ${request.answerLimit} bytes.`);

/** Transport failures as failures of the upstream; other errors as they are. */
function failureOf({ provider }: Forwarded, error: unknown): unknown {
  if (!(error instanceof HttpFailure)) return error;
  const timedOut = error.fault === 'timeout';
  return new UpstreamFailed(error.message, { provider, upstreamStatus: null, timedOut }, { cause: error });
}
