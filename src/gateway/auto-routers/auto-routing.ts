import type { AutoRouter } from '../../domain/auto-routers/auto-router.ts';
import { type Conversation, conversationOf } from '../../domain/auto-routers/conversation.ts';
import type { RoutingDecision } from '../../domain/auto-routers/routing-decision.ts';
import type { Caller } from '../../domain/caller.ts';
import type { CatalogSource } from '../../domain/catalog/catalog.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { estimateContentTokens, estimateItemTokens, estimateTokens } from '../../domain/inference/token-estimate.ts';
import type { Budgets } from '../admission/budgets.ts';
import type { RequiredParamCheck } from '../admission/key-rules.ts';
import type { OpenCall } from '../calls/call.ts';
import { asFallback } from '../calls/fallback-request.ts';
import type { Retrying } from '../calls/retry-tools.ts';
import type { Gateway, GatewayCall } from '../gateway.ts';
import type { BeforeSend } from '../guardrails/guarded-call.ts';
import { inRegion, permittedFor } from '../routing/permitted-router.ts';
import { mockOf, type Route, type TeamRouter } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import { classify, type Classified } from './classify.ts';
import { createHeldDecisions, sessionOf } from './held-decisions.ts';
import { createJudgeCalls } from './judge-calls.ts';
import { type PlacedCall, placeCall } from './tier-routes.ts';

