import type { ByteStream } from '../../domain/bytes.ts';
import { withMetadata } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import { NO_RETRIES } from '../../domain/inference/retries.ts';
import { permittedFor } from '../routing/permitted-router.ts';
import type { Route, TeamRouter } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';
import type { CallGuard } from '../guardrails/guarding.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import { type CallTools, openCall } from './call.ts';
import { estimatedUsage, sendOpened } from './call-steps.ts';
import type { Retrying } from './retry-tools.ts';

/** Maximum number of copies that run at once in this process. Further copies are not sent. */
const MAX_COPIES = 64;
/** Time after which a copy is cancelled, in ms. */
const MAX_COPY_MS = 600_000;

/** Gateway parts that copies of calls use. */
interface MirrorParts {
  readonly routeOf: TeamRouter;
  readonly selection: Selection;
  readonly retrying: Pick<Retrying, 'send'>;
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

export function createMirroring(parts: MirrorParts): Mirroring {
  const { routeOf, selection, retrying, tools, guardOf, forRequest, providers } = parts;
  /** Sends a copy without the cache of answers. */
  const send: CachedSend = (call, _caller, routed) => retrying.send(call, routed);
  let runningCopies = 0;

  /** Runs a copy as a separate call. No budget or limit refuses it. At its end, its cost is charged to the key. */
  async function runCopy(caller: Caller, request: ModelRequest): Promise<void> {
    const { key } = caller;
    const route = selection.of({ key, request }, permittedFor(routeOf, key))(request.model);
    if (route === null) return;
    const signal = AbortSignal.timeout(MAX_COPY_MS);
    const deployment = forRequest(route.deployment, request);
    const call = openCall(tools, { caller, request, deployment, signal, ...estimatedUsage });
    const guard = guardOf(caller, request, route);
    if (guard !== null) call.setGuard(guard);
    try {
      const answered = await sendOpened(
        { send, providers },
        { call, caller, guard, first: route },
        { key, request, route, signal },
      );
      await answered.consume(readToEnd);
    } catch (failure) {
      call.failed(failure);
    }
  }

  return {
    start(caller, request, deployment) {
      for (const model of deployment.selection?.silentModels ?? []) {
        if (runningCopies >= MAX_COPIES) return;
        runningCopies += 1;
        runCopy(caller, copyOf(request, model)).then(ended, ended);
      }
    },
  };

  function ended(): void {
    runningCopies -= 1;
  }
}

/** The request for a silent model, without the ids, credentials, retries and stored answers of the original request. */
function copyOf(request: ModelRequest, model: string): ModelRequest {
  const { followUp: _stored, deploymentId: _pinned, answered: _listener, earlier: _earlier, ...copied } = request;
  return {
    ...copied,
    model,
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
