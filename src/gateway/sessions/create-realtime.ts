import type { RateAdmission } from '../../domain/admission/rate-limits.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { attachFailedCall } from '../../domain/chat/failed-call.ts';
import { Unavailable, Unsupported } from '../../domain/errors.ts';
import { assertMayCall, mayCall } from '../../domain/keys/virtual-key.ts';
import { REALTIME, type RealtimeRequest } from '../../domain/realtime/realtime.ts';
import { CallAccount } from '../accounting/call-account.ts';
import { withBudgetFallback } from '../admission/budget-fallbacks.ts';
import type { CostReservation } from '../admission/cost-reservation.ts';
import type { CallTools } from '../calls/call.ts';
import { usedTokens } from '../calls/outcomes.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import type { Realtime, RealtimeLimits } from './realtime.ts';
import { openAccount } from './realtime-account.ts';
import { NORMAL } from './close-codes.ts';
import { createSession, type LiveSession } from './realtime-session.ts';
import type { RegionBinding } from '../routing/customer-region.ts';
import { inRegion, permittedFor } from '../routing/permitted-router.ts';
import { type Route, type TeamRouter, unknownModel } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';

const MINUTE_MS = 60_000;
const SHUTTING_DOWN = 'The process is shutting down.';
/** Time in seconds after which a refused client may try again. */
const RETRY_AFTER_SECONDS = 5;

/** `lifeMs` is longer than the limits of vendors, which end sessions after 30 or 60 minutes. */
const LIMITS: RealtimeLimits = {
  pingMs: 30_000,
  heartbeatTimeoutMs: 75_000,
  stalledMs: MINUTE_MS,
  idleMs: 15 * MINUTE_MS,
  lifeMs: 120 * MINUTE_MS,
  recheckMs: 1_500,
  maxRefusals: 100,
  sessions: 2_000,
};

/** A session begins without a body. */
const NO_BODY = { endpoint: REALTIME, stream: true, body: {}, bytes: new Uint8Array() } as const;

/** Creates the realtime sessions of the gateway: route, admit, open, relay, record. */
export function createRealtime(
  parts: {
    readonly routeOf: TeamRouter;
    readonly selection: Pick<Selection, 'of'>;
    /** Replaces a configured alias by its model. Returns other names unchanged. */
    readonly targetOf: (name: string) => string;
    readonly bindToRegion: RegionBinding;
    readonly tools: CallTools;
  },
  limits: RealtimeLimits = LIMITS,
): Realtime {
  const { routeOf, selection, targetOf, bindToRegion, tools } = parts;
  const { budgets } = tools;
  const sessions = new Set<LiveSession>();
  let opening = 0;
  /** Aborted at shutdown, to stop sessions that are opening. */
  const shutdown = new AbortController();
  /** Functions that resolve the promises of `ended`. */
  let endWaiters: (() => void)[] = [];

  const count = (): number => sessions.size + opening;
  function resolveIfIdle(): void {
    if (count() > 0) return;
    for (const resolve of endWaiters) resolve();
    endWaiters = [];
  }

  return {
    async open(caller, received, { signal, identify }) {
      const { key } = caller;
      const sent = withKeyTags(key, received);
      assertMayCall(key, sent.model);
      const bound: RealtimeRequest & Pick<ModelRequest, 'region'> = sent;
      const { region, ...tagged } = await bindToRegion(caller, bound);
      if (tagged.model !== sent.model) assertMayCall(key, tagged.model);
      const permitted = (model: string): Route | null => {
        const selected = { ...tagged, ...NO_BODY, model, owner: caller.keyHash };
        return selection.of({ key, request: selected }, inRegion(permittedFor(routeOf, key), region))(model);
      };
      const found = permitted(tagged.model);
      if (found === null) throw unknownModel(REALTIME.path, tagged.model);
      if (found.refusal !== undefined) throw found.refusal;
      const first = { name: tagged.model, request: { model: targetOf(tagged.model) }, route: found };
      const { name, route } = await withBudgetFallback(budgets, key, first, async (fallback) => {
        const other = mayCall(key, fallback) ? permitted(fallback) : null;
        return other?.provider.openRealtime === undefined || other.refusal !== undefined
          ? null
          : { name: fallback, request: { model: targetOf(fallback) }, route: other };
      });
      const request = name === tagged.model ? tagged : { ...tagged, model: name };
      const { deployment, provider } = route;
      if (provider.openRealtime === undefined)
        throw new Unsupported(`${REALTIME.path}: The model \`${request.model}\` has no realtime sessions.`);
      if (count() >= limits.sessions)
        throw new Unavailable('Too many realtime sessions are open. Try again later.', RETRY_AFTER_SECONDS);
      // Limits, budgets and the record are those of the model of an alias.
      const model = targetOf(request.model);
      const recordedRequest = { ...request, model, endpoint: REALTIME, body: {} };
      const callAccount = new CallAccount(
        { ...tools, capturePrompts: false },
        { caller, request: recordedRequest, deployment, signal },
      );
      opening += 1;
      let reserved: CostReservation | null = null;
      let rate: RateAdmission | null = null;
      try {
        let limitFraction: number | undefined;
        const at = { deployment, request: null, model };
        const reserving = budgets.reserve(caller, at, request.labels, (fraction) => {
          limitFraction = fraction;
        });
        tools.limits.prepare(caller, { ...request, model }, request.labels);
        reserved = await reserving;
        rate = await tools.limits.admit(caller, { ...request, model, limitFraction }, request.labels);
        callAccount.markSent();
        const upstream = await provider.openRealtime(deployment, request, AbortSignal.any([signal, shutdown.signal]));
        if (shutdown.signal.aborted) {
          upstream.socket.close(NORMAL, '');
          throw new Unavailable(SHUTTING_DOWN);
        }
        callAccount.recordFirstByte();
        const account = openAccount(tools, {
          deployment,
          charge(cost) {
            reserved?.progress(cost);
            budgets.alertSoftBudgets(caller.key, request.labels);
          },
        });
        const session = createSession({
          request,
          budgetedModel: model,
          deployment,
          upstream,
          callAccount,
          account,
          budgets,
          reserved,
          limits,
          nowMs: () => tools.clock.monotonicMs(),
          caller,
          identify,
          onEnd() {
            rate?.settle(usedTokens(account.outcome()));
            sessions.delete(session);
            resolveIfIdle();
          },
        });
        sessions.add(session);
        return session;
      } catch (failure) {
        attachFailedCall(failure, { callId: callAccount.callId, timeoutSeconds: deployment.timeoutSeconds });
        callAccount.close('failed', { failure, outcome: null, cost: null });
        reserved?.settle(null);
        rate?.settle(null);
        throw failure;
      } finally {
        opening -= 1;
        resolveIfIdle();
      }
    },
    runChecks() {
      for (const session of sessions) session.runChecks();
    },
    count,
    ended: () =>
      new Promise((resolve) => {
        endWaiters.push(resolve);
        resolveIfIdle();
      }),
    endAll() {
      shutdown.abort(new Unavailable(SHUTTING_DOWN));
      for (const session of sessions) session.endAtShutdown();
    },
  };
}
