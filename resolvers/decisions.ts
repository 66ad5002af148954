import { collect } from '../src/domain/bytes.ts';
import { ownerOf, visibilityOf } from '../src/domain/caller.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { outcomeScopeOf } from '../src/domain/decisions/calibration.ts';
import type { DecisionDraft } from '../src/domain/decisions/decision-draft.ts';
import type { AnsweredQuestion, MadeDecision } from '../src/domain/decisions/decision.ts';
import { assertQuestionCount } from '../src/domain/decisions/question-count.ts';
import { decisionContentOf, storageLevelOf } from '../src/domain/decisions/stored-decision.ts';
import { Unavailable } from '../src/domain/errors.ts';
import { guardrailsOf } from '../src/domain/guardrails/request-guardrails.ts';
import { DECISIONS } from '../src/domain/inference/endpoint.ts';
import { assertValidRequest } from '../src/domain/inference/request-validation.ts';
import type { Usd } from '../src/domain/money.ts';
import { newStamps } from '../src/domain/row-store.ts';
import type { DecisionRecord, GatewayCall } from '../src/gateway/gateway.ts';
import { askFallbacks } from './operation/decision-fallbacks.ts';
import { anyKey } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DecisionPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

type DecisionScope = Scope<DecisionPlatform>;

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Answers typed questions about an input. The request is in one of the two decision formats. Throws InvalidInput for
 * too many questions, and what the gateway's `call` throws.
 */
export const decide = operation({
  name: 'decide',
  access: anyKey,
  run: (scope: DecisionScope, request: ModelRequest): Promise<GatewayCall> => send(scope, request),
});

/** A decision, with ids, model and cost of its call. */
export interface TypedDecision extends MadeDecision {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Public name of the model of the first call; fallbacks may have answered some questions. */
  readonly modelGroup: string;
  readonly cost: Usd | null;
}

/** As `decide`, with typed answers. Throws what `decide` throws, and Unavailable for an answer that cannot be read. */
export const decideTyped = operation({
  name: 'decideTyped',
  access: anyKey,
  run: (scope: DecisionScope, draft: DecisionDraft): Promise<TypedDecision> => sendTyped(scope, draft, scope.signal),
});

/** One event of a streamed decision: an answer, or the whole decision at the end. */
export type DecisionStep =
  | ({ readonly kind: 'answer' } & AnsweredQuestion)
  | { readonly kind: 'decision'; readonly decision: TypedDecision };

/**
 * As `decideTyped`, with each answer as soon as it is known. A retry or a fallback sends answers again: the last answer
 * to each question is valid. A failure before the first answer is thrown; a later one rejects `next`. `return` cancels
 * the call.
 */
export const streamDecision = operation({
  name: 'streamDecision',
  access: anyKey,
  async run(scope: DecisionScope, draft: DecisionDraft): Promise<AsyncIterableIterator<DecisionStep>> {
    const cancelled = new AbortController();
    const steps: DecisionStep[] = [];
    let ended = false;
    let wake = Promise.withResolvers<void>();
    function push(step: DecisionStep): void {
      steps.push(step);
      wake.resolve();
    }
    const signal = AbortSignal.any([scope.signal, cancelled.signal]);
    const deciding = sendTyped(scope, draft, signal, (one) => push({ kind: 'answer', ...one })).then((decision) => {
      push({ kind: 'decision', decision });
      ended = true;
    });
    // The failure is thrown below, or by `next`.
    deciding.catch(() => undefined);
    await Promise.race([wake.promise, deciding]);
    const stream: AsyncIterableIterator<DecisionStep> = {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        for (;;) {
          const step = steps.shift();
          if (step !== undefined) return { done: false, value: step };
          if (ended) return { done: true, value: undefined };
          wake = Promise.withResolvers<void>();
          await Promise.race([wake.promise, deciding]);
        }
      },
      return() {
        ended = true;
        steps.length = 0;
        cancelled.abort();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
    return stream;
  },
});

/** Sends a decision and reads its whole answer. `answered` is called for each answered question. */
async function sendTyped(
  scope: DecisionScope,
  draft: DecisionDraft,
  signal: AbortSignal,
  answered?: ModelRequest['answered'],
): Promise<TypedDecision> {
  const { model, input, questions, parameters, callId, parent, labels, omitContent } = draft;
  const body = { ...parameters, model, input, questions };
  assertValidRequest(body, DECISIONS);
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const request = {
    ...guardrailsOf({ endpoint: DECISIONS, body }),
    endpoint: DECISIONS,
    model,
    stream: false,
    includeUsage: false,
    bytes,
    body,
    callId,
    parent,
    ...(labels === undefined ? {} : { labels }),
    ...(omitContent === undefined ? {} : { omitContent }),
  };
  const call = await send(scope, answered === undefined ? request : { ...request, answered }, signal);
  // `call.exchange` already has the decision. The call settles only when its answer is read to the end.
  const read = await call.consume((stream) => collect(stream, MAX_ANSWER_BYTES));
  const { decision } = call.exchange;
  if (read === null || decision === undefined) throw new Unavailable('The answer of the model cannot be read.', null);
  const { traceId, spanId, modelGroup } = call;
  return { ...decision, callId: call.callId, traceId, spanId, modelGroup, cost: call.cost() };
}

async function send(
  scope: DecisionScope,
  request: ModelRequest,
  signal: AbortSignal = scope.signal,
): Promise<GatewayCall> {
  assertQuestionCount(request.body['questions'], scope.platform.decisions.maxQuestions);
  const caller = callerOf(scope);
  const sent = { ...request, outcomeScope: outcomeScopeOf(visibilityOf(caller)) };
  const firstCall = await scope.platform.gateway.call(caller, sent, signal);
  const call = await askFallbacks(scope, sent, { call: firstCall, signal });
  enqueueDecision(scope, request, call);
  return call;
}

/** Queues the decision of a call for storage, where the settings or the key enable it. */
function enqueueDecision(scope: DecisionScope, request: ModelRequest, call: GatewayCall): void {
  const { decision } = call.exchange;
  const caller = callerOf(scope);
  const { storage, queue, pending } = scope.platform.decisions;
  const configured = storageLevelOf(storage, caller.key);
  if (decision === undefined || configured === 'none') return;
  const level = request.omitContent === true ? 'redacted' : configured;
  const { callId, traceId, spanId, modelGroup, editedBody: body = request.body } = call;
  const stamps = newStamps(authored(scope));
  const enqueue = (record: DecisionRecord): void =>
    queue.enqueue({
      id: `${traceId}${spanId}`,
      callId,
      model: modelGroup,
      content: decisionContentOf(record.decision, record.input, { traceId, spanId, level }),
      ...ownerOf(caller),
      ...stamps,
    });
  // The two decision formats name the input differently: `input` and `state`.
  const unmasked: DecisionRecord = { decision, input: body['input'] ?? body['state'] };
  if (call.forRecord === undefined) return enqueue(unmasked);
  // The caller does not wait for guardrails that only mask records.
  pending.add(callId, enqueueMasked(call.forRecord(unmasked, pending.signal)));

  async function enqueueMasked(masking: Promise<DecisionRecord | null>): Promise<void> {
    const masked = await masking.catch(() => null);
    if (masked !== null) enqueue(masked);
  }
}
