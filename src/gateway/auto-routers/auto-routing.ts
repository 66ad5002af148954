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
import { type RequiredParamCheck, withTarget } from '../admission/key-rules.ts';
import type { OpenCall } from '../calls/call.ts';
import { asFallback } from '../calls/fallback-request.ts';
import type { Retrying } from '../calls/retry-tools.ts';
import type { Gateway, GatewayCall } from '../gateway.ts';
import type { BeforeSend } from '../guardrails/guarded-call.ts';
import { inRegion, permittedFor } from '../routing/permitted-router.ts';
import { mockOf, type Route, type TeamRouter } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import { classify, type Classification } from './classify.ts';
import { createJudgeCalls } from './judge-calls.ts';
import { createSessionDecisions, sessionOf } from './session-decisions.ts';
import { type PlacedCall, placeCall } from './tier-routes.ts';

/** Parts of the gateway that auto routers use. */
export interface AutoRoutingTools {
  readonly routeOf: TeamRouter;
  readonly selection: Pick<Selection, 'of'>;
  readonly retrying: Pick<Retrying, 'reserve'>;
  /** Replaces a configured alias by its model. Returns other names unchanged. */
  readonly targetOf: (name: string) => string;
  /** Sends an admitted call to the selected model, or answers it from the cache of answers. */
  readonly send: CachedSend;
  /** Calls a judge. */
  readonly callModel: Gateway['call'];
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  readonly providers: readonly Provider[];
  readonly catalog: Pick<CatalogSource, 'current'>;
  readonly requiredParams: Pick<RequiredParamCheck, 'assertPresent'>;
  readonly budgets: Pick<Budgets, 'check'>;
  readonly clock: Clock;
  /** A number from 0 to 1, excluding 1. */
  readonly random: () => number;
}

/** An admitted call of an auto router. */
interface RouterCall {
  readonly caller: Caller;
  readonly request: ModelRequest;
  /** Route to the deployment of the router. */
  readonly route: Route;
  readonly signal: AbortSignal;
  readonly beforeSend?: BeforeSend;
}

/** Calls whose model is an auto router. */
export interface AutoRouting {
  /**
   * Checks required parameters and budgets, and counts a call in its limits, before any judge is called. Throws as
   * `Budgets.check` and `OpenCall.limit`. Throws InvalidInput for a judge call: a router as a judge could call itself.
   */
  admit(
    call: OpenCall,
    caller: Caller,
    at: { readonly deployment: Deployment; readonly request: ModelRequest },
  ): Promise<void>;
  /**
   * Selects the model of an admitted call, reserves the cost for this model, and sends the call. Throws as `placeCall`
   * and `Retrying.send`. Throws InvalidInput for an endpoint without a conversation.
   */
  send(call: OpenCall, routed: RouterCall): Promise<GatewayCall>;
}

export function createAutoRouting(tools: AutoRoutingTools): AutoRouting {
  const { clock, retrying } = tools;
  const nowMs = (): number => clock.monotonicMs();
  const sessionDecisions = createSessionDecisions(nowMs);
  const judges = createJudgeCalls(tools.callModel, nowMs);

  /** The earlier decision that applies to a call of a session; null for a call that needs a new decision. */
  function keptDecision(router: AutoRouter, session: string | null, { endsWithUserTurn }: Conversation) {
    if (session === null) return null;
    const continuesTurn = router.classificationMode === 'user_turn' && !endsWithUserTurn;
    if (!router.hasAffinity && !continuesTurn) return null;
    const found = sessionDecisions.use(session, router.sessionTtlMs);
    if (found === null) return null;
    const cause = router.hasAffinity ? ('session_affinity' as const) : ('user_turn' as const);
    return { classified: { tier: found.tier, cause, signals: [] }, model: found.model };
  }

  /** Selects the tier and the model of a call. Throws as `placeCall`. */
  async function decide(
    call: OpenCall,
    router: AutoRouter,
    { caller, request, route, signal }: RouterCall,
  ): Promise<{ readonly placed: PlacedCall; readonly classified: Classification }> {
    const { key } = caller;
    const conversation = conversationOf(request.endpoint, request.body);
    const session = sessionOf(route.deployment.id, caller, request);
    const kept = keptDecision(router, session, conversation);
    const judgedCall = { caller, router: request.model, request, call, signal };
    const classified = kept?.classified ?? (await classify(router, conversation, { judges, judgedCall }));
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
    const keepsDecisions = router.hasAffinity || router.classificationMode === 'user_turn';
    if (session !== null && keepsDecisions && kept === null && placed.tier !== null)
      sessionDecisions.keep(session, { tier: placed.tier, model: placed.model.model }, router.sessionTtlMs);
    return { placed, classified };
  }

  async function send(call: OpenCall, routed: RouterCall): Promise<GatewayCall> {
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
    const selected = asFallback(request, placed.model, placed.model.model);
    const target = { ...withTarget(selected, tools.targetOf(selected.model)), routing: decision };
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
    readonly classified: Classification;
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
    durationMs: Math.round(durationMs * 1_000) / 1_000,
  };
}
