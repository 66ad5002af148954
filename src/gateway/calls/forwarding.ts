import type { Caller } from '../../domain/caller.ts';
import type { ImageKind } from '../../domain/catalog/image-prices.ts';
import type { Exchange, Outcome } from '../../domain/chat/chat.ts';
import { attachFailedCall } from '../../domain/chat/failed-call.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
import { usageOfAbortedCall } from '../../domain/inference/expected-tokens.ts';
import { billedQuantityOf } from '../../domain/inference/billed-quantity.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { Forwarded, Forwarder } from '../../domain/pass-through/forwarded.ts';
import { type CallTools, openCall } from './call.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import type { ForwardGateway } from '../gateway.ts';
import { noPriceOf } from '../routing/permitted-router.ts';
import { checkForwarded, checkForwardedAnswer } from '../guardrails/guarded-forward.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import { type CallGuard, guardFacts, type Guards } from '../guardrails/guarding.ts';

/** Call type of forwarded requests in spend rows, as in the reference. */
const CALL_TYPE = 'pass_through_endpoint';

/** Name of an unknown model. It has no price, so a call of it is never free: only free calls pass a used-up budget. */
const NO_MODEL = 'unknown';

/** Creates the calls of pass-through paths: admit, forward, price, record. */
export function createForwarding(
  forwarder: Forwarder,
  tools: CallTools,
  { guards, isBlocked }: { readonly guards: Guards | null; readonly isBlocked: (deployment: Deployment) => boolean },
): ForwardGateway {
  const unpricedCalls = new Map<string, number>();

  /** Creates a function that counts a call as unpriced when it is first called. */
  function createUnpricedCounter({ provider }: Forwarded): () => void {
    let isCounted = false;
    return () => {
      if (!isCounted) unpricedCalls.set(provider, (unpricedCalls.get(provider) ?? 0) + 1);
      isCounted = true;
    };
  }

  function costOf(request: Forwarded, deployment: Deployment, outcome: Outcome, countUnpriced: () => void): Usd | null {
    const { cost, defaultCost } = request;
    // An error of the target costs nothing.
    if (outcome.failure !== null) return ZERO_USD;
    if (cost !== null) return cost;
    const used = withBilledQuantity(outcome, request);
    let charged = priceOf(deployment, used, request);
    const { responseModel } = outcome;
    if (charged === null && responseModel !== null && responseModel !== deployment.upstreamModel)
      charged = priceOf({ ...deployment, upstreamModel: responseModel, modelGroup: responseModel }, used, request);
    charged ??= defaultCost;
    if (charged === null) countUnpriced();
    return charged;
  }

  /** Cost of a request whose client left before the answer: the configured one, else that of the prompt. */
  function lostCostOf({ cost, endpoint, fields, body }: Forwarded, deployment: Deployment): Usd | null {
    if (cost !== null) return cost === ZERO_USD ? null : cost;
    if (endpoint === null) return null;
    const usage = usageOfAbortedCall({ endpoint, body: fields, bytes: body }, { pieces: 0, reported: null });
    return usage === null ? null : tools.price(deployment, { usage });
  }

  /** Price of images by their size and quality, else the price of the model. Other calls have one price. */
  function priceOf(deployment: Deployment, used: Outcome, { endpoint, fields }: Forwarded): Usd | null {
    const { measured } = used;
    if (endpoint !== null || measured?.unit !== 'image') return tools.price(deployment, used);
    const kind = { ...measured, ...kindIn(fields, measured) };
    const bySize = tools.price(deployment, { ...used, measured: kind });
    return bySize ?? tools.price(deployment, { ...used, measured: { ...measured, size: null, quality: null } });
  }

  /** The guardrails of a request; null for none. */
  function guardOf(caller: Caller, request: Forwarded, labels: CallLabels | undefined): CallGuard | null {
    if (guards === null) return null;
    const { model, guardrails, addedGuardrails = [] } = request;
    const isAnyConfigured = !guards.isIdle() || (guardrails ?? addedGuardrails).length > 0;
    const mayUseKeyGuardrails = guardrails === undefined && caller.key !== null && namesGuardrails(caller.key);
    if (!isAnyConfigured && !mayUseKeyGuardrails) return null;
    const restriction =
      guardrails === undefined
        ? { configured: addedGuardrails }
        : ({ configured: guardrails, configuredOnly: true } as const);
    const guard = guards.open({ caller, model, labels, ...restriction });
    return guard.isIdle() ? null : guard;
  }

  return {
    unpriced: () => unpricedCalls,
    async forward(caller, request, signal) {
      const deployment = deploymentOf(request);
      const countUnpriced = createUnpricedCounter(request);
      const { operation, model, fields, callId, parent, userAgent, callType = CALL_TYPE, limits } = request;
      const limited = { model, ...(limits === undefined ? {} : { targetLimits: limits }) };
      const { labels } = withKeyTags(caller.key, request);
      const guard = guardOf(caller, request, labels);
      let exchange: Exchange | null = null;
      const call = openCall(tools, {
        caller,
        request: {
          endpoint: { operation, callType },
          model,
          body: fields,
          callId,
          parent,
          ...(labels === undefined ? {} : { labels }),
          ...(userAgent === undefined ? {} : { userAgent }),
        },
        deployment,
        signal,
        costOf(outcome) {
          const cost = costOf(request, deployment, outcome, countUnpriced);
          if (cost !== null) request.onCost?.(cost);
          return cost;
        },
        // The target bills a request although its client has left. A failure costs nothing.
        abortedCost: () => (exchange === null ? lostCostOf(request, deployment) : null),
      });
      if (guard !== null) call.setGuard(guard);
      try {
        if (lacksConfiguredCost(request) && isBlocked(deployment)) throw noPriceOf(model);
        const reserving = call.reserve(expectedOf(request, deployment));
        if (reserving !== undefined) {
          call.prepareLimit(limited);
          await reserving;
        }
        await call.limit(limited);
        const sent = { ...request, owner: caller.keyHash };
        if (guard === null) {
          call.sent();
          request.onSent?.();
          exchange = await forwarder.forward(sent, signal);
          return call.answered(exchange);
        }
        const running = { callId: call.callId, traceId: call.traceId, signal };
        const checked = await checkForwarded(guard, sent, running);
        call.sent();
        request.onSent?.();
        exchange = await forwarder.forward(checked, signal);
        call.received(exchange);
        const answered = call.answered(await checkForwardedAnswer(guard, exchange, running));
        return answered.guarded(guard.applied, { policies: guard.policies });
      } catch (failure) {
        exchange?.bytes.cancel(failure instanceof Error ? failure : undefined);
        attachFailedCall(failure, {
          callId: call.callId,
          timeoutSeconds: request.timeoutSeconds,
          ...guardFacts(guard),
        });
        call.failed(failure);
        throw failure;
      }
    },
  };
}

