import type { Deployment } from '../src/domain/chat/provider.ts';
import { standsFor } from '../src/domain/deployments/model-names.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  EMBEDDINGS,
  type Endpoint,
  GENERATE_CONTENT,
  MESSAGES,
  RESPONSES,
} from '../src/domain/inference/endpoint.ts';
import { assertMayCall, modelBehind } from '../src/domain/keys/virtual-key.ts';
import { ZERO_USD } from '../src/domain/money.ts';
import { addressBelow, queryOf } from '../src/domain/pass-through/address.ts';
import type { Forwarded } from '../src/domain/pass-through/forwarded.ts';
import { requestHeaders } from '../src/domain/pass-through/headers.ts';
import {
  baseFor,
  type ForwardedProvider,
  keyHeader,
  locatedBase,
  modelIn,
  type ProviderAccount,
} from '../src/domain/pass-through/providers.ts';
import { Secret } from '../src/domain/secret.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { PassThroughPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { ANSWER_LIMIT, factsOf, modelOf, type SentRequest } from './pass-through.ts';

/** A request for a provider's own API. */
export interface ProviderCall {
  readonly provider: ForwardedProvider;
  /** The path below the prefix, as it was sent. */
  readonly subpath: string;
  readonly sent: SentRequest;
}

/** Parameter that may carry the key of the gateway. */
const KEY_PARAMETER = 'key';

/** Paths of model endpoints by their ends. Their answers report usage. */
const ENDPOINTS: readonly (readonly [end: RegExp, endpoint: Endpoint])[] = [
  [/\/chat\/completions$/, CHAT_COMPLETIONS],
  [/\/completions$/, COMPLETIONS],
  [/\/embeddings$/, EMBEDDINGS],
  [/\/messages$/, MESSAGES],
  [/\/responses$/, RESPONSES],
  [/:(generateContent|streamGenerateContent)$/, GENERATE_CONTENT],
];

const endpointOf = ({ sent, subpath }: ProviderCall): Endpoint | null =>
  sent.method === 'POST' ? (ENDPOINTS.find(([end]) => end.test(`/${subpath}`))?.[1] ?? null) : null;

const NAMES: Readonly<Record<string, string>> = { cursor: 'Cursor' };

/** No account of a provider is configured. */
function noAccount({ name, keyVariables, baseVariables, base }: ForwardedProvider): Forbidden {
  const variables = [...keyVariables.slice(-1), ...(base === null ? baseVariables.slice(0, 1) : [])].join(' and ');
  const message = `${NAMES[name] ?? name} API key not found. Store a credential of the provider \`${name}\` or set ${variables}.`;
  return new Forbidden(message, 'upstream_credential');
}

/** A provider with one path refuses all others, and requests that its API does not have. */
function assertServed({ provider: { name, only }, subpath, sent }: ProviderCall): void {
  if (only === undefined) return;
  if (sent.method !== 'POST' || subpath !== only.path) throw new NotFound('forwarded path', subpath, 'Not Found');
  const model = modelOf(sent);
  if (model === null || !only.models.includes(model)) {
    const message = `${name} model must be one of ${only.models.join(', ')}`;
    throw new InvalidInput(message, [{ path: ['model'], rule: 'enum', message }]);
  }
  const odd = ['stream', 'custom_body'].find(
    (field) => sent.fields[field] !== undefined && sent.fields[field] !== false,
  );
  if (odd !== undefined) throw new InvalidInput(`${odd} is not supported for ${name} requests`, [], { field: odd });
}

/** The address, headers and credential of a call. Throws InvalidInput for a path outside of the base address. */
export function targetOf({ provider, subpath, sent }: ProviderCall, { base, key, cloud }: ProviderAccount) {
  const address = baseFor(locatedBase(base, subpath), subpath);
  const url = addressBelow(address, subpath);
  url.search = queryOf(sent.search, { target: url.search, defaults: {}, without: [KEY_PARAMETER] });
  const wanted = Object.entries(sent.headers).filter(([name]) =>
    provider.headers?.some((start) => name.startsWith(start)),
  );
  const headers = requestHeaders(Object.fromEntries(wanted), true);
  const own = requestHeaders(sent.headers, false);
  const header = key === null ? null : keyHeader(provider.keyForm, key.reveal());
  return {
    url: url.href,
    headers: { ...headers, ...own },
    credentials: header === null ? {} : { [header[0]]: new Secret(header[1]) },
    ...(cloud === undefined ? {} : { cloud }),
  };
}

