import { streamOfBytes } from '../../domain/bytes.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError, InvalidInput } from '../../domain/errors.ts';
import type { CacheSettings } from '../../domain/response-cache/cache-settings.ts';
import type { AnswerCache } from '../../domain/response-cache/response-cache.ts';
import {
  decodeAnswer,
  encodeAnswer,
  isWholeAnswer,
  type StoredAnswer,
  storedOutcomeOf,
} from '../../domain/response-cache/stored-answer.ts';
import type { OpenCall } from '../calls/call.ts';
import type { Retrying } from '../calls/retry-tools.ts';
import type { GatewayCall } from '../gateway.ts';
import { cacheKeyOf, isCacheable } from './cache-key.ts';
import { recordedStream } from './recorded-stream.ts';
import { replayedStream } from './replayed-stream.ts';

/** Maximum size of a stored answer, in bytes. Larger ones are forwarded, but not stored. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

type Routed = Parameters<Retrying['send']>[1];
/** Sends an admitted call, or answers it from the cache. Throws as `Retrying.send`. */
export type CachedSend = (call: OpenCall, caller: Caller, routed: Routed) => Promise<GatewayCall>;

/** An admitted call that uses the cache. */
interface CachedCall {
  readonly settings: CacheSettings;
  readonly key: string;
  readonly request: ModelRequest;
}

/**
 * Looks an answer up before `send`, and stores the answer of `send`. It runs after all checks of the caller and of the
 * request. The guardrails of the caller check a cached answer as any other answer.
 */
export function createCachedSend(
  send: Retrying['send'],
  { cache, clock }: { readonly cache: AnswerCache | undefined; readonly clock: Clock },
): CachedSend {
  return cache === undefined ? (call, _caller, routed) => send(call, routed) : sendOver(cache, { send, clock });
}

function sendOver(
  cache: AnswerCache,
  { send, clock }: { readonly send: Retrying['send']; readonly clock: Clock },
): CachedSend {
  async function sendCached(settings: CacheSettings, call: OpenCall, caller: Caller, routed: Routed) {
    // A cached answer also passes the guardrails of its deployment.
    const request = await checkedRequest(call, routed);
    const cached = {
      settings,
      request,
      key: cacheKeyOf(cache, { settings, caller, request, deployment: call.deployment() }),
    };
    const controls = request.cache;
    if (controls?.noCache !== true) {
      const answer = await lookUp(cached);
      cache.count(answer === null ? 'miss' : 'hit');
      if (answer !== null && !routed.signal.aborted) return call.answeredFromCache(exchangeOf(answer, cached));
    }
    if (controls?.noStore !== true) call.tapAnswer((exchange, tries) => stored(exchange, tries.fallbacks, cached));
    return send(call, { ...routed, request });
  }

  async function lookUp({ key, request }: CachedCall): Promise<StoredAnswer | null> {
    const encoded = await cache.read(key);
    const answer = encoded === null ? null : decodeAnswer(encoded);
    if (answer === null || answer.streaming !== request.stream) return null;
    const maxAgeSeconds = request.cache?.maxAgeSeconds ?? null;
    const isTooOld = maxAgeSeconds !== null && clock.now().getTime() - answer.storedAtMs > maxAgeSeconds * 1_000;
    return isTooOld || !(await isReferable(answer, request)) ? null : answer;
  }

  /** The answer of an upstream, which is stored at its end. The answer of a fallback belongs to another model. */
  function stored(exchange: Exchange, fallbacks: number, { key, request, settings }: CachedCall): Exchange {
    const ttlSeconds = request.cache?.ttlSeconds ?? settings.ttlSeconds;
    if (fallbacks > 0 || exchange.status !== 200 || ttlSeconds === 0) return exchange;
    const bytes = recordedStream(exchange.bytes, MAX_ANSWER_BYTES, (body) => {
      const outcome = exchange.outcome();
      if (!isWholeAnswer(exchange, outcome, request.endpoint)) return;
      const answer: StoredAnswer = {
        storedAtMs: clock.now().getTime(),
        streaming: exchange.streaming,
        contentType: exchange.headers['content-type'] ?? null,
        dropped: exchange.dropped ?? [],
        outcome: storedOutcomeOf(outcome),
        body,
      };
      cache.write(key, encodeAnswer(answer), ttlSeconds);
    });
    return { ...exchange, cacheKey: key, bytes };
  }

  return (call, caller, routed) => {
    const settings = cache.settings();
    if (settings === null || routed.route instanceof DomainError || !isCacheable(settings, routed.request))
      return send(call, routed);
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

/** The request after the guardrails of the deployment of its first route. */
function checkedRequest(call: OpenCall, { beforeSend, request }: Routed): ModelRequest | Promise<ModelRequest> {
  return beforeSend === undefined ? request : beforeSend(call.deployment(), request);
}

/** A cached answer as the answer of an upstream. */
function exchangeOf(
  { streaming, contentType, dropped, outcome, body }: StoredAnswer,
  { key, request: { textLimit } }: CachedCall,
): Exchange {
  const text = textLimit === undefined ? null : (outcome.text ?? '').slice(0, textLimit);
  return {
    status: 200,
    headers: contentType === null ? {} : { 'content-type': contentType },
    streaming,
    ...(dropped.length === 0 ? {} : { dropped }),
    cacheKey: key,
    bytes: streaming ? replayedStream(body) : streamOfBytes(body),
    deltas() {
      throw new InvalidInput('A cached answer has no typed deltas.');
    },
    outcome: () => ({ ...outcome, text, failure: null, cacheHitKey: key }),
  };
}
