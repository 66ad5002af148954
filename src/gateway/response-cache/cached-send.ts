import { collect, streamOfBytes } from '../../domain/bytes.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { CacheSettings } from '../../domain/response-cache/cache-settings.ts';
import type { AnswerCache } from '../../domain/response-cache/response-cache.ts';
import {
  decodeAnswer,
  encodeAnswer,
  isStorableAnswer,
  type StoredAnswer,
  storedOutcomeOf,
} from '../../domain/response-cache/stored-answer.ts';
import type { OpenCall } from '../calls/call.ts';
import type { RoutedCall, Retrying } from '../calls/retry-tools.ts';
import type { GatewayCall } from '../gateway.ts';
import { cacheKeyOf, isCacheable } from './cache-key.ts';
import { recordedStream } from './recorded-stream.ts';
import { replayedStream } from './replayed-stream.ts';

/** Maximum size of a stored answer, in bytes. A larger answer is forwarded and not stored. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Sends an admitted call, or answers it from the cache. Throws as `Retrying.send`. */
export type CachedSend = (call: OpenCall, caller: Caller, routed: RoutedCall) => Promise<GatewayCall>;

/** Reads the deltas of a whole chat completion from its bytes. */
export type DeltaReader = (bytes: Uint8Array) => readonly ChatDelta[];

/** An admitted call that uses the cache. */
interface CachedCall {
  readonly settings: CacheSettings;
  readonly key: string;
  readonly request: ModelRequest;
}

/**
 * Creates a send function that looks for a cached answer before `send`, and stores the answer of `send`. It must run
 * after all checks of the caller and of the request. The guardrails that check answers also check a cached answer.
 */
export function createCachedSend(
  sendUpstream: Retrying['send'],
  {
    cache,
    clock,
    readDeltas,
  }: {
    readonly cache: AnswerCache | undefined;
    readonly clock: Clock;
    /** When absent, calls whose deltas are read do not use the cache. */
    readonly readDeltas?: DeltaReader | undefined;
  },
): CachedSend {
  const send: Retrying['send'] = (call, routed) => {
    const sending = sendUpstream(call, routed);
    routed.onSend?.(routed.request);
    return sending;
  };
  if (cache === undefined) return (call, _caller, routed) => send(call, routed);
  return createSendWithCache(cache, { send, clock, readDeltas });
}