/** The models that a request names, in its path and its body. The first is the one that answers. */
function modelsOf({ provider, subpath, sent }: ProviderCall): readonly string[] {
  const [inPath, inBody] = [modelIn(subpath), modelOf(sent)];
  // Azure names a deployment in the path, and may name its model in the body.
  const named = provider.name === 'azure' ? [inBody, inPath] : [inPath, inBody];
  return named.filter((model) => model !== null);
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

/** A model of the configuration at a server of the operator: its address, key and upstream name. */
function deploymentFor({ platform }: Scope<PassThroughPlatform>, { provider, sent }: ProviderCall): Deployment | null {
  if (provider.name !== 'vllm') return null;
  const model = modelOf(sent);
  const own = platform.gateway
    .deployments()
    .filter((one) => /^(hosted_)?vllm$/.test(one.provider) && one.apiBase !== null);
  if (model === null) return own[0] ?? null;
  const found = own.find(({ modelGroup }) => modelGroup === model);
  if (found !== undefined || own.length === 0) return found ?? null;
  const message = `/vllm: Invalid model name passed in model=${model}. Call \`/v1/models\` to view available models for your key.`;
  throw new NotFound('model', model, message);
}

/** Forwards a request to a provider's own API. The models of the key apply. Throws what the gateway's `forward` throws. */
export const callProvider = operation({
  name: 'callProvider',
  access: anyKey,
  async run(scope: Scope<PassThroughPlatform>, call: ProviderCall): Promise<GatewayCall> {
    const { provider, subpath, sent } = call;
    if (!scope.platform.accounts.served) throw new NotFound('forwarded path', subpath, 'Not Found');
    const caller = callerOf(scope);
    const models = modelsOf(call);
    for (const one of models) assertMayCall(caller.key, one);
    const model = models[0] ?? null;
    assertServed(call);
    const deployment = deploymentFor(scope, call);
    const account =
      deployment === null
        ? await accountOf(scope, provider)
        : { base: deployment.apiBase ?? '', key: deployment.apiKey };
    const renamed = deployment === null || model === null ? {} : { replaced: { model: deployment.upstreamModel } };
    const request: Forwarded = {
      ...factsOf(sent),
      ...targetOf(call, account),
      ...renamed,
      timeoutSeconds: scope.platform.passThrough.timeoutSeconds,
      answerLimit: ANSWER_LIMIT,
      operation: 'pass_through',
      model: model ?? 'unknown',
      provider: provider.name,
      deploymentId: deployment?.id ?? '',
      cost: endpointOf(call) === null ? ZERO_USD : null,
      endpoint: endpointOf(call),
    };
    return scope.platform.gateway.forward(caller, request, scope.signal);
  },
});

/**
 * Forwards a request below a provider's prefix whose model is not configured, where the provider has an account. Null: the
 * gateway serves the request itself. Throws what the gateway's `forward` throws.
 */
export const callUnconfigured = operation({
  name: 'callUnconfigured',
  access: anyKey,
  async run(scope: Scope<PassThroughPlatform>, call: ProviderCall): Promise<GatewayCall | null> {
    const { platform } = scope;
    if (!platform.accounts.served) return null;
    const [named] = modelsOf(call);
    const model = named === undefined ? null : modelBehind(callerOf(scope).key, named);
    if (model === null || platform.gateway.deployments().some(({ modelGroup }) => standsFor(modelGroup, model)))
      return null;
    if ((await platform.accounts.of(call.provider)) === null) return null;
    return await callProvider(scope, call);
  },
});
