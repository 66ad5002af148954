import type { JsonObject } from '../../domain/json-object.ts';
import type { FollowUp, ModelRequest } from '../../domain/chat/chat.ts';
import type { MadeDecision } from '../../domain/decisions/decision.ts';
import { answerTexts } from '../../domain/guardrails/texts/answer-texts.ts';
import { withTexts } from '../../domain/guardrails/texts/walk.ts';
import type { CallGuard, RunningCall } from './guarding.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { repeatedName } from '../../domain/guardrails/texts/repeated-names.ts';
import { requestTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { AnsweredByPipeline } from '../../domain/policies/pipeline-rejection.ts';
import type { OpenCall } from '../calls/call.ts';
import type { DecisionRecord, GatewayCall } from '../gateway.ts';
import { guardAnswer, maskingRefusal } from './guarded-answer.ts';
import { withRequestTools } from './inspected-tools.ts';
import { maskedDecision } from './recorded-decision.ts';

/** A request whose answer is stored and published only after its guardrails let it pass. */
interface DeferredAnswer {
  readonly request: ModelRequest;
  /** Guardrails let the whole answer pass. `texts` are its edited texts; null where none was edited. */
  passed(texts: readonly string[] | null): void;
  /** The request has passed its checks, and the answer may be sent. Publishes the answers of a decision that wait. */
  release(decision: MadeDecision | undefined): void;
}

function deferAnswer(guard: CallGuard, request: ModelRequest): DeferredAnswer {
  const stored = deferStore(guard, request);
  const published = deferPublication(guard, stored.request);
  return {
    request: published.request,
    passed: stored.passed,
    release(decision) {
      stored.release();
      published.publish(decision);
    },
  };
}

interface DeferredStore extends Pick<DeferredAnswer, 'request' | 'passed'> {
  release(): void;
}

/** Stores the answer of a guarded call when request and answer have passed their checks. */
function deferStore(guard: CallGuard, request: ModelRequest): DeferredStore {
  const { followUp, endpoint } = request;
  const store = followUp?.store;
  if (followUp === undefined || store === undefined)
    return { request, passed: () => undefined, release: () => undefined };
  let complete: { readonly answer: JsonObject; readonly body: JsonObject } | null = null;
  let passedTexts: { readonly texts: readonly string[] | null } | null = null;
  let isReleased = false;
  const storeIfDue = (): boolean => {
    // Guardrails of a deployment are added before it is called.
    const passed = guard.has('post_call') ? passedTexts : { texts: null };
    if (complete === null || passed === null || !isReleased) return true;
    const { answer, body } = complete;
    complete = null;
    const { texts } = passed;
    const changes = texts === null ? {} : withTexts(answer, answerTexts(endpoint, answer), texts);
    return store({ ...answer, ...changes }, body);
  };
  return {
    request: {
      ...request,
      followUp: {
        ...followUp,
        store(answer, body) {
          complete = { answer, body };
          return storeIfDue();
        },
      },
    },
    passed(texts) {
      passedTexts = { texts };
      storeIfDue();
    },
    release() {
      isReleased = true;
      storeIfDue();
    },
  };
}

/** Publishes the answers of a decision after all checks, with the edits of these checks. */
function deferPublication(
  guard: CallGuard,
  request: ModelRequest,
): { readonly request: ModelRequest; publish(decision: MadeDecision | undefined): void } {
  const { answered } = request;
  if (answered === undefined) return { request, publish: () => undefined };
  const waiting = new Set<number>();
  return {
    request: {
      ...request,
      answered(one) {
        // Guardrails of a deployment are added before it is called.
        if (guard.has('post_call') || guard.has('during_call')) waiting.add(one.position);
        else answered(one);
      },
    },
    publish(made) {
      for (const position of waiting) {
        const question = made?.questions[position];
        const answer = made?.decision.answers[position];
        if (question !== undefined && answer !== undefined) answered({ position, question, answer });
      }
    },
  };
}

/** Runs the guardrails of a deployment that have not run yet, before a request is sent to it. */
export type BeforeSend = (deployment: Deployment, request: ModelRequest) => Promise<ModelRequest>;

/** Sends an admitted and checked request. */
export type Send = (
  call: OpenCall,
  sent: { readonly request: ModelRequest; readonly signal: AbortSignal; readonly beforeSend: BeforeSend },
) => Promise<GatewayCall>;

/**
 * The request with the texts that the guardrails of a mode edited; the same object when they edited none. `keep`
 * receives the edited request after each edit, even if a later guardrail throws. Throws Rejected for an edit of a form.
 */
async function editedRequest(
  guard: CallGuard,
  mode: 'pre_call' | 'during_call',
  { request, call }: { readonly request: ModelRequest; readonly call: RunningCall },
  keep?: (request: ModelRequest) => void,
): Promise<ModelRequest> {
  if (!guard.has(mode)) return request;
  const places = requestTexts(request.endpoint, request.body);
  const after = (texts: readonly string[]): ModelRequest => {
    const changes = withTexts(request.body, places, texts);
    return { ...request, body: { ...request.body, ...changes }, replaced: { ...request.replaced, ...changes } };
  };
  const onEdit = keep === undefined ? undefined : (texts: readonly string[]): void => keep(after(texts));
  const { texts, isEdited } = await guard.check(mode, places, withRequestTools(call, request.body), 'all', onEdit);
  if (!isEdited) return request;
  if (request.form !== undefined) throw maskingRefusal(guard, 'in a form');
  return after(texts);
}

/**
 * Throws InvalidInput for a JSON body in which an object at the level `fromLevel` or deeper has a member twice. Parsers
 * differ in which of the two values they use, so the upstream may read a text that was not checked. Does nothing when
 * no guardrail reads the request.
 */
export function assertNoRepeatedMember(
  guard: CallGuard,
  { bytes, form, fromLevel = 2 }: { readonly bytes: Uint8Array; readonly form?: unknown; readonly fromLevel?: number },
): void {
  if (form !== undefined || !guard.checksRequest()) return;
  const name = repeatedName(bytes, fromLevel);
  if (name === null) return;
  const message = `An object of the body has the member '${name.slice(0, 256)}' twice, so the guardrails of this call cannot check it.`;
  throw new InvalidInput(message, [{ path: ['body'], rule: 'repeated', message }]);
}

/** Checks a request, but not its answer. Returns the request with edited texts. Throws as `sendGuarded`. */
export async function checkedRequest(
  guard: CallGuard,
  request: ModelRequest,
  call: RunningCall,
): Promise<ModelRequest> {
  assertNoRepeatedMember(guard, request);
  const checked = await editedRequest(guard, 'pre_call', { request, call });
  const running = withRequestTools(call, checked.body);
  await guard.checkAtOnce('during_call', requestTexts(checked.endpoint, checked.body), running);
  return checked;
}

/** Runs guardrails in parallel with the call. A check that blocks or fails aborts the returned signal. */
function checkInParallel(guard: CallGuard, request: ModelRequest, call: RunningCall) {
  const stop = new AbortController();
  const running = withRequestTools(call, request.body);
  const checking = guard.checkAtOnce('during_call', requestTexts(request.endpoint, request.body), running);
  checking.catch((failure: unknown) => stop.abort(failure));
  return { checking, signal: AbortSignal.any([call.signal, stop.signal]) };
}

/**
 * The request with an answer of the gateway in place of a call; null where the endpoint answers no text. The answer is
 * not stored, because its request would be stored, too.
 */
function answeredInstead(request: ModelRequest, { message }: AnsweredByPipeline): ModelRequest | null {
  const { followUp, ...others } = request;
  if (request.endpoint.dialect === null || request.endpoint.answers.member === null) return null;
  const { store: _store, ...ids } = followUp ?? {};
  const unstored = followUp === undefined ? {} : { followUp: ids as FollowUp };
  return { ...others, ...unstored, mockResponse: message, mockFinish: 'content_filter' };
}

/**
 * Sends a call with its guardrails: before the call, in parallel with it, and on its answer. Resolves when the head of
 * the answer may be sent. Throws Rejected, GuardrailFailed, Unavailable, InvalidInput for a repeated member, and what
 * `send` throws.
 */
export async function sendGuarded(
  guard: CallGuard,
  call: OpenCall,
  { request, signal, send }: { readonly request: ModelRequest; readonly signal: AbortSignal; readonly send: Send },
): Promise<GatewayCall> {
  const running = { callId: call.callId, traceId: call.traceId, signal };
  const isCheckedBefore = guard.has('pre_call');
  assertNoRepeatedMember(guard, request);
  const keep = (one: ModelRequest): void => call.setEditedRequest(one);
  let checked: ModelRequest;
  try {
    checked = await editedRequest(guard, 'pre_call', { request, call: running }, keep);
  } catch (failure) {
    const mocked = failure instanceof AnsweredByPipeline ? answeredInstead(request, failure) : null;
    if (mocked === null) throw failure;
    const answered = await send(call, { request: mocked, signal, beforeSend: (_to, sent) => Promise.resolve(sent) });
    return answered.guarded(guard.applied, { policies: guard.policies });
  }
  if (isCheckedBefore) guard.endRequestCheck();
  const parallel = guard.has('during_call') ? checkInParallel(guard, checked, running) : null;
  const deferred = deferAnswer(guard, checked);
  const answer = guardAnswer(guard, { request: checked, call: running, passed: deferred.passed });
  call.setAnswerCheck((exchange) => answer.withChecks(exchange));
  // A copy: `guard.add` adds the guardrails of deployments to `applied`.
  const own = [...guard.applied];
  // Names of the guardrails that checked each body. A fallback may have another body, or the first body without the
  // edits of later checks.
  const checkedBy = new Map<ModelRequest['body'], readonly string[]>([[checked.body, own]]);
  let sentBody = checked.body;
  const beforeSend: BeforeSend = async (deployment, attempted) => {
    const { guardrails = [] } = deployment;
    const added = guard.add(guardrails, attempted.model);
    const done = checkedBy.get(attempted.body) ?? [];
    const due = [...own, ...added].filter((name) => !done.includes(name));
    sentBody = attempted.body;
    if (due.length === 0) return attempted;
    guard.beginRequestCheck();
    const rechecked = await checkedRequest(guard.only(due), attempted, running);
    guard.endRequestCheck();
    sentBody = rechecked.body;
    checkedBy.set(sentBody, [...done, ...due]);
    if (rechecked !== attempted) call.setEditedRequest(rechecked);
    return rechecked;
  };
  try {
    const sending = send(call, { request: deferred.request, signal: parallel?.signal ?? signal, beforeSend });
    const [answered] = await Promise.all([sending, parallel?.checking]);
    await answer.checked();
    const decision = answer.release();
    deferred.release(decision);
    return answered.guarded(guard.applied, {
      policies: guard.policies,
      ...(sentBody === request.body ? {} : { body: sentBody }),
      ...(decision === undefined ? {} : { decision }),
      ...(guard.has('logging_only')
        ? {
            forRecord: (record: DecisionRecord, ending: AbortSignal) =>
              maskedDecision(guard, { ...running, signal: ending }, { request, record }),
          }
        : {}),
    });
  } catch (failure) {
    answer.cancel(failure);
    throw failure;
  }
}
