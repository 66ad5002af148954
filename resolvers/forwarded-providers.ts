import { deploymentsFor } from '../src/domain/deployments/team-models.ts';
import type { Caller } from '../src/domain/caller.ts';
import type { Deployment } from '../src/domain/chat/provider.ts';
import { matchesGroup } from '../src/domain/deployments/model-names.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { resolveModelAlias } from '../src/domain/keys/virtual-key.ts';
import { ZERO_USD } from '../src/domain/money.ts';
import { addressBelow, forwardedQueryOf } from '../src/domain/pass-through/address.ts';
import { forwardedPricingOf, FREE } from '../src/domain/pass-through/pricing.ts';
import type { Forwarded } from '../src/domain/pass-through/forwarded.ts';
import { requestHeaders } from '../src/domain/pass-through/headers.ts';
import { assertMayForward, modelsNamedIn } from '../src/domain/pass-through/named-models.ts';
import {
  targetBaseFor,
  type ForwardedProvider,
  keyHeader,
  locatedBase,
  type ProviderAccount,
} from '../src/domain/pass-through/providers.ts';
import { Secret } from '../src/domain/secret.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { PassThroughPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { MAX_ANSWER_BYTES, factsOf, modelOf, type SentRequest } from './pass-through.ts';

/** A request for a provider's own API. */
export interface ProviderCall {
  readonly provider: ForwardedProvider;
  /** The path below the provider's prefix, as it was sent. */
  readonly subpath: string;
  readonly sent: SentRequest;
}

type Headers = ReturnType<typeof requestHeaders>;

/** Query parameter in which a client may send its gateway key. It is not forwarded. */
const KEY_PARAMETER = 'key';

/** Names of providers in messages, where they differ from the names in the configuration. */
const NAMES: Readonly<Record<string, string>> = { cursor: 'Cursor' };

/** Error for a provider without an account. The message names the key, also when only the address is missing. */
function noAccount({ name, keyVariables, baseVariables, base, aws, regionVariables }: ForwardedProvider): Forbidden {
  const address = base === null ? (regionVariables ?? baseVariables).slice(0, 1) : [];
  const keyAndAddress = [...keyVariables.slice(-1), ...address];
  const names = aws === undefined ? keyAndAddress : ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  const variables = names.join(' and ');
  const message = `${NAMES[name] ?? name} API key not found. Store a credential of the provider \`${name}\` or set ${variables}.`;
  return new Forbidden(message, 'upstream_credential');
}

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
  if (unsupported !== undefined)
    throw new InvalidInput(`${unsupported} is not supported for ${name} requests`, [], { field: unsupported });
}

/** Form of the operation names of an Amazon service that has no path per operation. */
const OPERATION = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const AMZ_JSON = 'application/x-amz-json-1.1';

/**
 * The operation of an Amazon service that a call names, in its path or in `X-Amz-Target`. Null for providers that are
 * called by path. Throws InvalidInput for a call that names no operation.
 */
function amazonOperation({ provider, subpath, sent }: ProviderCall): string | null {
  const prefix = provider.aws?.target;
  if (prefix === undefined) return null;
  const header = [sent.headers['x-amz-target']].flat()[0] ?? '';
  const name = subpath === '' && header.startsWith(`${prefix}.`) ? header.slice(prefix.length + 1) : subpath;
  if (sent.method === 'POST' && OPERATION.test(name)) return name;
  const message = `${provider.name} takes POST requests for an operation: in the path, as /${provider.name}/<Operation>, or in the header X-Amz-Target.`;
  throw new InvalidInput(message, [{ path: ['path'], rule: 'operation', message }]);
}

/** Whether Amazon bills an operation. Other operations read or manage. */
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
 * The address, headers and credential of a call. Throws InvalidInput for a path outside of the base address, and what
 * `amazonOperation` throws.
 */
export function targetOf(call: ProviderCall, { base, key, cloud }: ProviderAccount) {
  const { provider, sent } = call;
  const named = amazonOperation(call);
  const subpath = named === null ? call.subpath : '';
  const address = targetBaseFor(locatedBase(base, subpath), subpath);
  const url = addressBelow(address, subpath);
  url.search = forwardedQueryOf(sent.search, { target: url.search, defaults: {}, without: [KEY_PARAMETER] });
  const common = requestHeaders(sent.headers, false);
  const header = key === null ? null : keyHeader(provider.keyForm, key.reveal());
  return {
    url: url.href,
    headers:
      named === null ? withProviderHeaders(provider, sent, common) : { ...common, ...amazonHeaders(provider, named) },
    credentials: header === null ? {} : { [header[0]]: new Secret(header[1]) },
    ...(cloud === undefined ? {} : { cloud }),
  };
}

const amazonHeaders = ({ aws }: ForwardedProvider, name: string) => ({
  'content-type': AMZ_JSON,
  'x-amz-target': `${aws?.target ?? ''}.${name}`,
});

/** Adds the sent headers whose names start with a prefix of the provider. Common headers take precedence. */
function withProviderHeaders({ headers: starts }: ForwardedProvider, sent: SentRequest, common: Headers): Headers {
  if (starts === undefined) return common;
  const wanted = Object.entries(sent.headers).filter(([name]) => starts.some((start) => name.startsWith(start)));
  return wanted.length === 0 ? common : { ...requestHeaders(Object.fromEntries(wanted), true), ...common };
}

/** The account of a provider. Throws Forbidden where none is configured. */
export async function accountOf(
  { platform }: Scope<Pick<PassThroughPlatform, 'accounts'>>,
  provider: ForwardedProvider,
): Promise<ProviderAccount> {
  const account = await platform.accounts.of(provider);
  if (account === null) throw noAccount(provider);
  return account;
}

/**
 * The vLLM deployment of the named model; the first one when no model is named. Null for other providers, and without
 * vLLM deployments. Throws NotFound for an unknown model.
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
    // `unnamed` is the model that rows and prices use for a request that names none.
    const model =
      models[0] ?? (operationName === null ? provider.unnamed : `${provider.name}/${operationName}`) ?? null;
    assertSupported(call);
    assertOpenToCaller(call, caller);
    const deployment = deploymentFor(scope, call);
    const account =
      deployment === null
        ? await accountOf(scope, provider)
        : { base: deployment.apiBase ?? '', key: deployment.apiKey };
    const renamed = deployment === null || model === null ? {} : { replaced: { model: deployment.upstreamModel } };
    const isFree = operationName !== null && !isBilled(operationName);
    const pricing = isFree ? FREE : forwardedPricingOf(sent.method, subpath);
    const request: Forwarded = {
      ...factsOf(sent),
      ...targetOf(call, account),
      ...renamed,
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

/**
 * Forwards a request below a provider's prefix, provided that the model of the request is not configured here and the
 * provider has an account. Returns null for other requests. Throws what `callProvider` throws.
 */
export const callUnconfigured = operation({
  name: 'callUnconfigured',
  access: anyKey,
  async run(scope: Scope<PassThroughPlatform>, call: ProviderCall): Promise<GatewayCall | null> {
    const { platform } = scope;
    if (!platform.accounts.served) return null;
    const [named] = modelsNamedIn(call.provider, call.subpath, call.sent);
    const model = named === undefined ? null : resolveModelAlias(callerOf(scope).key, named);
    if (
      model === null ||
      deploymentsFor(callerOf(scope).key, platform.gateway.deployments()).some(({ modelGroup }) =>
        matchesGroup(modelGroup, model),
      )
    )
      return null;
    if ((await platform.accounts.of(call.provider)) === null) return null;
    return await callProvider(scope, call);
  },
});
