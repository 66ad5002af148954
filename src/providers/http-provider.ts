import { speechEvents } from '../wire/media/speech.ts';
import { afterFirstChunk } from '../domain/first-chunk.ts';
import type { ByteStream } from '../domain/bytes.ts';
import type { Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { HttpClient, UpstreamAnswer } from '../domain/http.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import { billedQuantityOf } from '../domain/inference/billed-quantity.ts';
import type { InspectorOptions, NativeDialect } from '../wire/dialect.ts';
import { relayedExchange, unparsedExchange, wholeExchange } from '../wire/exchange.ts';
import { parseJson } from '../wire/json/fields.ts';
import { EventRelay } from '../wire/sse/relay.ts';
import type { TokenCounter } from './counting.ts';
import { errorInAnswer, malformedAnswer } from './failures.ts';
import { type CallTarget, createPassThrough } from './pass-through.ts';
import { withoutSecrets } from './secrets.ts';
import {
  MAX_SHORT_ANSWER_BYTES,
  readBody,
  sendCall,
  type UpstreamCall,
  withUpstreamFailures,
} from './upstream-answer.ts';

/** HTTP protocol of one vendor, in its native dialects. */
export interface Protocol {
  /** Provider name in the configuration. */
  readonly name: string;
  /** Native dialect of an endpoint. Null when the vendor does not have that endpoint. */
  dialectOf(endpoint: Endpoint, deployment: Deployment): NativeDialect | null;
  /**
   * Whether the upstream of a deployment may lack an endpoint for which `dialectOf` returns a dialect. False when this
   * function is absent.
   */
  mayLackEndpoint?(endpoint: Endpoint, deployment: Deployment): boolean;
  /** URL, headers and body of a request. A promise when a credential must be loaded first. */
  prepare(deployment: Deployment, request: ModelRequest): UpstreamCall | Promise<UpstreamCall>;
  /**
   * URL and headers for stored objects, such as files. `sent` has headers of the caller that select the version of the
   * API. Absent when the vendor stores none.
   */
  storageTarget?(deployment: Deployment, path: `/${string}`, sent: Readonly<Record<string, string>>): CallTarget;
  /** Converts a streamed body to server-sent events. Absent when the vendor sends them. */
  toEvents?(body: ByteStream): ByteStream;
}

/** Renders a request of a native dialect as it would be sent. */
type NativePreview = NonNullable<Provider['preview']>;

/** A provider with native dialects only. Callers of other dialects need `withTranslation`. */
export interface NativeProvider extends Provider {
  /** Whether the provider has a native dialect for this endpoint, so that no translation is needed. */
  supportsEndpoint(endpoint: Endpoint, deployment: Deployment): boolean;
  /** See `Protocol.mayLackEndpoint`. */
  readonly mayLackEndpoint?: (endpoint: Endpoint, deployment: Deployment) => boolean;
  /** Token counter of the upstream. Absent when it has none. */
  readonly tokenCounter?: TokenCounter;
}

/** Maximum bytes of a complete answer. A larger one cannot be priced and is rejected. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/**
 * Media types that are not streams; an empty type is one of them. All others are accepted, because some upstreams send
 * an incorrect type.
 */
const NON_STREAM_TYPES = /^(\s*$|application\/(json|problem)|text\/html)/i;
/** Media types that are not audio: an error body or an HTML page. */
const NON_AUDIO_TYPES = /^\s*(application\/(json|problem)|text\/html)/i;

/** Creates a provider that forwards calls to a vendor in the vendor's own dialect. */
export function createHttpProvider(http: HttpClient, protocol: Protocol): NativeProvider {
  const { storageTarget, mayLackEndpoint } = protocol;
  return {
    name: protocol.name,
    ...(mayLackEndpoint === undefined ? {} : { mayLackEndpoint }),
    ...(storageTarget === undefined ? {} : { pass: createPassThrough(http, storageTarget) }),
    supportsEndpoint: (endpoint, deployment) => protocol.dialectOf(endpoint, deployment) !== null,
    preview: createPreview(protocol),
    async send(configured, request, signal) {
      const dialect = protocol.dialectOf(request.endpoint, configured);
      if (dialect === null) throw new TypeError(`${protocol.name} does not support the endpoint of this call.`);
      const prepared = protocol.prepare(configured, request);
      const call = prepared instanceof Promise ? await prepared : prepared;
      const deployment = call.credentials === undefined ? configured : withSecrets(configured, call.credentials);
      const answer = await sendCall(http, deployment, call, {
        signal,
        errorOf: dialect.errorOf,
        owner: request.owner,
      });
      const context: AcceptedAnswer = { deployment, request, answer, dialect };
      if (request.stream && !isCompleteAnswer(context)) return await streamedExchange(context, protocol);
      const isParsed = request.endpoint.answers.member !== null;
      if (!isParsed) return await forwardedExchange(context);
      return completeExchange(await readBody(deployment, answer, MAX_ANSWER_BYTES), context);
    },
  };
}

const createPreview =
  (protocol: Protocol): NativePreview =>
  async (configured, request) => {
    const { url, headers, body, credentials = {} } = await protocol.prepare(configured, request);
    const deployment = withSecrets(configured, credentials);
    return {
      url: withoutSecrets(deployment, url),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, withoutSecrets(deployment, value)]),
      ),
      body: body instanceof Uint8Array ? body : Buffer.concat(body),
      dropped: [],
    };
  };

