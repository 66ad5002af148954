import type { ByteStream } from '../../domain/bytes.ts';
import { withMetadata } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import { DomainError, Unavailable } from '../../domain/errors.ts';
import { NO_RETRIES } from '../../domain/inference/retries.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import type { CopyGateway } from '../gateway.ts';
import { inRegion, permittedFor } from '../routing/permitted-router.ts';
import type { Route, TeamRouter } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';
import { withTarget } from '../admission/key-rules.ts';
import type { CallGuard } from '../guardrails/guarding.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import { type CallTools, openCall } from './call.ts';
import { estimatedUsage, sendOpened } from './call-steps.ts';
import type { Retrying } from './retry-tools.ts';

/** Maximum number of copies that run at once in this process. Further copies are not sent. */
const MAX_COPIES = 64;
/** Maximum size of the bodies of the running copies together, in bytes. Further copies are not sent. */
const MAX_COPY_BYTES = 32 * 1024 * 1024;
/** Time after which a copy is cancelled, in ms. */
const MAX_COPY_MS = 600_000;
/** Time in which cancelled copies end at a shutdown, in ms. */
const CANCEL_MS = 500;
const SHUTTING_DOWN = 'The process is shutting down.';

/** Gateway parts that copies of calls use. */
interface MirrorParts {
  readonly routeOf: TeamRouter;
  readonly selection: Selection;
  readonly retrying: Pick<Retrying, 'reserve' | 'send'>;
  /** Replaces a configured alias by its model. Returns other names unchanged. */
  readonly targetOf: (name: string) => string;
  readonly tools: CallTools;
  /** Selects the guardrails of a call; null for none. */
  readonly guardOf: (caller: Caller, request: ModelRequest, route: Route) => CallGuard | null;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  readonly providers: readonly Provider[];
}

/**
 * Sends copies of calls to silent models (`silent_model`). Copies are recorded and billed; their answers are discarded.
 */
export interface Mirroring {
  /**
   * Starts a copy of a call for each silent model of its deployment. Returns immediately and never throws. A failure of
   * a copy does not affect the call.
   */
  start(caller: Caller, request: ModelRequest, deployment: Deployment): void;
}

export function createMirroring(parts: MirrorParts): Mirroring & CopyGateway {
  const { routeOf, selection, retrying, targetOf, tools, guardOf, forRequest, providers } = parts;
  /** Sends a copy without the cache of answers. */
  const send: CachedSend = (call, _caller, routed) => retrying.send(call, routed);
  /** Aborted at shutdown. */
  const shutdown = new AbortController();
  let runningCopies = 0;
  let runningBytes = 0;
  let isDraining = false;
  /** Resolves the promise of `drainCopies`. */
  let resolveIdle: (() => void) | null = null;

  /**
   * Runs a copy as a separate call, which counts in no limit. Its cost is reserved in the budgets of the caller.
   * Without budget left, no copy is sent.
   */
  async function runCopy(caller: Caller, copy: ModelRequest): Promise<void> {
    const { key } = caller;
    const permitted = inRegion(permittedFor(routeOf, key), copy.region);
    const route = selection.of({ key, request: copy }, permitted)(copy.model);
    if (route === null) return;
    const request = withTarget(copy, targetOf(copy.model));
    const signal = AbortSignal.any([AbortSignal.timeout(MAX_COPY_MS), shutdown.signal]);
    const deployment = forRequest(route.deployment, request);
    const guard = guardOf(caller, request, route);
    const isRefused = route.refusal !== undefined;
    const call = openCall(tools, { caller, request, deployment, signal, isRefused, ...estimatedUsage });
    if (guard !== null) call.setGuard(guard);
    try {
      const reserved = await retrying.reserve(call, { key, request, route });
      if (reserved instanceof DomainError) throw reserved;
      const answered = await sendOpened(
        { send, providers },
        { call, caller, guard, first: reserved },
        { key, request, route: reserved, signal },
      );
      await answered.consume(readToEnd);
    } catch (failure) {
      call.failed(failure);
    }
  }

  function ended(bytes: number): void {
    runningCopies -= 1;
    runningBytes -= bytes;
    if (runningCopies === 0) resolveIdle?.();
  }

  return {
    start(caller, request, { selection: settings }) {
      // A mock answer costs nothing, and its copy would be a real call. The cost of a copy in the background would not
      // be recorded, because nothing reads the copy after its answer.
      if (isDraining || request.mockResponse !== undefined || request.body['background'] === true) return;
      const { byteLength } = request.bytes;
      for (const model of settings?.silentModels ?? []) {
        if (runningCopies >= MAX_COPIES || runningBytes + byteLength > MAX_COPY_BYTES) return;
        runningCopies += 1;
        runningBytes += byteLength;
        const end = (): void => ended(byteLength);
        runCopy(caller, copyOf(request, model)).then(end, end);
      }
    },
    async drainCopies(graceMs) {
      isDraining = true;
      if (runningCopies === 0) return;
      const idle = Promise.withResolvers<void>();
      resolveIdle = idle.resolve;
      await withDeadline(idle.promise, graceMs, () => {
        shutdown.abort(new Unavailable(SHUTTING_DOWN));
        return withDeadline(idle.promise, CANCEL_MS, () => undefined);
      });
    },
  };
}

/** The request for a silent model, without the ids, credentials, retries and stored answers of the original request. */
function copyOf(request: ModelRequest, model: string): ModelRequest {
  const { followUp: _stored, deploymentId: _pinned, answered: _listener, earlier: _earlier, ...others } = request;
  // The bytes of a copy are read, whatever the caller reads.
  const { typed: _typed, ...copied } = others;
  return {
    ...copied,
    model,
    answerModel: undefined,
    alias: undefined,
    callId: null,
    credentials: null,
    retries: { ...NO_RETRIES, count: 0, withoutFallbacks: true },
    labels: withMetadata(request.labels, { is_silent_experiment: true }),
  };
}

/** Reads and discards a stream. */
const readToEnd = (bytes: ByteStream): Promise<void> =>
  new Promise((resolve, reject) => {
    bytes.pipe({ chunk: () => true, done: resolve, fail: reject });
  });
