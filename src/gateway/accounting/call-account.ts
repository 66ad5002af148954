import type { Caller } from '../../domain/caller.ts';
import type { ChatDelta, Exchange, Outcome } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock, Ids } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Usd } from '../../domain/money.ts';
import type { CallRecorder, GatewayCall } from '../gateway.ts';
import { isOfGuardrail } from '../guardrails/guarding.ts';
import { guardrailSpans } from '../guardrails/guardrail-spans.ts';
import type { HealthWatch, WatchedCall } from '../routing/health.ts';
import { maskedForRecord } from './recorded-texts.ts';
import { type Accounted, type ClosedCall, type Guarded, recordOf } from './record.ts';
import type { ByteStream } from '../../domain/bytes.ts';
import { ReaderStalled } from '../../domain/http.ts';

/** Gateway parts that a call account uses. */
export interface AccountTools {
  readonly recorder: CallRecorder;
  readonly health: HealthWatch;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly capturePrompts: boolean;
}

/** A request and the deployment it is sent to. */
export interface CallTarget {
  readonly request: Accounted;
  readonly deployment: Deployment;
}

/** Account of one call: its ids, times and health report. Closed once, with its record. */
export interface CallAccount {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Milliseconds since the account was opened. */
  elapsedMs(): number;
  /** Records the time of the first response byte. */
  answered(): void;
  /** Goes to another deployment in place of the previous one, which was not called. */
  redirected(to: CallTarget): void;
  /** Continues at another deployment, also of another model; the failure counts for the previous one. */
  moved(to: CallTarget, failure: unknown): void;
  /** All deployments failed: the call is recorded with the deployment `at`. */
  gaveUp(at: CallTarget, failure: unknown): void;
  /** The request is recorded as it was edited. */
  edited(request: Accounted): void;
  /** Guardrails that the call is recorded with. */
  guarded(guard: Guarded): void;
  closed(): boolean;
  /** Records the call; later calls change nothing. */
  close(
    end: 'completed' | 'failed' | 'abandoned',
    what: {
      readonly failure?: unknown;
      readonly outcome: Outcome | null;
      readonly cost: Usd | null;
      readonly windows?: ClosedCall['windows'];
    },
  ): void;
}

const NO_ENTRIES: Guarded['entries'] = [];
const NO_GUARDRAILS: ReturnType<Guarded['of']> = [];

/** Opens the account of a call. */
export function openCallAccount(
  { recorder, health, clock, ids, capturePrompts }: AccountTools,
  about: CallTarget & { readonly caller: Caller; readonly signal: AbortSignal },
): CallAccount {
  const { caller, request, signal } = about;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const callId = request.callId ?? ids.uuid();
  const traceId = request.parent?.traceId ?? ids.traceId();
  const spanId = ids.spanId();
  let firstByteMs: number | null = null;
  let target: CallTarget = about;
  /** Start time of the current attempt. */
  let attemptMs = 0;
  let resendCount = 0;
  let watched: WatchedCall | null = health.begin(about.deployment.id);
  let closed = false;
  let guard: Guarded | null = null;

  function write(call: ClosedCall): void {
    const record = recordOf(call);
    const entries = guard?.entries ?? NO_ENTRIES;
    recorder.record(entries.length === 0 ? record : { ...record, below: guardrailSpans(record.span, entries, ids) });
  }

  /** Records a call, after the guardrails of what is recorded. */
  function keep(call: ClosedCall): void {
    const guardrails = guard?.of('logging_only') ?? NO_GUARDRAILS;
    if (guardrails.length === 0 || !call.capturePrompts) return write(call);
    const masked = maskedForRecord({ guardrails, caller, callId, traceId }, call);
    const writeMasked = (kept: Awaited<typeof masked>): void =>
      write(kept === null ? { ...call, capturePrompts: false } : { ...call, ...kept });
    if (masked instanceof Promise) void masked.then(writeMasked);
    else writeMasked(masked);
  }

  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  return {
    callId,
    traceId,
    spanId,
    elapsedMs,
    answered() {
      firstByteMs = elapsedMs();
      watched?.answered(firstByteMs - attemptMs);
    },
    redirected(to) {
      watched?.ended(null);
      watched = health.begin(to.deployment.id);
      target = to;
    },
    moved(to, failure) {
      watched?.ended(failure);
      watched = health.begin(to.deployment.id);
      target = to;
      attemptMs = elapsedMs();
      resendCount += 1;
    },
    gaveUp(at, failure) {
      watched?.ended(failure);
      watched = null;
      target = at;
    },
    edited(edited) {
      target = { ...target, request: edited };
    },
    guarded(applied) {
      guard = applied;
    },
    closed: () => closed,
    close(end, { failure, outcome, cost, windows }) {
      if (closed) return;
      closed = true;
      // A client disconnect makes the upstream call fail: record it as abandoned. A shutdown is a failure.
      const isDisconnect = signal.aborted && !(signal.reason instanceof DomainError);
      const recordedEnd = end === 'failed' && isDisconnect ? 'abandoned' : end;
      keep({
        // A row id is unique. A generated call id is too; a client's call id may repeat.
        rowId: request.callId === null ? callId : ids.uuid(),
        callId,
        traceId,
        spanId,
        caller,
        ...target,
        startedAt,
        durationMs: elapsedMs(),
        firstByteMs,
        outcome,
        cost,
        end: recordedEnd,
        failure: failure instanceof Error ? failure : null,
        capturePrompts: capturePrompts && target.request.unkept !== true,
        ...(resendCount === 0 ? {} : { resendCount }),
        ...(guard === null ? {} : { guard }),
        ...(windows === undefined ? {} : { windows }),
      });
      // A guardrail is no fault of the deployment.
      watched?.ended(recordedEnd === 'failed' && !isOfGuardrail(failure) ? failure : null);
    },
  };
}

