import type { JsonObject } from '../src/domain/json-object.ts';
import { collect } from '../src/domain/bytes.ts';
import type { Caller } from '../src/domain/caller.ts';
import { callLabels } from '../src/domain/calls/call-labels.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput, Unavailable } from '../src/domain/errors.ts';
import { CHAT_COMPLETIONS } from '../src/domain/inference/endpoint.ts';
import { estimateTokens } from '../src/domain/inference/token-estimate.ts';
import { withCharge, RESERVED_MS, withRenewedReservation, withReservation } from '../src/domain/lens/budget.ts';
import { type LensRun, traceIdOfRun } from '../src/domain/lens/lens.ts';
import { asMessages, objectIn } from '../src/domain/lens/pipeline/analyst.ts';
import type { PaidAnswer } from '../src/domain/lens/store.ts';
import {
  type AnalysisAnswer,
  type AnalysisCall,
  type AnalysisMessage,
  AnalysisTimeout,
  type RunClaim,
} from '../src/domain/lens/worker.ts';
import { usdNumber, type Usd } from '../src/domain/money.ts';
import { INTERNAL_TAG } from '../src/domain/traces/trace-labels.ts';
import type { GatewayCall, OuterReservation } from '../src/gateway/gateway.ts';
import {
  assertAnalysisModel,
  exceedsContext,
  followsSchema,
  outputTokensOf,
  maxCallCost,
  payerOf,
} from './operation/lens-models.ts';
import { lensWorker } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { claimedRun, workerOf } from './operation/lens-claims.ts';

/** Interval between two checks of the budget while a call waits for it, and maximum wait; both in ms. */
const BUDGET_POLL_MS = 250;
const BUDGET_WAIT_MS = 60_000;
/** Deadline of one model call, in ms. It is shorter than the lease of the run. */
const CALL_MS = 240_000;
/** Interval between renewals of a reservation, in ms. */
const RENEW_MS = RESERVED_MS / 10;
/** Maximum size of one answer, in bytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Time after which a worker may repeat a call with an unreadable answer, in s. */
const RETRY_AFTER_SECONDS = 2;
/** Retries of one call after temporary failures. */
const RETRIES = {
  count: 2,
  fallbacks: [],
  contextFallbacks: new Map<string, string>(),
  withoutFallbacks: false,
} as const;

/**
 * The body of a chat completion. The answer must be JSON, by the schema of the prompt when the model supports schemas.
 */
function bodyOf(
  scope: Scope<LensPlatform>,
  model: string,
  { prompt }: AnalysisCall,
  messages: readonly AnalysisMessage[],
): JsonObject {
  const schema = objectIn(prompt)?.['response_schema'];
  const format =
    schema !== undefined && followsSchema(scope, model)
      ? { type: 'json_schema', json_schema: { name: 'answer', schema } }
      : { type: 'json_object' };
  return { model, messages, response_format: format, max_tokens: outputTokensOf(scope, model) };
}

/**
 * Reserves an amount and returns the id of the reservation. Waits while other reservations use up the budget. Throws
 * LimitExceeded and AnalysisTimeout.
 */
async function reserve(scope: Scope<LensPlatform>, claim: RunClaim, amount: Usd, signal: AbortSignal): Promise<string> {
  const { stores, clock, ids, pause } = scope.platform;
  const reservation = { id: ids.uuid(), jobId: claim.runId, amount };
  const untilMs = clock.monotonicMs() + BUDGET_WAIT_MS;
  for (;;) {
    let mustWait = false;
    await stores.lenses.changeLens(claim.lensId, (lens) => {
      const after = withReservation(lens, reservation, clock.now());
      mustWait = after === 'wait';
      return after === 'wait' ? lens : after;
    });
    if (!mustWait) return reservation.id;
    if (clock.monotonicMs() >= untilMs) throw new AnalysisTimeout('Analysis request timed out waiting for budget');
    await pause(BUDGET_POLL_MS, signal);
  }
}

type AnswerText = Pick<PaidAnswer, 'content' | 'finishReason'>;

/**
 * Text and finish reason of a chat completion. The text is empty when the body has none. Throws Unavailable for bytes
 * that are not JSON.
 */
function answerIn(bytes: Uint8Array): AnswerText {
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly choices?: readonly {
        readonly message?: { readonly content?: unknown };
        readonly finish_reason?: unknown;
      }[];
    };
    const [choice] = body.choices ?? [];
    const content = choice?.message?.content;
    const reason = choice?.finish_reason;
    return {
      content: typeof content === 'string' ? content : '',
      finishReason: typeof reason === 'string' ? reason : 'stop',
    };
  } catch (cause) {
    throw new Unavailable('The model returned no chat completion.', RETRY_AFTER_SECONDS, { cause });
  }
}

