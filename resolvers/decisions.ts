import { collect } from '../src/domain/bytes.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import type { DecisionDraft } from '../src/domain/decisions/decision-draft.ts';
import type { MadeDecision } from '../src/domain/decisions/decision.ts';
import { assertQuestionCount } from '../src/domain/decisions/question-count.ts';
import { Unavailable } from '../src/domain/errors.ts';
import { DECISIONS } from '../src/domain/inference/endpoint.ts';
import { assertValidRequest } from '../src/domain/inference/request-validation.ts';
import type { Usd } from '../src/domain/money.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DecisionPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Most bytes of an answer. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Answers typed questions about an input. The request is in either decision format. */
export const decide = operation({
  name: 'decide',
  access: anyKey,
  run: (scope: Scope<DecisionPlatform>, request: ModelRequest): Promise<GatewayCall> => send(scope, request),
});

/** A decision, and the facts of its call. */
export interface TypedDecision extends MadeDecision {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly cost: Usd | null;
}

/** As `decide`, with typed answers. Throws what `decide` throws. */
export const decideTyped = operation({
  name: 'decideTyped',
  access: anyKey,
  async run(scope: Scope<DecisionPlatform>, draft: DecisionDraft): Promise<TypedDecision> {
    const { model, input, questions, parameters, callId, parent } = draft;
    const body = { ...parameters, model, input, questions };
    assertValidRequest(body, DECISIONS);
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const asked = { endpoint: DECISIONS, model, stream: false, includeUsage: false, bytes, body, callId, parent };
    const call = await send(scope, asked);
    // The end of the answer settles the call.
    const read = await call.consume((stream) => collect(stream, ANSWER_LIMIT));
    const { decision } = call.exchange;
    if (read === null || decision === undefined) throw new Unavailable('The answer of the model cannot be read.', null);
    const { traceId, spanId } = call;
    return { ...decision, callId: call.callId, traceId, spanId, cost: call.cost() };
  },
});

function send(scope: Scope<DecisionPlatform>, request: ModelRequest): Promise<GatewayCall> {
  assertQuestionCount(request.body['questions'], scope.platform.decisions.mostQuestions);
  return scope.platform.gateway.call(callerOf(scope), request, scope.signal);
}
