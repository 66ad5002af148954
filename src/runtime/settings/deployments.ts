import { z } from 'zod';
import { type Deployment, PROVIDER_NAMES } from '../../domain/chat/provider.ts';
import { type Vendor, vendorOf } from '../../domain/chat/vendors.ts';
import { CLIENT_CREDENTIALS } from '../../domain/deployments/client-credentials.ts';
import { UNTOLD } from '../../domain/deployments/probe-settings.ts';
import { Secret } from '../../domain/secret.ts';
import type { DeploymentDraft } from './deployment-ids.ts';

/** One model of the file. Keys we do not know are left alone: one file serves several programs. */
export const modelEntry = z.looseObject({
  model_name: z.string().min(1),
  litellm_params: z.looseObject({
    model: z.string().min(1),
    api_base: z.string().refine(isHttpAddress, 'must be an http:// or https:// address').optional(),
    api_key: z.string().optional(),
    timeout: z.number().positive().optional(),
    drop_params: z.boolean().optional(),
    max_tokens: z.int().positive().optional(),
    use_chat_completions_api: z.boolean().optional(),
    configurable_clientside_auth_params: z.array(z.enum(CLIENT_CREDENTIALS)).optional(),
  }),
  model_info: z
    .looseObject({
      id: z.string().min(1).optional(),
      base_model: z.string().optional(),
      mode: z.string().optional(),
      health_check_model: z.string().min(1).optional(),
      health_check_max_tokens: z.int().positive().optional(),
      health_check_timeout: z.number().positive().optional(),
      disable_background_health_check: z.boolean().optional(),
    })
    .optional(),
});

type ModelEntry = z.infer<typeof modelEntry>;

/** Seconds to wait for the head of an answer where the file sets none. */
const DEFAULT_TIMEOUT_SECONDS = 600;

/** What single providers need to know of a deployment, as the reference names it. */
const OPTIONS = [
  'api_version',
  'organization',
  'max_tokens',
  'site_url',
  'app_name',
  'aws_region_name',
  'aws_access_key_id',
  'aws_bedrock_runtime_endpoint',
  'aws_profile_name',
  'aws_role_name',
  'aws_session_name',
  'aws_external_id',
  'aws_sts_endpoint',
  'vertex_project',
  'vertex_location',
] as const;

/** The same for what is not shown. */
const SECRETS = [
  'aws_secret_access_key',
  'aws_session_token',
  'aws_web_identity_token',
  'azure_ad_token',
  'vertex_credentials',
] as const;

/**
 * What the file leaves open, a known provider's own variables say. Parts of one credential never come from two places: the
 * secret of one account would sign for the name of another.
 */