/** Settles a call; only the first use has an effect. */
type Settle = (end: 'completed' | 'failed' | 'abandoned', failure?: unknown) => void;

/** A call that settles at the end of its body, however the body is read. */
export function settledCall(
  facts: Omit<GatewayCall, 'deltas' | 'bytes' | 'consume' | 'translated'>,
  answer: Pick<Exchange, 'bytes' | 'deltas'>,
  settle: Settle,
): GatewayCall {
  return {
    ...facts,
    deltas: () => settlingSteps(answer.deltas(), settle),
    bytes: () => settlingBytes(answer.bytes, settle),
    async consume(use) {
      try {
        const result = await use(answer.bytes);
        settle('completed');
        return result;
      } catch (failure) {
        settle('failed', failure);
        throw failure;
      }
    },
    translated: (translate) => settledCall(facts, { ...answer, bytes: translate(answer.bytes) }, settle),
  };
}

/** Settles after the last byte is forwarded, so that the client does not wait for it. */
function settlingBytes(source: ByteStream, settle: Settle): ByteStream {
  return {
    pipe(sink) {
      source.pipe({
        chunk: (bytes) => sink.chunk(bytes),
        done() {
          sink.done();
          settle('completed');
        },
        fail(error) {
          sink.fail(error);
          // The transport closes the connection of a caller that does not read.
          settle(error instanceof ReaderStalled ? 'abandoned' : 'failed', error);
        },
      });
    },
    resume: () => source.resume(),
    cancel(failure) {
      source.cancel(failure);
      if (failure === undefined) settle('abandoned');
      else settle('failed', failure);
    },
  };
}

/** Deltas of an answer. A failure is the last delta, not an exception. */
function settlingSteps(deltas: AsyncIterableIterator<ChatDelta>, settle: Settle): AsyncIterableIterator<ChatDelta> {
  let over = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (over) return { done: true, value: undefined };
      try {
        const step = await deltas.next();
        if (step.done) {
          over = true;
          settle('completed');
        }
        return step;
      } catch (failure) {
        over = true;
        settle('failed', failure);
        return { done: false, value: failureDelta(failure) };
      }
    },
    async return() {
      over = true;
      settle('abandoned');
      await deltas.return?.();
      return { done: true, value: undefined };
    },
  };
}

function failureDelta(failure: unknown): ChatDelta {
  return failure instanceof DomainError
    ? { kind: 'failure', code: failure.code, message: failure.message }
    : { kind: 'failure', code: 'INTERNAL', message: 'Internal server error' };
}