function requestOf(scope: Scope<LensPlatform>, claim: RunClaim, body: JsonObject): ModelRequest {
  const metadata = { lens_id: claim.lensId, run_id: claim.runId, worker_id: workerOf(scope).id };
  const labels = callLabels({ session: claim.runId, endUser: null, tags: [INTERNAL_TAG], metadata });
  return {
    endpoint: CHAT_COMPLETIONS,
    model: String(body['model']),
    stream: false,
    includeUsage: false,
    bytes: new TextEncoder().encode(JSON.stringify(body)),
    body,
    callId: null,
    // All calls of a run have one trace id, which lenses exclude from their samples.
    parent: { traceId: traceIdOfRun(claim.runId), spanId: null },
    retries: RETRIES,
    omitContent: true,
    ...(labels === undefined ? {} : { labels }),
  };
}

/** Text and finish reason of an answered call. Throws Unavailable when the answer is too large or not JSON. */
async function textOf(call: GatewayCall): Promise<AnswerText> {
  const bytes = await call.consume((stream) => collect(stream, MAX_ANSWER_BYTES));
  if (bytes === null) throw new Unavailable('The answer of the model is too large.');
  return answerIn(bytes);
}

/** A request of a run, the caller who pays for it, and the amount to reserve (`estimate`). */
interface PaidRequest {
  readonly claim: RunClaim;
  readonly request: ModelRequest;
  readonly payer: Caller;
  readonly estimate: Usd;
  readonly answerId: string;
}

/**
 * Reserves the estimate in the budget of the lens and calls the model. The answer is stored with its cost, so that a
 * repeated request does not pay again. Throws what `reserve`, the gateway and `textOf` throw, and AnalysisTimeout.
 */
async function paidAnswer(scope: Scope<LensPlatform>, { claim, request, payer, estimate, answerId }: PaidRequest) {
  const { gateway, stores, clock } = scope.platform;
  const { signal } = scope;
  const { lensId, runId } = claim;
  const reservationId = await reserve(scope, claim, estimate, signal);
  const reservation: OuterReservation<AnswerText> = {
    renewMs: RENEW_MS,
    renew: () => stores.lenses.changeLens(lensId, (lens) => withRenewedReservation(lens, reservationId, clock.now())),
    settle: (cost, answer) =>
      stores.lenses.recordCall(lensId, (lens) => withCharge(lens, reservationId, cost, clock.now()), {
        runId,
        cost,
        answer: answer && { id: answerId, runId, ...answer },
      }),
  };
  const deadline = AbortSignal.timeout(CALL_MS);
  const callSignal = AbortSignal.any([signal, deadline]);
  try {
    return await gateway.callReserved(payer, request, callSignal, { reservation, estimate, read: textOf });
  } catch (error) {
    if (deadline.aborted && !signal.aborted)
      throw new AnalysisTimeout('Analysis request timed out waiting for budget or model output');
    throw error;
  }
}

const answerIdOf = (
  { platform }: Scope<LensPlatform>,
  run: LensRun,
  { purpose }: AnalysisCall,
  messages: unknown,
): string => platform.keyGenerator.hash(JSON.stringify([run.id, run.settings.model, purpose, messages]));

/**
 * Asks the model of a run, paid by the key of the worker within the monthly budget of the lens. An answer that the
 * run has paid for before is returned again at no cost. Throws LimitExceeded for a used-up budget, AnalysisTimeout,
 * NotFound, OwnershipLost, Conflict without a usable key, InvalidInput for an unavailable model, and what the gateway
 * throws.
 */
export const askAnalysisModel = operation({
  name: 'askAnalysisModel',
  access: lensWorker,
  async run(
    scope: Scope<LensPlatform>,
    { claim, call }: { readonly claim: RunClaim; readonly call: AnalysisCall },
  ): Promise<AnalysisAnswer> {
    const run = await claimedRun(scope, claim);
    const { model } = run.settings;
    const messages = call.messages ?? asMessages(call.prompt);
    const answerId = answerIdOf(scope, run, call, messages);
    const paid = await scope.platform.stores.lenses.findAnswer(answerId);
    if (paid !== null)
      return { content: paid.content, finishReason: paid.finishReason, cost: 0, contextExceeded: false };
    const payer = await payerOf(scope);
    try {
      assertAnalysisModel(scope, model);
    } catch (cause) {
      throw new InvalidInput('Analysis model is no longer available', [], { cause });
    }
    const input = estimateTokens({ messages: [...messages] });
    if (exceedsContext(scope, model, input))
      return { content: '', finishReason: 'length', cost: 0, contextExceeded: true };
    const body = bodyOf(scope, model, call, messages);
    const estimate = maxCallCost(scope, model, { input, output: outputTokensOf(scope, model) });
    const request = requestOf(scope, claim, body);
    const { cost, answer } = await paidAnswer(scope, { claim, request, payer, estimate, answerId });
    return { ...answer, cost: usdNumber(cost), contextExceeded: false };
  },
});
