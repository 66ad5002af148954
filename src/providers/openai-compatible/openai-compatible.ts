import { begun } from '../../domain/begun.ts';
import { collect, type ByteSink, type ByteStream } from '../../domain/bytes.ts';
import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { Provider, Deployment } from '../../domain/chat/provider.ts';
import type { HttpClient, UpstreamAnswer } from '../../domain/http.ts';
import type { AnswerMember } from '../../domain/inference/endpoint.ts';
import { measuredOf } from '../../domain/inference/measured.ts';
import { errorOf, isAnswer, parseJson } from '../../wire/chat-completions/answer.ts';
import { streamedExchange, unreadExchange, wholeExchange } from '../../wire/chat-completions/exchange.ts';
import { outlineOf } from '../../wire/chat-completions/outline.ts';
import { EventRelay } from '../../wire/chat-completions/relay.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';
import { errorInside, garbled, refusal, transportFailure } from './failures.ts';

const OPENAI_BASE = 'https://api.openai.com/v1';
/** Most bytes of a whole answer; a longer one cannot be priced and is refused. */
const ANSWER_LIMIT = 64 * 1024 * 1024;
/** Media types that cannot be a stream. Others can: not every upstream names its streams rightly. */
const NO_STREAM = /^(\s*$|application\/(json|problem)|text\/html)/i;
/** Most bytes of an error's body that are read. */
const ERROR_LIMIT = 1024 * 1024;

/** Forwards calls to OpenAI and to everything that speaks as it does (`api_base`). */
export function createOpenAiCompatible(http: HttpClient): Provider {
  return {
    name: 'openai',
    async send(deployment, request, signal) {
      const answer = await post(http, deployment, request, signal);
      if (answer.status < 200 || answer.status > 299) {
        throw refusal(deployment, answer.status, await readBody(deployment, answer, ERROR_LIMIT));
      }
      if (request.stream) return await streamed(deployment, request, answer);
      const { member } = request.endpoint.answers;
      return member === null
        ? await unread(deployment, request, answer)
        : await whole(deployment, request, answer, member);
    },
  };
}

async function post(
  http: HttpClient,
  deployment: Deployment,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (deployment.apiKey) headers['authorization'] = `Bearer ${deployment.apiKey.reveal()}`;
  try {
    const answer = await http.post(
      `${deployment.apiBase ?? OPENAI_BASE}${request.endpoint.path}`,
      headers,
      upstreamRequest(request, deployment.upstreamModel),
      { signal, headersTimeoutMs: deployment.timeoutSeconds * 1000 },
    );
    return { ...answer, headers: showable(deployment, answer.headers) };
  } catch (error) {
    throw transportFailure(deployment, error);
  }
}

/** Headers as callers may see them: some upstreams repeat the credential they were given. */
function showable({ apiKey }: Deployment, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const credential = apiKey?.reveal();
  if (!credential || !Object.values(headers).some((value) => value.includes(credential))) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(credential, String(apiKey))]),
  );
}

async function readBody(deployment: Deployment, answer: UpstreamAnswer, limit: number): Promise<Uint8Array | null> {
  try {
    return await collect(answer.body, limit);
  } catch (error) {
    throw transportFailure(deployment, error);
  }
}

/** An answer that comes whole: read before it counts, because a 200 may carry an error or nonsense. */
async function whole(
  deployment: Deployment,
  request: ModelRequest,
  answer: UpstreamAnswer,
  member: AnswerMember,
): Promise<Exchange> {
  const bytes = await readBody(deployment, answer, ANSWER_LIMIT);
  if (bytes === null) throw garbled(deployment, `it has more than ${ANSWER_LIMIT} bytes`);
  const value = member === 'choices' ? parseJson(bytes) : outlineOf(bytes, member);
  const error = errorOf(value);
  if (error !== null) throw errorInside(deployment, error);
  if (!isAnswer(value, member)) throw garbled(deployment, `it is no ${request.endpoint.answers.form}`);
  return wholeExchange(
    { status: answer.status, headers: answer.headers },
    { bytes, value },
    { model: request.model, textLimit: request.textLimit ?? 0 },
  );
}

async function streamed(deployment: Deployment, request: ModelRequest, answer: UpstreamAnswer): Promise<Exchange> {
  if (NO_STREAM.test(answer.headers['content-type'] ?? ''))
    throw await otherAnswer(deployment, answer, 'a stream was asked for, and it is none');
  const relay = new EventRelay(translated(deployment, answer.body), {
    model: request.model,
    dropUsage: !request.includeUsage,
    textLimit: request.textLimit ?? 0,
    refused: (error) => errorInside(deployment, error),
    garbled: (fault) => garbled(deployment, fault),
  });
  await relay.opened;
  return streamedExchange({ status: answer.status, headers: answer.headers }, relay);
}

/** Media types that are no sound: what came is a refusal, or a page. */
const NO_SOUND = /^\s*(application\/(json|problem)|text\/html)/i;

/** An answer nobody here reads goes on as it comes, once it has begun. */
async function unread(deployment: Deployment, request: ModelRequest, answer: UpstreamAnswer): Promise<Exchange> {
  const { form } = request.endpoint.answers;
  if (NO_SOUND.test(answer.headers['content-type'] ?? ''))
    throw await otherAnswer(deployment, answer, `it is no ${form}`);
  const bytes = await begun(translated(deployment, answer.body));
  return unreadExchange(
    { status: answer.status, headers: answer.headers },
    bytes,
    measuredOf(request.endpoint, request.body),
  );
}

/** What to make of an answer of another kind than was asked for: the failure inside it, or that it is of no use. */
async function otherAnswer(deployment: Deployment, answer: UpstreamAnswer, fault: string): Promise<unknown> {
  const bytes = await readBody(deployment, answer, ERROR_LIMIT);
  const error = bytes === null ? null : errorOf(parseJson(bytes));
  return error === null ? garbled(deployment, fault) : errorInside(deployment, error);
}

/** The same stream, failing in the words callers know. */
function translated(deployment: Deployment, body: ByteStream): ByteStream {
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