/** Parts of the gateway that routers use. */
export interface AutoRoutingTools {
  readonly routeOf: TeamRouter;
  readonly selection: Pick<Selection, 'of'>;
  readonly retrying: Pick<Retrying, 'reserve'>;
  /** Sends an admitted call, or answers it from the cache of answers. */
  readonly send: CachedSend;
  readonly callModel: Gateway['call'];
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  readonly providers: readonly Provider[];
  readonly catalog: Pick<CatalogSource, 'current'>;
  readonly requiredParams: Pick<RequiredParamCheck, 'assertPresent'>;
  readonly budgets: Pick<Budgets, 'check'>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** An admitted call of a router. */
interface RoutedCall {
  readonly caller: Caller;
  readonly request: ModelRequest;
  /** Route of the router. */
  readonly route: Route;
  readonly signal: AbortSignal;
  readonly beforeSend?: BeforeSend;
}

/** Calls of auto routers. */
export interface AutoRouting {
  /**
   * Checks required parameters and budgets, and counts a call in its limits, before a judge is asked. Throws as
   * `Budgets.check` and `OpenCall.limit`, and InvalidInput for the call of a judge: routers would ask each other.
   */
  admit(
    call: OpenCall,
    caller: Caller,
    at: { readonly deployment: Deployment; readonly request: ModelRequest },
  ): Promise<void>;
  /** Decides the model of an admitted call, reserves its cost there and sends it. Throws as `Retrying.send`. */
  send(call: OpenCall, routed: RoutedCall): Promise<GatewayCall>;
}

/** Creates the calls of auto routers. */
export function createAutoRouting(tools: AutoRoutingTools): AutoRouting {
  const { clock, retrying } = tools;
  const nowMs = (): number => clock.monotonicMs();
  const held = createHeldDecisions(nowMs);
  const judges = createJudgeCalls(tools.callModel, nowMs);

  /** The decision that the session of a call keeps; null where the call is classified. */
  function keptDecision(router: AutoRouter, session: string | null, { endsWithAsk }: Conversation) {
    if (session === null) return null;
    const continues = router.mode === 'user_turn' && !endsWithAsk;
    if (!router.hasAffinity && !continues) return null;
    const found = held.find(session, router.heldMs);
    if (found === null) return null;
    const cause = router.hasAffinity ? ('session_affinity' as const) : ('user_turn' as const);
    return { classified: { tier: found.tier, cause, signals: [] }, model: found.model };
  }

  async function decide(
    call: OpenCall,
    router: AutoRouter,
    { caller, request, route, signal }: RoutedCall,
  ): Promise<{ readonly placed: PlacedCall; readonly classified: Classified }> {
    const { key } = caller;
    const conversation = conversationOf(request.endpoint, request.body);
    const session = sessionOf(route.deployment.id, caller, request);
    const kept = keptDecision(router, session, conversation);
    const about = { caller, router: request.model, request, call, signal };
    const classified = kept?.classified ?? (await classify(router, conversation, { judges, about }));
    const needs = {
      router: request.model,
      deploymentId: request.deploymentId,
      hasImage: conversation.hasImage,
      tokens: router.escalatesByContext ? estimatedTokens(request) : null,
    };
    const wanted = { tier: classified.tier, model: kept?.model ?? null };
    const permitted = inRegion(permittedFor(tools.routeOf, key), request.region);
    const routeOf = tools.selection.of({ key, request }, permitted);
    const placed = placeCall(router, wanted, {
      routeOf,
      needs,
      catalog: () => tools.catalog.current(),
      random: tools.random,
    });
    const isHeld = router.hasAffinity || router.mode === 'user_turn';
    if (session !== null && isHeld && kept === null && placed.tier !== null)
      held.keep(session, { tier: placed.tier, model: placed.model.model }, router.heldMs);
    return { placed, classified };
  }

  async function send(call: OpenCall, routed: RoutedCall): Promise<GatewayCall> {
    const { caller, request, route, signal, beforeSend } = routed;
    const router = route.deployment.autoRouter;
    if (router === undefined || request.endpoint.dialect === null) throw notAConversation(request);
    const startedAt = clock.now().getTime();
    const startMs = nowMs();
    const { placed, classified } = await decide(call, router, routed);
    const decision = decisionOf(router, {
      placed,
      classified,
      request,
      route,
      startedAt,
      durationMs: nowMs() - startMs,
    });
    const target = { ...asFallback(request, placed.model, placed.model.model), routing: decision };
    const first = request.mockResponse === undefined ? placed.route : mockOf(placed.route, tools.providers);
    call.replaceDeployment({ request: target, deployment: tools.forRequest(first.deployment, target) });
    const reserving = retrying.reserve(call, { key: caller.key, request: target, route: first });
    const reserved = reserving instanceof Promise ? await reserving : reserving;
    const sent = { key: caller.key, request: target, route: reserved, signal };
    return await tools.send(call, caller, beforeSend === undefined ? sent : { ...sent, beforeSend });
  }

  return {
    async admit(call, caller, at) {
      if (at.request.judgeFor !== undefined) throw routerAsJudge(at.request);
      const checked = { ...at, model: at.request.model };
      await tools.requiredParams.assertPresent(caller, checked);
      await tools.budgets.check(caller, checked, at.request.labels);
      await call.limit(at.request);
    },
    send,
  };
}

const notAConversation = ({ endpoint, model }: ModelRequest): InvalidInput => {
  const message = `${endpoint.path}: The model '${model}' is a router, which answers conversations only.`;
  return new InvalidInput(message, [{ path: ['body', 'model'], rule: 'router', message }]);
};

const routerAsJudge = ({ model, judgeFor }: ModelRequest): InvalidInput =>
  new InvalidInput(`The model '${model}' is a router. It cannot be the judge of the router '${judgeFor}'.`);

function estimatedTokens({ endpoint, body }: ModelRequest): number {
  if (endpoint.dialect === 'generate-content') return estimateContentTokens(body);
  return endpoint.dialect === 'responses' ? estimateItemTokens(body) : estimateTokens(body);
}

function decisionOf(
  router: AutoRouter,
  {
    placed,
    classified,
    request,
    route,
    startedAt,
    durationMs,
  }: {
    readonly placed: PlacedCall;
    readonly classified: Classified;
    readonly request: ModelRequest;
    readonly route: Route;
    readonly startedAt: number;
    readonly durationMs: number;
  },
): RoutingDecision {
  const { score, probability, escalated } = classified;
  const label = placed.tier === null ? undefined : router.labels[placed.tier];
  return {
    router: request.model,
    routerId: route.deployment.id,
    classifier: router.classifier.kind,
    tier: placed.tier,
    ...(label === undefined ? {} : { tierLabel: label }),
    model: placed.model.model,
    cause: classified.cause,
    signals: [...classified.signals, ...placed.signals],
    ...(score === undefined ? {} : { score }),
    ...(probability === undefined ? {} : { probability }),
    ...(escalated === undefined ? {} : { escalated }),
    startedAt,
    durationMs: Math.round(durationMs * 1e3) / 1e3,
  };
}