function createSendWithCache(
  cache: AnswerCache,
  {
    send,
    clock,
    readDeltas,
  }: { readonly send: Retrying['send']; readonly clock: Clock; readonly readDeltas: DeltaReader | undefined },
): CachedSend {
  async function sendCached(settings: CacheSettings, call: OpenCall, caller: Caller, routed: RoutedCall) {
    // The guardrails of the deployment run before the look-up, so that they also check a call with a cached answer.
    const request = await checkedRequest(call, routed);
    const key = cacheKeyOf(cache, { settings, caller, request, deployment: call.deployment() });
    const cached = { settings, request, key };
    const controls = request.cache;
    if (controls?.noCache !== true) {
      const answer = await lookUp(cached);
      cache.count(answer === null ? 'miss' : 'hit');
      if (answer !== null && !routed.signal.aborted)
        return call.answeredFromCache(exchangeOf(answer, cached, readDeltas));
    }
    if (controls?.noStore !== true) call.tapAnswer((exchange, tries) => withStoring(exchange, tries.fallbacks, cached));
    return send(call, { ...routed, request });
  }

  /** The cached answer to a call; null for none, and for one that is older than the request permits. */
  async function lookUp({ key, request }: CachedCall): Promise<StoredAnswer | null> {
    const encoded = await cache.read(key);
    const answer = encoded === null ? null : decodeAnswer(encoded);
    if (answer === null || answer.streaming !== request.stream) return null;
    const maxAgeSeconds = request.cache?.maxAgeSeconds ?? null;
    const isTooOld = maxAgeSeconds !== null && clock.now().getTime() - answer.storedAtMs > maxAgeSeconds * 1_000;
    return isTooOld || !(await isReferable(answer, request)) ? null : answer;
  }

  /**
   * The answer of an upstream, which is stored at its end. The answer of a fallback is not stored: its model differs.
   */
  function withStoring(exchange: Exchange, fallbacks: number, { key, request, settings }: CachedCall): Exchange {
    const ttlSeconds = request.cache?.ttlSeconds ?? settings.ttlSeconds;
    if (fallbacks > 0 || exchange.status !== 200 || ttlSeconds === 0) return exchange;
    if (request.typed === true && exchange.streaming) return exchange;
    const store = (body: Uint8Array): void => {
      const outcome = exchange.outcome();
      if (!isStorableAnswer(exchange, outcome, request.endpoint)) return;
      const answer: StoredAnswer = {
        storedAtMs: clock.now().getTime(),
        streaming: exchange.streaming,
        contentType: exchange.headers['content-type'] ?? null,
        dropped: exchange.dropped ?? [],
        outcome: storedOutcomeOf(outcome),
        body,
      };
      cache.write(key, encodeAnswer(answer), ttlSeconds);
    };
    if (request.typed !== true)
      return { ...exchange, cacheKey: key, bytes: recordedStream(exchange.bytes, MAX_ANSWER_BYTES, store) };
    // The caller reads deltas, so that nothing else reads the bytes of a whole answer. They are in memory.
    collect(exchange.bytes, MAX_ANSWER_BYTES).then(
      (body) => body !== null && store(body),
      () => undefined,
    );
    return { ...exchange, cacheKey: key };
  }

  return (call, caller, routed) => {
    const settings = cache.settings();
    if (settings === null || routed.route instanceof DomainError || !isCacheable(settings, routed.request))
      return send(call, routed);
    if (routed.request.typed === true && readDeltas === undefined) return send(call, routed);
    return sendCached(settings, call, caller, routed);
  };
}

/** Id of a response in its JSON or in the first event of its stream. */
const RESPONSE_ID = /"id"\s*:\s*"(resp_[\w-]+)"/;

/** Whether the caller can refer to a cached answer by its id. False also where that cannot be read. */
async function isReferable({ body }: StoredAnswer, { followUp }: ModelRequest): Promise<boolean> {
  if (followUp?.isAvailable === undefined) return true;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const [, id] = RESPONSE_ID.exec(text) ?? [];
  return id === undefined || (await followUp.isAvailable(id).catch(() => false));
}

/** Runs the guardrails of the deployment of the first route. Returns the request with their edits. */
function checkedRequest(call: OpenCall, { beforeSend, request }: RoutedCall): ModelRequest | Promise<ModelRequest> {
  return beforeSend === undefined ? request : beforeSend(call.deployment(), request);
}

/** A cached answer in the form of an answer of an upstream. */
function exchangeOf(
  { streaming, contentType, dropped, outcome, body }: StoredAnswer,
  { key, request: { textLimit } }: CachedCall,
  readDeltas: DeltaReader | undefined,
): Exchange {
  const text = textLimit === undefined ? null : (outcome.text ?? '').slice(0, textLimit);
  return {
    status: 200,
    headers: contentType === null ? {} : { 'content-type': contentType },
    streaming,
    ...(dropped.length === 0 ? {} : { dropped }),
    cacheKey: key,
    bytes: streaming ? replayedStream(body) : streamOfBytes(body),
    deltas: () => iteratorOf(readDeltas?.(body) ?? []),
    outcome: () => ({ ...outcome, text, failure: null, cacheHitKey: key }),
  };
}

function iteratorOf(deltas: readonly ChatDelta[]): AsyncIterableIterator<ChatDelta> {
  const values = deltas.values();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => values.next(),
    async return() {
      return { done: true, value: undefined };
    },
  };
}
