import { begun } from '../domain/first-chunk.ts';
import type { ByteStream } from '../domain/bytes.ts';
import type { Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { HttpClient, UpstreamAnswer } from '../domain/http.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import { measuredOf } from '../domain/inference/measured.ts';
import type { InspectorOptions, NativeDialect } from '../wire/dialect.ts';
import { relayedExchange, unparsedExchange, wholeExchange } from '../wire/exchange.ts';
import { parseJson } from '../wire/json/fields.ts';
import { EventRelay } from '../wire/sse/relay.ts';
import type { Counting } from './counting.ts';
import { errorInside, garbled } from './failures.ts';
import { type Address, passOver } from './passing.ts';
import { accepted, ERROR_LIMIT, inKnownWords, readBody, type UpstreamCall } from './upstream-answer.ts';

/** How one vendor is spoken to over HTTP, in its own dialects. */
export interface Protocol {
  /** The provider's name in the configuration. */
  readonly name: string;
  /** The dialect in which it answers an endpoint; null when it has no such endpoint. */
  dialectOf(endpoint: Endpoint, deployment: Deployment): NativeDialect | null;
  /** Where a request goes and in what form. May have to wait for a credential. */
  prepare(deployment: Deployment, request: ModelRequest): UpstreamCall | Promise<UpstreamCall>;
  /** Where it keeps files and batches, in OpenAI's form; absent where it keeps none. */
  keeps?(deployment: Deployment, path: `/${string}`): Address;
  /** A streamed body as server-sent events, where the vendor frames its streams otherwise. */
  events?(body: ByteStream): ByteStream;
}

/** A provider that says which endpoints it answers in the words they came in. */
export interface NativeProvider extends Provider {
  answers(endpoint: Endpoint, deployment: Deployment): boolean;
  /** How it counts the tokens of a request; absent where it does not. */
  readonly counting?: Counting;
}

/** Most bytes of a whole answer; a longer one cannot be priced and is refused. */
const ANSWER_LIMIT = 64 * 1024 * 1024;
/** Media types that cannot be a stream. Others can: not every upstream names its streams rightly. */
const NO_STREAM = /^(\s*$|application\/(json|problem)|text\/html)/i;
/** Media types that are no sound: what came is a refusal, or a page. */
const NO_SOUND = /^\s*(application\/(json|problem)|text\/html)/i;

/** Forwards calls to a vendor whose dialect they are already in. */
export function createHttpProvider(http: HttpClient, protocol: Protocol): NativeProvider {
  const { keeps } = protocol;
  return {
    name: protocol.name,
    ...(keeps === undefined ? {} : { pass: passOver(http, keeps) }),
    answers: (endpoint, deployment) => protocol.dialectOf(endpoint, deployment) !== null,
    async send(configured, request, signal) {
      const dialect = protocol.dialectOf(request.endpoint, configured);
      if (dialect === null) throw new TypeError(`${protocol.name} was sent a call it has no endpoint for.`);
      const call = await protocol.prepare(configured, request);
      const deployment = call.credentials === undefined ? configured : knowing(configured, call.credentials);
      const answer = await accepted(http, deployment, call, {
        signal,
        errorOf: dialect.errorOf,
        owner: request.owner,
      });
      const about: Answered = { deployment, request, answer, dialect };
      if (request.stream && !comesWhole(about)) return await streamed(about, protocol);
      return request.endpoint.answers.member === null ? await unread(about) : await whole(about);
    },
  };
}

/** The deployment with further secrets that must not be shown. */
const knowing = (deployment: Deployment, more: Deployment['secrets']): Deployment => ({
  ...deployment,
  secrets: { ...deployment.secrets, ...more },
});

/** An answer whose status says yes, and what it answers. */
interface Answered {
  readonly deployment: Deployment;
  readonly request: ModelRequest;
  readonly answer: UpstreamAnswer;
  readonly dialect: NativeDialect;
}

const EVENTS = /^\s*text\/event-stream/i;

/** Older models of recordings are documented to answer whole, whatever they are asked. */
const comesWhole = ({ request, answer }: Answered): boolean =>
  request.endpoint.medium === 'transcript' && !EVENTS.test(answer.headers['content-type'] ?? '');

/** An answer that comes whole: read before it counts, because a 200 may carry an error or nonsense. */
async function whole({ deployment, request, answer, dialect }: Answered): Promise<Exchange> {
  const bytes = await readBody(deployment, answer, ANSWER_LIMIT);
  if (bytes === null) throw garbled(deployment, `it has more than ${ANSWER_LIMIT} bytes`);
  const { endpoint, model, body, form, textLimit = 0 } = request;
  const about = { endpoint, model, body, textLimit, ...(form === undefined ? {} : { form }) };
  const read = dialect.whole(bytes, { ...about, ...shownIds(deployment, request) });
  if (read === null) throw garbled(deployment, `it is no ${endpoint.answers.form}`);
  if ('error' in read) throw errorInside(deployment, read.error);
  return wholeExchange(headOf(answer), read);
}

async function streamed({ deployment, request, answer, dialect }: Answered, protocol: Protocol): Promise<Exchange> {
  if (NO_STREAM.test(answer.headers['content-type'] ?? ''))
    throw await otherAnswer(deployment, answer, dialect, 'a stream was asked for, and it is none');
  const broken = (fault: string): Error => garbled(deployment, fault);
  const inspector = dialect.inspector({
    model: request.model,
    dropUsage: !request.includeUsage,
    textLimit: request.textLimit ?? 0,
    body: request.body,
    ...shownIds(deployment, request),
    refused: (error) => errorInside(deployment, error),
    garbled: broken,
  });
  const body = protocol.events?.(answer.body) ?? answer.body;
  const relay = new EventRelay(inKnownWords(deployment, body), inspector, broken);
  await relay.opened;
  return relayedExchange(headOf(answer), relay, inspector);
}

/** How ids of the upstream's are shown, where callers may come back with them. */
function shownIds({ id }: Deployment, { followUp }: ModelRequest): Pick<InspectorOptions, 'idOf' | 'previousId'> {
  if (followUp === undefined) return {};
  return { idOf: (upstreamId) => followUp.shownId(id, upstreamId), previousId: followUp.previousId };
}

/** An answer nobody here reads goes on as it comes, once it has begun. */
async function unread({ deployment, request, answer, dialect }: Answered): Promise<Exchange> {
  const { form } = request.endpoint.answers;
  if (NO_SOUND.test(answer.headers['content-type'] ?? ''))
    throw await otherAnswer(deployment, answer, dialect, `it is no ${form}`);
  const bytes = await begun(inKnownWords(deployment, answer.body));
  return unparsedExchange(headOf(answer), bytes, measuredOf(request.endpoint, request.body));
}

const headOf = ({ status, headers }: UpstreamAnswer): Pick<Exchange, 'status' | 'headers'> => ({ status, headers });

/** What to make of an answer of another kind than was asked for: the failure inside it, or that it is of no use. */
async function otherAnswer(
  deployment: Deployment,
  answer: UpstreamAnswer,
  { errorOf }: NativeDialect,
  fault: string,
): Promise<unknown> {
  const bytes = await readBody(deployment, answer, ERROR_LIMIT);
  const error = bytes === null ? null : errorOf(parseJson(bytes));
  return error === null ? garbled(deployment, fault) : errorInside(deployment, error);
}
