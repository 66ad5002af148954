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

/** Maximum size of the answer of a judge, in bytes. A larger answer counts as invalid. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const ONE_ATTEMPT: Retries = { ...NO_RETRIES, count: 0, withoutFallbacks: true };

/** The call of a client for which a judge is called. */
export interface JudgedCall {
  readonly caller: Caller;
  /** Public name of the router. */
  readonly router: string;
  readonly request: ModelRequest;
  readonly call: Pick<OpenCall, 'traceId' | 'spanId'>;
  readonly signal: AbortSignal;
}

/** The verdict of a judge, or the reason for its absence: a short code such as `timeout`. */
type Judgement<Verdict> = { readonly verdict: Verdict } | { readonly failure: string };

/** Calls of judges. */
export interface JudgeCalls {
  /**
   * Calls a judge. A timeout, another DomainError and an invalid answer are returned as a failure. Throws other errors.
   * Throws every error after the signal of `judgedCall` has fired.
   */
  ask<Verdict>(question: JudgeQuestion<Verdict>, judgedCall: JudgedCall): Promise<Judgement<Verdict>>;
}

/** A judge call is a call of the gateway. It is charged to the caller of `judgedCall`. `nowMs` is a monotonic clock. */
export function createJudgeCalls(callModel: Gateway['call'], nowMs: () => number): JudgeCalls {
  // A reload of the configuration creates new `Judge` objects, so their circuits are closed at first.
  const breakers = new WeakMap<Judge, CircuitBreaker>();
  function breakerOf(judge: Judge): CircuitBreaker {
    const breaker = breakers.get(judge) ?? createCircuitBreaker(judge.cooldownMs, nowMs);
    breakers.set(judge, breaker);
    return breaker;
  }

  /** The text of the answer of a judge; null for an answer without a text. Throws as `Gateway.call`. */
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
    const judgeRequest: ModelRequest = {
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
    const answered = await callModel(caller, judgeRequest, signal);
    return textOf(await answered.consume((bytes) => collect(bytes, MAX_ANSWER_BYTES)));
  }

  return {
    async ask(question, judgedCall) {
      const pass = breakerOf(question.judge).enter();
      if (pass === null) return { failure: 'circuit-open' };
      const deadline = new AbortController();
      const timeout = new UpstreamFailed('The judge of the router did not answer in time.', {
        provider: 'auto_router',
        upstreamStatus: null,
        timedOut: true,
      });
      const timer = setTimeout(() => deadline.abort(timeout), question.judge.timeoutMs);
      try {
        const signal = AbortSignal.any([judgedCall.signal, deadline.signal]);
        const answer = await answerOf(question, judgedCall, signal);
        pass.succeeded();
        const verdict = answer === null ? null : question.read(answer);
        return verdict === null ? { failure: 'invalid-answer' } : { verdict };
      } catch (failure) {
        const isTimeout = deadline.signal.aborted || (failure instanceof UpstreamFailed && failure.timedOut);
        if (isTimeout && !judgedCall.signal.aborted) {
          pass.timedOut();
          return { failure: 'timeout' };
        }
        pass.ended();
        if (judgedCall.signal.aborted || !(failure instanceof DomainError)) throw failure;
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
