import type { Judge } from '../../domain/auto-routers/auto-router.ts';
import { type JudgeQuestion, responseFormatOf, systemTextOf } from '../../domain/auto-routers/judge-question.ts';
import { collect } from '../../domain/bytes.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { DomainError, UpstreamFailed } from '../../domain/errors.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
import { NO_RETRIES, type Retries } from '../../domain/inference/retries.ts';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { OpenCall } from '../calls/call.ts';
import type { Gateway } from '../gateway.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';

/** Maximum size of the answer of a judge, in bytes. */
const ANSWER_LIMIT = 1024 * 1024;
/** A judge is asked once. */
const ONE_ATTEMPT: Retries = { ...NO_RETRIES, count: 0, withoutFallbacks: true };

/** A routed call for which a judge is asked. */
export interface JudgedCall {
  readonly caller: Caller;
  /** Name of the router. */
  readonly router: string;
  readonly request: ModelRequest;
  readonly call: Pick<OpenCall, 'traceId' | 'spanId'>;
  readonly signal: AbortSignal;
}

/** A verdict, or why there is none. */
type Judgement<Verdict> = { readonly verdict: Verdict } | { readonly failure: string };

/** Asks judges. */
export interface JudgeCalls {
  /** Never throws, except when the signal of the call fires. */
  ask<Verdict>(question: JudgeQuestion<Verdict>, about: JudgedCall): Promise<Judgement<Verdict>>;
}

/** Creates the calls of judges. They are calls of the gateway, made and charged for the caller of the routed call. */
export function createJudgeCalls(callModel: Gateway['call'], nowMs: () => number): JudgeCalls {
  // A changed configuration has new objects, so that its circuits are closed.
  const breakers = new WeakMap<Judge, CircuitBreaker>();
  function breakerOf(judge: Judge): CircuitBreaker {
    const known = breakers.get(judge) ?? createCircuitBreaker(judge.cooldownMs, nowMs);
    breakers.set(judge, known);
    return known;
  }

  async function answerOf(
    question: JudgeQuestion<unknown>,
    { caller, router, request, call }: JudgedCall,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { model, timeoutMs, reasoningEffort } = question.judge;
    const body = {
      model,
      messages: [
        { role: 'system', content: systemTextOf(question) },
        ...question.turns.map((content) => ({ role: 'user', content })),
      ],
      max_tokens: question.maxTokens,
      response_format: responseFormatOf(question),
      ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
    };
    const { labels, userAgent } = request;
    const judged: ModelRequest = {
      endpoint: CHAT_COMPLETIONS,
      model,
      stream: false,
      includeUsage: false,
      bytes: new TextEncoder().encode(JSON.stringify(body)),
      body,
      callId: null,
      parent: { traceId: call.traceId, spanId: call.spanId },
      retries: ONE_ATTEMPT,
      timeoutSeconds: timeoutMs / 1_000,
      unguarded: true,
      judgeFor: router,
      ...(labels === undefined ? {} : { labels }),
      ...(userAgent === undefined ? {} : { userAgent }),
      ...(request.omitContent === undefined ? {} : { omitContent: request.omitContent }),
    };
    const answered = await callModel(caller, judged, signal);
    return textOf(await answered.consume((bytes) => collect(bytes, ANSWER_LIMIT)));
  }

  return {
    async ask(question, about) {
      const pass = breakerOf(question.judge).enter();
      if (pass === null) return { failure: 'circuit-open' };
      const deadline = new AbortController();
      const late = new UpstreamFailed('The judge of the router did not answer in time.', {
        provider: 'auto_router',
        upstreamStatus: null,
        timedOut: true,
      });
      const timer = setTimeout(() => deadline.abort(late), question.judge.timeoutMs);
      try {
        const answer = await answerOf(question, about, AbortSignal.any([about.signal, deadline.signal]));
        pass.succeeded();
        const verdict = answer === null ? null : question.read(answer);
        return verdict === null ? { failure: 'invalid-answer' } : { verdict };
      } catch (failure) {
        const isTimeout = deadline.signal.aborted || (failure instanceof UpstreamFailed && failure.timedOut);
        if (isTimeout && !about.signal.aborted) {
          pass.timedOut();
          return { failure: 'timeout' };
        }
        pass.ended();
        if (about.signal.aborted || !(failure instanceof DomainError)) throw failure;
        return { failure: failure.code.toLowerCase() };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The text of the first choice of a chat completion; null for none. */
function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  const answer = parsedObject(new TextDecoder().decode(bytes));
  const choices = answer?.['choices'];
  const first: unknown = Array.isArray(choices) ? choices[0] : null;
  const message = isJsonObject(first) ? first['message'] : null;
  const content = isJsonObject(message) ? message['content'] : null;
  return typeof content === 'string' ? content : null;
}

function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