export function toDeployment(
  entry: ModelEntry,
  about: { readonly dropParams: boolean; readonly env: NodeJS.ProcessEnv },
): DeploymentDraft {
  const { model_name: modelGroup, litellm_params: params, model_info: info } = entry;
  const { provider, model: named } = providerOf(params.model);
  const [, api, model = ''] = API_PREFIX.exec(named) ?? [];
  const responses = responsesOf(api, params.use_chat_completions_api, info?.mode);
  const vendor = vendorOf(provider);
  const prefix = vendor?.modelPrefixes.find((one) => model.startsWith(one)) ?? '';
  const said = (name: string): string | null => {
    const value = params[name];
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const signsInFile = Object.keys(vendor?.credentials ?? {}).some((name) => said(name) !== null);
  const variables = { ...vendor?.settings, ...(signsInFile ? {} : vendor?.credentials) };
  const meant = (name: string): string | null => said(name) ?? firstSet(variables[name] ?? [], about.env);
  const valuesOf = (names: readonly string[]): [string, string][] =>
    names.flatMap((name): [string, string][] => {
      const value = meant(name);
      return value === null ? [] : [[name, value]];
    });
  const apiBase = params.api_base ?? (vendor && firstSet(vendor.baseVariables, about.env));
  const key = params.api_key ?? (vendor && firstSet(vendor.keyVariables, about.env));
  const isWithheld = params.api_key === undefined && (signsInFile || !mayLearnKey(vendor, params.api_base));
  return {
    id: info?.id ?? null,
    modelGroup,
    provider,
    upstreamModel: model.slice(prefix.length),
    ...(responses === undefined ? {} : { responses }),
    apiBase: apiBase?.replace(/\/+$/, '') ?? null,
    apiKey: key === null || isWithheld ? null : new Secret(key),
    options: Object.fromEntries(valuesOf(OPTIONS)),
    secrets: Object.fromEntries(valuesOf(SECRETS).map(([name, value]) => [name, new Secret(value)])),
    ...(params.configurable_clientside_auth_params === undefined
      ? {}
      : { clientCredentials: params.configurable_clientside_auth_params }),
    dropParams: params.drop_params ?? about.dropParams,
    timeoutSeconds: params.timeout ?? DEFAULT_TIMEOUT_SECONDS,
    priceOverrides: Object.fromEntries(
      Object.entries(params).filter(([name]) => /_cost(_|$)|_cost_per_|^tiered_pricing$/.test(name)),
    ),
    baseModel: info?.base_model ?? null,
    probe: {
      mode: info?.mode ?? null,
      model: info?.health_check_model ?? null,
      maxTokens: info?.health_check_max_tokens ?? null,
      timeoutSeconds: info?.health_check_timeout ?? UNTOLD.timeoutSeconds,
      onDemandOnly: info?.disable_background_health_check ?? false,
    },
  };
}

/** `openai/responses/o1-pro` says in the name through which API a model is asked; so does its opposite. */
const API_PREFIX = /^(?:(responses|chat_completions)\/)?(.*)$/s;

function responsesOf(
  api: string | undefined,
  useChatCompletions: boolean | undefined,
  mode: string | undefined,
): Deployment['responses'] {
  if (useChatCompletions === true || api === 'chat_completions') return 'never';
  if (api === 'responses' || mode === 'responses') return 'only';
  return useChatCompletions === false ? 'also' : undefined;
}

/** OpenAI's models that only go on with a text. */
const TEXT_MODELS = /^(gpt-3\.5-turbo-instruct(-0914)?|babbage-002|davinci-002)$/;

/** `openai/gpt-4o` names provider and upstream model; a bare name is an OpenAI-compatible one, or our own `demo`. */
function providerOf(named: string): { readonly provider: string; readonly model: string } {
  const slash = named.indexOf('/');
  if (slash === -1) {
    const compatible = TEXT_MODELS.test(named) ? 'text-completion-openai' : 'openai';
    return { provider: named === 'demo' ? 'demo' : compatible, model: named };
  }
  return { provider: named.slice(0, slash), model: named.slice(slash + 1) };
}

const firstSet = (names: readonly string[], env: NodeJS.ProcessEnv): string | null =>
  names.map((name) => env[name]).find((value) => value !== undefined && value !== '') ?? null;

/** Whether the key in the environment may go to an address the file names: one of the vendor's own, or of nobody's. */
function mayLearnKey(vendor: Vendor | null, apiBase: string | undefined): boolean {
  if (!vendor?.base || apiBase === undefined) return true;
  return URL.parse(apiBase)?.origin === URL.parse(vendor.base)?.origin;
}

/** What of a deployment will not work, or not as its owner may think; null when nothing is odd. */
export function oddityOf(deployment: Deployment, env: NodeJS.ProcessEnv): string | null {
  const { modelGroup, provider, apiBase, apiKey, secrets } = deployment;
  const vendor = vendorOf(provider);
  if (vendor === null || vendor.keyOptional || apiKey !== null || Object.keys(secrets).length > 0) return null;
  const named = [...vendor.keyVariables, ...Object.values(vendor.credentials).flat()].join(', ');
  if (mayLearnKey(vendor, apiBase ?? undefined))
    return `The model "${modelGroup}" has no key: set api_key, or one of ${named}.`;
  if (firstSet(vendor.keyVariables, env) === null) return null;
  return `The model "${modelGroup}" is called without a key: that of ${named} is not sent to ${URL.parse(apiBase ?? '')?.origin}. If it wants one, set api_key.`;
}

function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

/** Why a provider cannot be called at an address, or without one; null where it can. */
export function addressFault(provider: string, apiBase: string | null): string | null {
  // What the file says was checked already; what the environment says was not.
  if (apiBase !== null)
    return isHttpAddress(apiBase) ? null : `"${apiBase}", from the environment, is not an http:// or https:// address`;
  if (!PROVIDER_NAMES.some((name) => name === provider))
    return `the provider "${provider}" is not known (${PROVIDER_NAMES.join(', ')}); set api_base if it speaks chat-completions`;
  const vendor = vendorOf(provider);
  if (vendor === null || vendor.base !== null) return null;
  return `the provider "${provider}" has no address of its own; set api_base, or ${vendor.baseVariables.join(', ')}`;
}