/** Adds the billed quantity of the request where the answer reports none. */
function withBilledQuantity(outcome: Outcome, { endpoint, fields }: Forwarded): Outcome {
  if (outcome.measured !== undefined || endpoint === null) return outcome;
  const measured = billedQuantityOf(endpoint, fields);
  return measured === undefined ? outcome : { ...outcome, measured };
}

/**
 * Size and quality of images in an unknown format: those of the answer, else those of the request. The target may
 * ignore what the request says.
 */
const kindIn = ({ resolution, quality }: Forwarded['fields'], ofAnswer: ImageKind): ImageKind => ({
  size: ofAnswer.size ?? (typeof resolution === 'string' ? resolution : null),
  quality: ofAnswer.quality ?? (typeof quality === 'string' ? quality : null),
});

/** Whether a call names a model, and neither its cost nor a default cost is configured. */
function lacksConfiguredCost({ cost, defaultCost, model, needsPrice = false }: Forwarded): boolean {
  // With `needsPrice`, `cost` is the default of zero, which is not configured.
  const isConfigured = (cost !== null && !needsPrice) || defaultCost !== null;
  return !isConfigured && model !== NO_MODEL;
}

/** Expected cost of a call: a fixed cost, the estimate of its endpoint, the default cost, or zero. */
function expectedOf({ cost, endpoint, fields, body, defaultCost, labels }: Forwarded, target: Deployment) {
  const request = {
    // Only an estimate reads the endpoint, and only a call to a known endpoint has an estimate.
    endpoint: endpoint ?? CHAT_COMPLETIONS,
    body: fields,
    bytes: body,
    ...(labels === undefined ? {} : { labels }),
  };
  const listsModels = fields['models'] !== undefined;
  if (cost === null && endpoint !== null && !listsModels) return { deployment: target, request };
  // The named model may be free although another model answers. `NO_MODEL` never counts as free.
  const deployment = { ...target, upstreamModel: NO_MODEL, modelGroup: NO_MODEL };
  return { deployment, request, cost: cost ?? defaultCost ?? ZERO_USD };
}

const NO_OPTIONS: Deployment['options'] = {};
const NO_SECRETS: Deployment['secrets'] = {};
const NO_OVERRIDES: Deployment['priceOverrides'] = {};

/** A target as a deployment, for records and prices. Its credentials are in the request only. */
const deploymentOf = ({ deploymentId, provider, model, url, timeoutSeconds, prices }: Forwarded): Deployment => ({
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
  priceOverrides: prices ?? NO_OVERRIDES,
  baseModel: null,
});