/** The deployment with the secrets of one call added, so that they are redacted as well. */
const withSecrets = (deployment: Deployment, more: Deployment['secrets']): Deployment => ({
  ...deployment,
  secrets: { ...deployment.secrets, ...more },
});

/** An answer with a 2xx status, and its call. */
interface AcceptedAnswer {
  readonly deployment: Deployment;
  readonly request: ModelRequest;
  readonly answer: UpstreamAnswer;
  readonly dialect: NativeDialect;
}

const EVENT_STREAM = /^\s*text\/event-stream/i;

/**
 * Whether the upstream ignored `stream` of a transcription. Older models are documented to send complete answers only.
 */
const isCompleteAnswer = ({ request, answer }: AcceptedAnswer): boolean =>
  request.endpoint.medium === 'transcript' && !EVENT_STREAM.test(answer.headers['content-type'] ?? '');

/** Exchange of a complete answer. The answer is parsed first, because a 200 may contain an error or invalid data. */
function completeExchange(
  bytes: Uint8Array | null,
  { deployment, request, answer, dialect }: AcceptedAnswer,
): Exchange {
  if (bytes === null) throw malformedAnswer(deployment, `it has more than ${MAX_ANSWER_BYTES} bytes`);
  const { endpoint, model, body, form, followUp, textLimit = 0 } = request;
  const context = { endpoint, model, body, textLimit };
  const result = dialect.whole(
    bytes,
    form === undefined && followUp === undefined
      ? context
      : { ...context, ...(form === undefined ? {} : { form }), ...publicIds(deployment, request) },
  );
  if (result === null) throw malformedAnswer(deployment, `it is not ${endpoint.answers.noun}`);
  if ('error' in result) throw errorInAnswer(deployment, result.error);
  return wholeExchange(answer, result);
}

async function streamedExchange(
  { deployment, request, answer, dialect }: AcceptedAnswer,
  protocol: Protocol,
): Promise<Exchange> {
  if (NON_STREAM_TYPES.test(answer.headers['content-type'] ?? ''))
    throw await unexpectedAnswer(deployment, answer, dialect, 'a stream was requested, but it is not a stream');
  const formatError = (fault: string): Error => malformedAnswer(deployment, fault);
  const inspector = dialect.inspector({
    model: request.model,
    removeUsageChunk: !request.includeUsage,
    textLimit: request.textLimit ?? 0,
    body: request.body,
    ...publicIds(deployment, request),
    upstreamError: (error) => errorInAnswer(deployment, error),
    formatError,
  });
  const body = protocol.toEvents?.(answer.body) ?? answer.body;
  const relay = new EventRelay(withUpstreamFailures(deployment, body), inspector, formatError);
  await relay.opened;
  return relayedExchange(headOf(answer), relay, inspector);
}

/** Mapping of upstream ids to public ids, for answers that callers may refer to later. */
function publicIds(
  { id }: Deployment,
  { followUp }: ModelRequest,
): Pick<InspectorOptions, 'idOf' | 'previousId' | 'onContainers' | 'onBackground'> {
  if (followUp === undefined) return {};
  const { onBackground, onContainers, previousId } = followUp;
  return {
    idOf: (upstreamId) => followUp.shownId(id, upstreamId),
    previousId,
    ...(onContainers === undefined ? {} : { onContainers: (ids) => onContainers(id, ids) }),
    ...(onBackground === undefined ? {} : { onBackground: (response) => onBackground(id, response) }),
  };
}

/** Exchange of an answer that is forwarded without parsing. Resolves after its first chunk. */
async function forwardedExchange({ deployment, request, answer, dialect }: AcceptedAnswer): Promise<Exchange> {
  const { noun } = request.endpoint.answers;
  if (NON_AUDIO_TYPES.test(answer.headers['content-type'] ?? ''))
    throw await unexpectedAnswer(deployment, answer, dialect, `it is not ${noun}`);
  const bytes = await afterFirstChunk(withUpstreamFailures(deployment, answer.body));
  const measured = billedQuantityOf(request.endpoint, request.body);
  if (!EVENT_STREAM.test(answer.headers['content-type'] ?? ''))
    return unparsedExchange(headOf(answer), bytes, measured);
  const events = speechEvents(bytes);
  return unparsedExchange(headOf(answer), events.bytes, measured, events.usage);
}

const headOf = ({ status, headers }: UpstreamAnswer): Pick<Exchange, 'status' | 'headers'> => ({ status, headers });

/** Failure for an answer with an unexpected media type: the error inside it, else `fault`. */
async function unexpectedAnswer(
  deployment: Deployment,
  answer: UpstreamAnswer,
  { errorOf }: NativeDialect,
  fault: string,
): Promise<unknown> {
  const bytes = await readBody(deployment, answer, MAX_SHORT_ANSWER_BYTES);
  const error = bytes === null ? null : errorOf(parseJson(bytes));
  return error === null ? malformedAnswer(deployment, fault) : errorInAnswer(deployment, error);
}
