import type { Caller } from '../src/domain/caller.ts';
import { Unauthenticated } from '../src/domain/errors.ts';
import { assertMayCall } from '../src/domain/keys/virtual-key.ts';
import { ZERO_USD } from '../src/domain/money.ts';
import { addressBelow, forwardedQueryOf } from '../src/domain/pass-through/address.ts';
import { endpointCostOf, type PassThroughEndpoint } from '../src/domain/pass-through/endpoint.ts';
import { type Forwarded, MAX_ANSWER_BYTES } from '../src/domain/pass-through/forwarded.ts';
import { requestHeaders } from '../src/domain/pass-through/headers.ts';
import { assertMayPass } from '../src/domain/pass-through/rights.ts';
import { SystemCaller } from '../src/domain/system-caller.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { isLimited } from '../src/domain/pass-through/named-models.ts';
import { type SentRequest, factsOf, modelOf } from '../src/domain/pass-through/sent-request.ts';
import { anyKey, anyone } from './operation/access.ts';
import { assertMayNameStores } from './operation/named-stores.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { PassThroughPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** A request for a pass-through endpoint. */
export interface EndpointCall {
  readonly endpoint: PassThroughEndpoint;
  /** The path below that of the endpoint; null for the path of the endpoint itself. */
  readonly subpath: string | null;
  readonly sent: SentRequest;
  /** Models that a form in the body names; none for another body. Throws InvalidInput for an unreadable body. */
  readonly modelsOfForm: () => readonly string[];
}

/** Caller of endpoints that need no key. No key pays for these calls. */
const ANONYMOUS: Caller = new SystemCaller('anonymous');

function forwardedTo({ endpoint, subpath, sent }: EndpointCall, timeoutSeconds: number): Forwarded {
  const url = addressBelow(endpoint.target, subpath);
  const cost = endpointCostOf(endpoint);
  url.search = forwardedQueryOf(sent.search, { target: url.search, defaults: endpoint.defaultQuery });
  return {
    ...factsOf(sent),
    url: url.href,
    headers: requestHeaders(sent.headers, endpoint.forwardHeaders),
    credentials: endpoint.headers ?? {},
    timeoutSeconds: endpoint.timeoutSeconds ?? timeoutSeconds,
    answerLimit: MAX_ANSWER_BYTES,
    operation: 'pass_through',
    model: modelOf(sent) ?? 'unknown',
    provider: 'pass_through',
    deploymentId: endpoint.id,
    cost,
    // A cost of 0 may mean that no price is configured. Where models without a price are blocked, the call is refused.
    needsPrice: cost === ZERO_USD,
    // `cost` is always known, so the answer is not priced by its usage.
    defaultCost: null,
    // No model endpoint, so no usage is read from the answer.
    endpoint: null,
    guardrails: Object.keys(endpoint.guardrails ?? {}),
  };
}

function forward({ platform, signal }: Scope<PassThroughPlatform>, caller: Caller, call: EndpointCall) {
  return platform.gateway.forward(caller, forwardedTo(call, platform.passThrough.timeoutSeconds), signal);
}

/**
 * Forwards a request to the target of an endpoint. Throws Forbidden, also for a model in the body that the key may not
 * call, InvalidInput, and what the gateway's `forward` throws.
 */
export const callEndpoint = operation({
  name: 'callEndpoint',
  access: anyKey,
  async run(scope: Scope<PassThroughPlatform>, call: EndpointCall): Promise<GatewayCall> {
    const { endpoint, subpath, sent } = call;
    const caller = callerOf(scope);
    assertMayPass(caller, { path: sent.path, isFromConfig: endpoint.isFromConfig, isBelow: subpath !== null });
    const model = modelOf(sent);
    if (model !== null) assertMayCall(caller.key, model);
    // Forms are parsed for these keys only: the target may take a form that the gateway cannot parse.
    if (caller.key !== null && isLimited(caller.key))
      for (const named of call.modelsOfForm()) assertMayCall(caller.key, named);
    await assertMayNameStores(scope, { path: subpath ?? '', body: sent.fields, labels: sent.labels });
    return await forward(scope, caller, call);
  },
});

/** As `callEndpoint`, for an endpoint that needs no key. Throws Unauthenticated for an endpoint that needs one. */
export const callOpenEndpoint = operation({
  name: 'callOpenEndpoint',
  access: anyone,
  async run(scope: Scope<PassThroughPlatform>, call: EndpointCall): Promise<GatewayCall> {
    if (call.endpoint.auth) throw new Unauthenticated('No api key passed in.', 'missing');
    return await forward(scope, ANONYMOUS, call);
  },
});
