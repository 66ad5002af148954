import { collect } from '../../src/domain/bytes.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { type EarlierAnswers, weakPositions } from '../../src/domain/decisions/earlier-answers.ts';
import { DomainError, Unavailable } from '../../src/domain/errors.ts';
import { NO_RETRIES } from '../../src/domain/inference/retries.ts';
import { addUsd, type Usd } from '../../src/domain/money.ts';
import { fallbacksAfter } from '../../src/domain/routing/fallback-rule.ts';
import type { DecisionRecord, GatewayCall } from '../../src/gateway/gateway.ts';
import { callerOf } from './operation.ts';
import type { DecisionPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Sends the open questions to the fallbacks of the model, one fallback after the other. A question is open if it was
 * refused, or if its answer has less label mass (sum of the label probabilities) than the setting `fallbackBelow`. A
 * null setting disables fallbacks. Returns one call with all answers and the sum of the costs; the first call when no
 * fallback answers. Each request to a fallback is a separate call with its own checks of key, budget and limits, and
 * its own price and records. A fallback that fails with a DomainError is skipped.
 */
export async function askFallbacks(
  scope: Scope<DecisionPlatform>,
  request: ModelRequest,
  { call: first, signal }: { readonly call: GatewayCall; readonly signal: AbortSignal },
): Promise<GatewayCall> {
  const { fallbackBelow } = scope.platform.decisions;
  if (fallbackBelow === null) return first;
  const calls = [first];
  for (const model of targetsOf(scope, request, first)) {
    const last = calls.at(-1) ?? first;
    const earlier = earlierAnswersOf(last, fallbackBelow);
    if (earlier === null) break;
    const next = await callFallback(scope, fallbackRequest(request, model, { first, earlier }), signal).catch(
      async (error: unknown) => {
        if (error instanceof DomainError && !signal.aborted) return null;
        await settle(last);
        throw error;
      },
    );
    if (next === null) continue;
    await settle(last);
    calls.push(next);
  }
  return combined(calls);
}

const callFallback = (
  scope: Scope<DecisionPlatform>,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<GatewayCall> => scope.platform.gateway.call(callerOf(scope), request, signal);

/** Reads the answer of a call to the end, so that its cost is recorded. The answer is not forwarded. */
const settle = (call: GatewayCall): Promise<unknown> => call.consume((bytes) => collect(bytes, MAX_ANSWER_BYTES));

/**
 * Fallbacks of the requested model, without those that failed before the first answer, and without the one that gave
 * that answer.
 */
function targetsOf(
  { platform }: Scope<DecisionPlatform>,
  request: ModelRequest,
  { modelGroup }: GatewayCall,
): readonly string[] {
  const policy = platform.fallbacks.policy().fallbacks;
  // Any error that is not about the content or length of the request selects the general list of fallbacks.
  const refusal = new Unavailable('A question was refused.', null);
  const names = fallbacksAfter(refusal, request, policy);
  const models = names.map(({ model }) => model);
  return models.slice(models.indexOf(modelGroup) + 1);
}

/** The answers of a call, and its open questions. Null when no question is open, or there is no decision. */
function earlierAnswersOf({ exchange }: GatewayCall, fallbackBelow: number): EarlierAnswers | null {
  if (exchange.decision === undefined) return null;
  const open = weakPositions(exchange.decision.decision, fallbackBelow);
  return open.length === 0 ? null : { ...exchange.decision, open };
}

/** Request for the open questions: in the trace of the first call, without retries and further fallbacks. */
const fallbackRequest = (
  request: ModelRequest,
  model: string,
  { first, earlier }: { readonly first: GatewayCall; readonly earlier: EarlierAnswers },
): ModelRequest => ({
  ...request,
  model,
  earlier,
  credentials: null,
  callId: null,
  parent: { traceId: first.traceId, spanId: first.spanId },
  retries: { ...NO_RETRIES, withoutFallbacks: true },
});

/** Combines calls: ids, deployment, tries and limits of the first, the answer of the last, and the sum of the costs. */
function combined(calls: readonly GatewayCall[]): GatewayCall {
  const [first] = calls;
  const last = calls.at(-1);
  if (first === undefined || last === undefined) throw new RangeError('There is no call to combine.');
  if (first === last) return first;
  const { callId, traceId, spanId, modelGroup, deployment, tries, limits } = first;
  const before = calls.slice(0, -1);
  return {
    callId,
    traceId,
    spanId,
    modelGroup,
    deployment,
    tries,
    limits,
    exchange: last.exchange,
    guardrails: last.guardrails,
    // The input is stored with masks, even if only the guardrails of an earlier call have masks.
    editedBody: calls.findLast(({ editedBody }) => editedBody !== undefined)?.editedBody,
    forRecord: maskedByAll(calls),
    elapsedMs: () => first.elapsedMs(),
    cost: () => sumOf(calls.map((call) => call.cost())),
    keySpend: () => last.keySpend(),
    deltas: () => last.deltas(),
    bytes: () => last.bytes(),
    consume: (use) => last.consume(use),
    translated: (translate) => combined([...before, last.translated(translate)]),
    withDropped: (dropped) => combined([...before, last.withDropped(dropped)]),
    guarded: (guardrails, edits) => combined([...before, last.guarded(guardrails, edits)]),
  };
}

/** Masks a record by the guardrails of all calls, in order. Undefined where no call has such guardrails. */
function maskedByAll(calls: readonly GatewayCall[]): GatewayCall['forRecord'] {
  const maskings = calls.flatMap(({ forRecord }) => forRecord ?? []);
  if (maskings.length === 0) return undefined;
  return async (record, signal) => {
    let masked: DecisionRecord | null = record;
    for (const mask of maskings) masked = masked && (await mask(masked, signal));
    return masked;
  };
}

/** The sum; null when one of the costs is unknown. */
const sumOf = (costs: readonly (Usd | null)[]): Usd | null =>
  costs.reduce((sum, cost) => (sum === null || cost === null ? null : addUsd(sum, cost)));
