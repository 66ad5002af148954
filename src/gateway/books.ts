import type { Caller } from '../domain/caller.ts';
import type { Outcome } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { Clock, Ids } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import type { Usd } from '../domain/money.ts';
import type { CallRecorder } from './gateway.ts';
import type { HealthWatch, WatchedCall } from './health.ts';
import { type Accounted, recordOf } from './record.ts';

/** What the books of a call are kept with. */
export interface BookTools {
  readonly recorder: CallRecorder;
  readonly health: HealthWatch;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly capturePrompts: boolean;
}

/** What a call asks, and of whom. */
export interface Place {
  readonly request: Accounted;
  readonly deployment: Deployment;
}

/** The record of one call in the making: from its admission until it is closed, once. */
export interface Books {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Milliseconds since it was opened. */
  elapsedMs(): number;
  /** The first byte of an answer has come. */
  answered(): void;
  /** It goes on at another deployment, also in another's name; what failed is told of the one before. */
  moved(to: Place, failure: unknown): void;
  /** Nobody answered: what is recorded is told of a deployment where it has failed before. */
  gaveUp(at: Place, failure: unknown): void;
  closed(): boolean;
  /** Records the call; later calls change nothing. */
  close(
    end: 'completed' | 'failed' | 'abandoned',
    what: { readonly failure?: unknown; readonly outcome: Outcome | null; readonly cost: Usd | null },
  ): void;
}

/** Opens the books of a call. */
export function openBooks(
  { recorder, health, clock, ids, capturePrompts }: BookTools,
  about: Place & { readonly caller: Caller; readonly signal: AbortSignal },
): Books {
  const { caller, request, signal } = about;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const callId = request.callId ?? ids.uuid();
  const traceId = request.parent?.traceId ?? ids.traceId();
  const spanId = ids.spanId();
  let firstByteMs: number | null = null;
  let place: Place = about;
  /** When it came to where it is. */
  let movedMs = 0;
  let sentOn = 0;
  let watched: WatchedCall | null = health.begin(about.deployment.id);
  let closed = false;

  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  return {
    callId,
    traceId,
    spanId,
    elapsedMs,
    answered() {
      firstByteMs = elapsedMs();
      watched?.answered(firstByteMs - movedMs);
    },
    moved(to, failure) {
      watched?.ended(failure);
      watched = health.begin(to.deployment.id);
      place = to;
      movedMs = elapsedMs();
      sentOn += 1;
    },
    gaveUp(at, failure) {
      watched?.ended(failure);
      watched = null;
      place = at;
    },
    closed: () => closed,
    close(end, { failure, outcome, cost }) {
      if (closed) return;
      closed = true;
      // A caller who leaves makes whatever was under way fail; the leaving is what happened. A shutdown is a failure.
      const left = signal.aborted && !(signal.reason instanceof DomainError);
      const how = end === 'failed' && left ? 'abandoned' : end;
      recorder.record(
        recordOf({
          // A call id of ours is as unique as a row's must be; one of a client need not be.
          rowId: request.callId === null ? callId : ids.uuid(),
          callId,
          traceId,
          spanId,
          caller,
          ...place,
          startedAt,
          durationMs: elapsedMs(),
          firstByteMs,
          outcome,
          cost,
          end: how,
          failure: failure instanceof Error ? failure : null,
          capturePrompts: capturePrompts && place.request.unkept !== true,
          ...(sentOn === 0 ? {} : { sentOn }),
        }),
      );
      watched?.ended(how === 'failed' ? failure : null);
    },
  };
}
