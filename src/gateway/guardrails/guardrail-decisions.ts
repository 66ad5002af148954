import { collect } from '../../domain/bytes.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { AskDecisions } from '../../domain/guardrails/kinds/decision-model.ts';
import { DECISIONS } from '../../domain/inference/endpoint.ts';
import { SystemCaller } from '../../domain/system-caller.ts';
import type { Gateway } from '../gateway.ts';

/** Maximum size of an answer, in bytes. */
const ANSWER_LIMIT = 16 * 1024 * 1024;
/** Timeout of one attempt, in seconds. Short, because the caller waits for its guardrails. */
const TIMEOUT_SECONDS = 30;

/** Caller of the decisions of guardrails. They are charged to no key, and may use any model. */
const CALLER = new SystemCaller('guardrail');

/**
 * Asks decision models of a gateway. No guardrail runs on these calls. Retries and fallbacks are those of the routing
 * policy.
 */
export const createAskDecisions =
  (gateway: () => Pick<Gateway, 'call'>): AskDecisions =>
  async (model, { text, checks }, signal) => {
    const questions = checks.map(({ name, instructions }) => ({ type: 'predicate', name, instructions }));
    const body = { model, input: text, questions };
    const request: ModelRequest = {
      endpoint: DECISIONS,
      model,
      stream: false,
      includeUsage: false,
      bytes: new TextEncoder().encode(JSON.stringify(body)),
      body,
      callId: null,
      parent: null,
      timeoutSeconds: TIMEOUT_SECONDS,
      unguarded: true,
    };
    const call = await gateway().call(CALLER, request, signal);
    await call.consume((bytes) => collect(bytes, ANSWER_LIMIT));
    const { decision } = call.exchange;
    if (decision === undefined) throw new Unavailable('The answer of the decision model cannot be read.', null);
    return checks.map((_check, index) => {
      const answer = decision.decision.answers[index];
      return answer?.kind === 'predicate' ? answer.probability : null;
    });
  };
