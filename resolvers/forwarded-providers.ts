import { deploymentsFor } from '../src/domain/deployments/team-models.ts';
import type { Caller } from '../src/domain/caller.ts';
import type { Deployment } from '../src/domain/chat/provider.ts';
import { matchesGroup } from '../src/domain/deployments/model-names.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { resolveModelAlias } from '../src/domain/keys/virtual-key.ts';
import { modelNamed } from '../src/domain/routing/model-aliases.ts';
import { ZERO_USD } from '../src/domain/money.ts';
import { forwardedPricingOf, FREE } from '../src/domain/pass-through/pricing.ts';
import { type Forwarded, MAX_ANSWER_BYTES } from '../src/domain/pass-through/forwarded.ts';
import { assertMayForward, modelsNamedIn } from '../src/domain/pass-through/named-models.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { factsOf, modelOf } from '../src/domain/pass-through/sent-request.ts';
import { type ProviderCall, amazonOperation, targetOf } from '../src/domain/pass-through/provider-call.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { PassThroughPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertMayNameStores } from './operation/named-stores.ts';
import { accountOf, noAccount } from './operation/provider-accounts.ts';

/**
 * For a provider with a single path: refuses other methods, paths and models, and the fields `stream` and
 * `custom_body`. Throws NotFound and InvalidInput.
 */
function assertSupported({ provider: { name, only }, subpath, sent }: ProviderCall): void {
  if (only === undefined) return;
  if (sent.method !== 'POST' || subpath !== only.path) throw new NotFound('forwarded path', subpath, 'Not Found');
  const model = modelOf(sent);
  if (model === null || !only.models.includes(model)) {
    const message = `${name} model must be one of ${only.models.join(', ')}`;
    throw new InvalidInput(message, [{ path: ['model'], rule: 'enum', message }]);
  }
  const unsupported = ['stream', 'custom_body'].find(
    (field) => sent.fields[field] !== undefined && sent.fields[field] !== false,
  );
  if (unsupported !== undefined) {
    const message = `${unsupported} is not supported for ${name} requests`;
    throw new InvalidInput(message, [{ path: [unsupported], rule: 'unsupported', message }]);
  }
}

/** Whether Amazon bills an operation. Operations with other names only read results or manage objects. */
const isBilled = (name: string): boolean => /^(?:Start|Detect|Infer)/.test(name);

/**
 * Throws Forbidden for a path that only proxy administrators may call. All callers share one account, so `shared` lists
 * the paths that all of them may call. A provider without `shared` has no such limit.
 */
function assertOpenToCaller({ provider: { name, shared }, subpath, sent }: ProviderCall, { role, key }: Caller): void {
  if (shared === undefined || key === null || role === 'proxy_admin') return;
  if (shared.some(([method, path]) => method === sent.method && path.test(subpath))) return;
  const message = `Only proxy admins can call this path of ${name}: all callers share its account. Route=${sent.path}.`;
  throw new Forbidden(message);
}

/**
 * The vLLM deployment of the named model; the first one when no model is named. Deployments of teams are left out. Null
 * for other providers, and without vLLM deployments. Throws NotFound for an unknown model.
 */
function deploymentFor({ platform }: Scope<PassThroughPlatform>, { provider, sent }: ProviderCall): Deployment | null {
  if (provider.name !== 'vllm') return null;
  const model = modelOf(sent);
  const onVllm = deploymentsFor(null, platform.gateway.deployments()).filter(
    (one) => /^(hosted_)?vllm$/.test(one.provider) && one.apiBase !== null,
  );
  if (model === null) return onVllm[0] ?? null;
  const found = onVllm.find(({ modelGroup }) => modelGroup === model);
  if (found !== undefined || onVllm.length === 0) return found ?? null;
  const message = `/vllm: Invalid model name passed in model=${model}. Call \`/v1/models\` to view available models for your key.`;
  throw new NotFound('model', model, message);
}

/**
 * Forwards a request to a provider's own API. The key must be allowed to call the models that the request names. Throws
 * NotFound, Forbidden, InvalidInput, and what the gateway's `forward` throws.
 */
export const callProvider = operation({
  name: 'callProvider',
  access: anyKey,
  async run(scope: Scope<PassThroughPlatform>, call: ProviderCall): Promise<GatewayCall> {
    const { provider, subpath, sent } = call;
    if (!scope.platform.accounts.served) throw new NotFound('forwarded path', subpath, 'Not Found');
    const caller = callerOf(scope);
    const models = modelsNamedIn(provider, subpath, sent);
    assertMayForward(caller.key, models, sent);
    const operationName = amazonOperation(call);
    const unnamedModel = operationName === null ? provider.defaultModel : `${provider.name}/${operationName}`;
    const model = models[0] ?? unnamedModel ?? null;
    assertSupported(call);
    assertOpenToCaller(call, caller);
    await assertMayNameStores(scope, { path: subpath, body: sent.fields, labels: sent.labels });
    const deployment = deploymentFor(scope, call);
    const account =
      deployment === null
        ? await accountOf(scope, provider)
        : { base: deployment.apiBase ?? '', key: deployment.apiKey };
    const withUpstreamModel =
      deployment === null || model === null ? {} : { replaced: { model: deployment.upstreamModel } };
    const isFree = operationName !== null && !isBilled(operationName);
    const pricing = isFree ? FREE : forwardedPricingOf(sent.method, subpath);
    const request: Forwarded = {
      ...factsOf(sent),
      ...targetOf(call, account),
      ...withUpstreamModel,
      timeoutSeconds: scope.platform.passThrough.timeoutSeconds,
      answerLimit: MAX_ANSWER_BYTES,
      operation: 'pass_through',
      model: model ?? 'unknown',
      provider: provider.name,
      deploymentId: deployment?.id ?? '',
      cost: pricing.kind === 'free' ? ZERO_USD : null,
      defaultCost: scope.platform.accounts.costPerRequest,
      endpoint: pricing.kind === 'endpoint' ? pricing.endpoint : null,
    };
    return scope.platform.gateway.forward(caller, request, scope.signal);
  },
});

/** Result of a request below a provider's prefix that the gateway may also serve itself. */
export type UnconfiguredResult =
  | { readonly kind: 'forwarded'; readonly call: GatewayCall }
  /** The gateway serves it. `reason` says why an unknown model is not forwarded; null for other requests. */
  | { readonly kind: 'own'; readonly reason: string | null };

/**
 * Forwards a request below a provider's prefix, provided that the model of the request is not configured here and the
 * provider has an account. Other requests are not forwarded. Throws what `callProvider` throws.
 */
export const callUnconfigured = operation({
  name: 'callUnconfigured',
  access: anyKey,
  async run(scope: Scope<PassThroughPlatform>, call: ProviderCall): Promise<UnconfiguredResult> {
    const { platform } = scope;
    const { provider } = call;
    if (!platform.accounts.served) return { kind: 'own', reason: null };
    const { key } = callerOf(scope);
    const [named] = modelsNamedIn(provider, call.subpath, call.sent);
    if (named === undefined) return { kind: 'own', reason: null };
    const model = modelNamed(platform.fallbacks.policy().aliases, resolveModelAlias(key, named));
    const deployments = deploymentsFor(key, platform.gateway.deployments());
    if (deployments.some(({ modelGroup }) => matchesGroup(modelGroup, model))) return { kind: 'own', reason: null };
    if ((await platform.accounts.of(provider)) === null) {
      const { message } = noAccount(provider);
      return { kind: 'own', reason: `The request cannot be forwarded to the provider: ${message}` };
    }
    return { kind: 'forwarded', call: await callProvider(scope, call) };
  },
});
