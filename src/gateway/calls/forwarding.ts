import type { Caller } from '../../domain/caller.ts';
import type { Exchange, Outcome } from '../../domain/chat/chat.ts';
import { attachFailedCall } from '../../domain/chat/failed-call.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
import { billedQuantityOf } from '../../domain/inference/billed-quantity.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { Forwarded, Forwarder } from '../../domain/pass-through/forwarded.ts';
import { type CallTools, openCall } from './call.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import type { ForwardGateway } from '../gateway.ts';
import { unpriced } from '../routing/permitted-router.ts';
import { checkForwarded, checkForwardedAnswer } from '../guardrails/guarded-forward.ts';
import type { CallGuard, Guards } from '../guardrails/guarding.ts';

/** Call type of forwarded requests in spend rows, as in the reference. */
const CALL_TYPE = 'pass_through_endpoint';

/** Model name of a call whose model is not known. The name has no price, so a used-up budget refuses the call. */
const NO_MODEL = 'unknown';

/** Creates the calls of pass-through paths: admit, forward, price, record. */
export function createForwarding(
  forwarder: Forwarder,
  tools: CallTools,
  { guards, isBlocked }: { readonly guards: Guards | null; readonly isBlocked: (deployment: Deployment) => boolean },
): ForwardGateway {
  const unpricedCalls = new Map<string, number>();

  /** Creates a function that counts a call as unpriced, at most once. */
  function createUnpricedCount({ provider }: Forwarded): () => void {
    let isCounted = false;
    return () => {
      if (!isCounted) unpricedCalls.set(provider, (unpricedCalls.get(provider) ?? 0) + 1);
      isCounted = true;
    };
  }

  function costOf(request: Forwarded, deployment: Deployment, outcome: Outcome, countUnpriced: () => void): Usd | null {
    const { cost, endpoint, fields, defaultCost } = request;
    // An error of the target costs nothing.
    if (outcome.failure !== null) return ZERO_USD;
    if (cost !== null) return cost;
    const requested = endpoint === null ? undefined : billedQuantityOf(endpoint, fields);
    const used =
      requested === undefined || outcome.measured !== undefined ? outcome : { ...outcome, measured: requested };
    const { responseModel } = outcome;
    const known = tools.price(deployment, used);
    const priced =
      known === null && responseModel !== null && responseModel !== deployment.upstreamModel
        ? tools.price({ ...deployment, upstreamModel: responseModel, modelGroup: responseModel }, used)
        : known;
    const charged = priced ?? defaultCost;
    if (charged === null) countUnpriced();
    return charged;
  }

  /** The guardrails of a request; null for none. */
  function guardOf(caller: Caller, { model, guardrails }: Forwarded): CallGuard | null {
    if (guards === null) return null;
    const hasGuardrails = !guards.isIdle() || (guardrails ?? []).length > 0;
    const mayUseKeyGuardrails = guardrails === undefined && caller.key !== null && namesGuardrails(caller.key);
    if (!hasGuardrails && !mayUseKeyGuardrails) return null;
    const only = guardrails === undefined ? {} : ({ configured: guardrails, configuredOnly: true } as const);
    const guard = guards.open({ caller, model, ...only });
    return guard.isIdle() ? null : guard;
  }

  return {
    unpriced: () => unpricedCalls,
    async forward(caller, request, signal) {
      const deployment = deploymentOf(request);
      const countUnpriced = createUnpricedCount(request);
      const { operation, model, fields: body, callId, parent, userAgent } = request;
      const { labels } = withKeyTags(caller.key, request);
      const guard = guardOf(caller, request);
      const call = openCall(tools, {
        caller,
        request: {
          endpoint: { operation, callType: CALL_TYPE },
          model,
          body,
          callId,
          parent,
          ...(labels === undefined ? {} : { labels }),
          ...(userAgent === undefined ? {} : { userAgent }),
        },
        deployment,
        signal,
        costOf: (outcome) => costOf(request, deployment, outcome, countUnpriced),
      });
      if (guard !== null) call.setGuard(guard);
      let exchange: Exchange | null = null;
      try {
        if (lacksConfiguredCost(request) && isBlocked(deployment)) throw unpriced(model);
        const reserving = call.reserve(expectedOf(request, deployment));
        if (reserving !== undefined) {
          call.prepareLimit({ model });
          await reserving;
        }
        await call.limit({ model });
        const sent = { ...request, owner: caller.keyHash };
        if (guard === null) return call.answered(await forwarder.forward(sent, signal));
        const running = { callId: call.callId, traceId: call.traceId, signal };
        exchange = await forwarder.forward(await checkForwarded(guard, sent, running), signal);
        call.received(exchange);
        const answered = call.answered(await checkForwardedAnswer(guard, exchange, running));
        return answered.guarded(guard.applied);
      } catch (failure) {
        exchange?.bytes.cancel(failure instanceof Error ? failure : undefined);
        attachFailedCall(failure, {
          callId: call.callId,
          timeoutSeconds: request.timeoutSeconds,
          ...(guard === null ? {} : { guardrails: guard.applied }),
        });
        call.failed(failure);
        throw failure;
      }
    },
  };
}

/**
 * Whether a call names a model and has no configured cost. With `needsPrice`, the configured cost is only a default.
 */
const lacksConfiguredCost = ({ cost, defaultCost, model, needsPrice = false }: Forwarded): boolean =>
  (cost === null || needsPrice) && defaultCost === null && model !== NO_MODEL;

/**
 * Expected cost of a call: a fixed cost, the estimate of its endpoint, the default cost, or zero. Only the model of a
 * known endpoint can be free: any other call may name a free model that does not answer it.
 */
function expectedOf({ cost, endpoint, fields: body, body: bytes, defaultCost, labels }: Forwarded, at: Deployment) {
  // Where the endpoint is unknown, `cost` is returned too, and the estimate does not read the endpoint.
  const request = {
    endpoint: endpoint ?? CHAT_COMPLETIONS,
    body,
    bytes,
    ...(labels === undefined ? {} : { labels }),
  };
  // A list of further models may contain one with a price.
  if (cost === null && endpoint !== null && body['models'] === undefined) return { deployment: at, request };
  const deployment = { ...at, upstreamModel: NO_MODEL, modelGroup: NO_MODEL };
  return { deployment, request, cost: cost ?? defaultCost ?? ZERO_USD };
}

const NO_OPTIONS: Deployment['options'] = {};
const NO_SECRETS: Deployment['secrets'] = {};
const NO_OVERRIDES: Deployment['priceOverrides'] = {};

/** A target as a deployment, for records and prices. Its credentials are in the request only. */
const deploymentOf = ({ deploymentId, provider, model, url, timeoutSeconds }: Forwarded): Deployment => ({
  id: deploymentId,
  modelGroup: model,
  provider,
  upstreamModel: model,
  apiBase: url.replace(/[?#].*$/, ''),
  apiKey: null,
  options: NO_OPTIONS,
  secrets: NO_SECRETS,
  dropParams: false,
  timeoutSeconds,
  priceOverrides: NO_OVERRIDES,
  baseModel: null,
});
