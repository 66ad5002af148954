import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import { z } from 'zod';
import { type Deployment, PROVIDER_NAMES, DEFAULT_TIMEOUT_SECONDS } from '../../domain/chat/provider.ts';
import { AUTO_ROUTER_PROVIDER } from '../../domain/auto-routers/auto-router.ts';
import { readAutoRouter } from '../../domain/auto-routers/read-auto-router.ts';
import { type Vendor, vendorOf } from '../../domain/chat/vendors.ts';
import { DECIDER_NAMES, isDecisionMode } from '../../domain/decisions/providers.ts';
import { CLIENT_CREDENTIALS } from '../../domain/deployments/client-credentials.ts';
import { type Parameters, revealedParameters } from '../../domain/deployments/parameters.ts';
import { isPriceField, ownPrices } from '../../domain/deployments/price-fields.ts';
import { publicNameOf, teamOfInfo } from '../../domain/deployments/team-models.ts';
import { DEFAULT_PROBE_SETTINGS } from '../../domain/deployments/probe-settings.ts';
import { isDuration } from '../../domain/budgets/route-budget.ts';
import { usdFrom } from '../../domain/money.ts';
import { Secret } from '../../domain/secret.ts';
import { MAX_RETRIES } from '../../domain/routing/routing-policy.ts';
import { countsOf } from './routing.ts';
import type { DeploymentDraft } from './deployment-ids.ts';
import { deploymentSelection, SELECTION_INFO, SELECTION_PARAMS } from './deployment-selection.ts';

/** Maximum number of votes on one question of a decision (`decision_votes`). */
const MAX_VOTES = 64;

/** One model of the file. Other keys are accepted, with a warning (`config-warnings.ts`). */
export const modelEntry = z.looseObject({
  model_name: z.string().min(1),
  litellm_params: z.looseObject({
    model: z.string().min(1),
    api_base: z.string().refine(isHttpAddress, 'must be an http:// or https:// address').optional(),
    api_key: z.string().optional(),
    timeout: z.number().positive().optional(),
    stream_timeout: z.number().positive().optional(),
    drop_params: z.boolean().optional(),
    max_tokens: z.int().positive().optional(),
    use_chat_completions_api: z.boolean().optional(),
    use_chat_for_decisions: z.boolean().optional(),
    use_in_pass_through: z.boolean().optional(),
    max_decision_questions: z.int().positive().optional(),
    decision_votes: z.int().min(1).max(MAX_VOTES).optional(),
    max_budget: z.number().min(0).nullish(),
    budget_duration: z.string().refine(isDuration, 'must be a duration such as 1h, 1d or 1mo').nullish(),
    num_retries: z.int().min(0).max(MAX_RETRIES).optional(),
    cooldown_time: z.number().min(0).optional(),
    extra_headers: z.record(z.string(), z.string()).optional(),
    configurable_clientside_auth_params: z.array(z.enum(CLIENT_CREDENTIALS)).optional(),
    litellm_credential_name: z.string().min(1).optional(),
    guardrails: z.array(z.string().min(1)).optional(),
    complexity_router_config: z.record(z.string(), z.unknown()).optional(),
    complexity_router_default_model: z.string().min(1).optional(),
    ...SELECTION_PARAMS,
  }),
  model_info: z
    .looseObject({
      id: z.string().min(1).optional(),
      base_model: z.string().optional(),
      mode: z.string().optional(),
      access_groups: z.array(z.string().min(1)).optional(),
      team_id: z.string().nullish(),
      team_public_model_name: z.string().nullish(),
      health_check_model: z.string().min(1).optional(),
      health_check_max_tokens: z.int().positive().optional(),
      health_check_timeout: z.number().positive().optional(),
      disable_background_health_check: z.boolean().optional(),
      cooldown_time: z.number().min(0).optional(),
      allowed_fails: z.int().min(0).optional(),
      allowed_fails_policy: z.record(z.string(), z.int().min(0)).optional(),
      health_check_params: z.unknown().optional(),
      supports_box_questions: z.boolean().optional(),
      supports_audio_input: z.boolean().optional(),
      supports_video_input: z.boolean().optional(),
      ...SELECTION_INFO,
    })
    .optional(),
});

type ModelEntry = z.infer<typeof modelEntry>;

/** Parameters that only some providers have, named as in the reference. */
const OPTIONS = [
  'api_version',
  'organization',
  'account_id',
  'max_tokens',
  'site_url',
  'app_name',
  'region_name',
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

/** Secret parameters that only some providers have. */
const SECRETS = [
  'aws_secret_access_key',
  'aws_session_token',
  'aws_web_identity_token',
  'azure_ad_token',
  'vertex_credentials',
] as const;

const MODEL_KEY_NAMES: readonly string[] = [
  ...Object.keys(modelEntry.shape.litellm_params.shape),
  ...OPTIONS,
  ...SECRETS,
  'input_cost_per_token',
  'output_cost_per_token',
];

/** Keys of `litellm_params` that have an effect: named ones and every price. */
export const MODEL_KEYS = {
  names: MODEL_KEY_NAMES,
  test: (name: string): boolean => MODEL_KEY_NAMES.includes(name) || isPriceField(name),
};

/** Keys of `model_info` that have an effect. */
export const MODEL_INFO_KEYS: readonly string[] = Object.keys(modelEntry.shape.model_info.unwrap().shape);

/**
 * Converts an entry of the file to a deployment. Values missing in the file come from the variables of the provider.
 * All parts of a credential come from the same source. So the secret of one account is never used with the name of
 * another.
 */
export function toDeployment(
  entry: ModelEntry,
  about: { readonly dropParams: boolean; readonly env: NodeJS.ProcessEnv },
): DeploymentDraft {
  const { model_name: modelName, litellm_params: params, model_info: info } = entry;
  const teamId = teamOfInfo(info ?? {});
  const credentialName = params.litellm_credential_name;
  // An entry that names a credential takes its missing parameters from there, not from the environment.
  const env = credentialName === undefined ? about.env : {};
  const { provider, model: modelWithApi } = providerOf(params.model);
  const router = readAutoRouter(params, modelName)?.router ?? null;
  const [, api, model = ''] = API_PREFIX.exec(modelWithApi) ?? [];
  const responses = responsesOf(api, params.use_chat_completions_api, info?.mode);
  const vendor = vendorOf(provider);
  const vendorPrefix = vendor?.modelPrefixes.find((one) => model.startsWith(one)) ?? '';
  const inFile = (name: string): string | null => {
    const value = params[name];
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const hasCredentialInFile = Object.keys(vendor?.credentials ?? {}).some((name) => inFile(name) !== null);
  const variables = { ...vendor?.settings, ...(hasCredentialInFile ? {} : vendor?.credentials) };
  const valueOf = (name: string): string | null => inFile(name) ?? firstSet(variables[name] ?? [], env);
  const valuesOf = (names: readonly string[]): [string, string][] =>
    names.flatMap((name): [string, string][] => {
      const value = valueOf(name);
      return value === null ? [] : [[name, value]];
    });
  const apiBase = params.api_base ?? (vendor && firstSet(vendor.baseVariables, env));
  const key = params.api_key ?? (vendor && firstSet(vendor.keyVariables, env));
  // A key of the environment is not used beside a credential of the file, nor at an address of another vendor.
  const isKeyWithheld = params.api_key === undefined && (hasCredentialInFile || !maySendKey(vendor, params.api_base));
  return {
    id: info?.id ?? null,
    modelGroup: publicNameOf(modelName, info ?? {}),
    ...(teamId === null ? {} : { teamId }),
    provider,
    upstreamModel: model.slice(vendorPrefix.length),
    ...(responses === undefined ? {} : { responses }),
    apiBase: apiBase?.replace(/\/+$/, '') ?? null,
    apiKey: key === null || isKeyWithheld ? null : new Secret(key),
    options: Object.fromEntries(valuesOf(OPTIONS)),
    secrets: Object.fromEntries(valuesOf(SECRETS).map(([name, value]) => [name, new Secret(value)])),
    ...(params.configurable_clientside_auth_params === undefined
      ? {}
      : { clientCredentials: params.configurable_clientside_auth_params }),
    ...(params.extra_headers === undefined ? {} : { headers: params.extra_headers }),
    ...decidesOf(info),
    ...(params.use_in_pass_through === true ? { forwards: true as const } : {}),
    ...(params.use_chat_for_decisions === true ? { decidesByChat: true as const } : {}),
    ...(params.decision_votes === undefined ? {} : { decisionVotes: params.decision_votes }),
    ...(params.max_decision_questions === undefined ? {} : { mostQuestions: params.max_decision_questions }),
    dropParams: params.drop_params ?? about.dropParams,
    timeoutSeconds: params.timeout ?? DEFAULT_TIMEOUT_SECONDS,
    ...(params.timeout === undefined ? {} : { hasOwnTimeout: true as const }),
    ...(params.stream_timeout === undefined ? {} : { streamTimeoutSeconds: params.stream_timeout }),
    priceOverrides: ownPrices(params, info ?? {}),
    baseModel: info?.base_model ?? null,
    ...(credentialName === undefined ? {} : { credentialName }),
    ...(params.guardrails === undefined ? {} : { guardrails: params.guardrails }),
    ...(router === null ? {} : { autoRouter: router }),
    ...(info?.access_groups === undefined ? {} : { accessGroups: info.access_groups }),
    ...routingOf(entry),
    ...deploymentSelection(entry),
    ...budgetOf(entry),
    probe: {
      mode: info?.mode ?? null,
      model: info?.health_check_model ?? null,
      maxTokens: info?.health_check_max_tokens ?? null,
      decision: membersOf(info?.health_check_params),
      timeoutSeconds: info?.health_check_timeout ?? DEFAULT_PROBE_SETTINGS.timeoutSeconds,
      onDemandOnly: info?.disable_background_health_check ?? false,
    },
  };
}

/** A deployment, completed with the parameters of its credential. */
export function withCredential(deployment: Deployment, credential: Parameters): Deployment {
  const values = Object.entries(revealedParameters(credential)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  const given = new Map(values);
  const apiKey = given.get('api_key');
  const apiBase = given.get('api_base');
  const among = (names: readonly string[]): readonly [string, string][] =>
    values.filter(([name]) => names.includes(name));
  return {
    ...deployment,
    apiKey: deployment.apiKey ?? (apiKey === undefined ? null : new Secret(apiKey)),
    apiBase: deployment.apiBase ?? apiBase?.replace(/\/+$/, '') ?? null,
    options: { ...Object.fromEntries(among(OPTIONS)), ...deployment.options },
    secrets: {
      ...Object.fromEntries(among(SECRETS).map(([name, value]) => [name, new Secret(value)])),
      ...deployment.secrets,
    },
  };
}

/** Members of an object; none for another value, which the reference ignores, too. */
const membersOf = (value: unknown): JsonObject => (isJsonObject(value) ? { ...value } : {});

/** Capabilities of a decision model; none for a model of another mode. */
function decidesOf(info: ModelEntry['model_info']): Pick<Deployment, 'decides'> {
  if (info === undefined || !isDecisionMode(info.mode ?? null)) return {};
  return {
    decides: {
      boxes: info.supports_box_questions === true,
      audio: info.supports_audio_input === true,
      videos: info.supports_video_input === true,
    },
  };
}

/** The budget of one deployment, where configured. */
function budgetOf({ litellm_params: { max_budget, budget_duration } }: ModelEntry): Pick<DeploymentDraft, 'budget'> {
  const limit = max_budget === undefined || max_budget === null ? null : usdFrom(max_budget);
  return limit === null ? {} : { budget: { limit, duration: budget_duration ?? null } };
}

/** Retries and cooldowns of one deployment, where configured. `model_info` wins over `litellm_params`. */
function routingOf({ litellm_params: params, model_info: info }: ModelEntry): Pick<DeploymentDraft, 'routing'> {
  const cooldownSeconds = info?.cooldown_time ?? params.cooldown_time;
  const policy = info?.allowed_fails_policy;
  const routing = {
    ...(params.num_retries === undefined ? {} : { retries: params.num_retries }),
    ...(cooldownSeconds === undefined ? {} : { cooldownSeconds }),
    ...(info?.allowed_fails === undefined ? {} : { allowedFails: info.allowed_fails }),
    ...(policy === undefined ? {} : { allowedFailsOf: countsOf(policy, 'AllowedFails') }),
  };
  return Object.keys(routing).length === 0 ? {} : { routing };
}

/** `openai/responses/o1-pro` selects the Responses API; `openai/chat_completions/…` selects chat completions. */
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

/** OpenAI's text completion models. */
const TEXT_MODELS = /^(gpt-3\.5-turbo-instruct(-0914)?|babbage-002|davinci-002)$/;

/**
 * `openai/gpt-4o` names provider and upstream model. A name without a provider is a model of OpenAI, or the built-in
 * `demo`.
 */
function providerOf(named: string): { readonly provider: string; readonly model: string } {
  const slash = named.indexOf('/');
  if (slash === -1) {
    const openAiProvider = TEXT_MODELS.test(named) ? 'text-completion-openai' : 'openai';
    return { provider: named === 'demo' ? 'demo' : openAiProvider, model: named };
  }
  return { provider: named.slice(0, slash), model: named.slice(slash + 1) };
}

const firstSet = (names: readonly string[], env: NodeJS.ProcessEnv): string | null =>
  names.map((name) => env[name]).find((value) => value !== undefined && value !== '') ?? null;

/**
 * Whether the key of the environment may be sent to an address of the file. Where the vendor has a fixed origin, it is
 * sent only there.
 */
function maySendKey(vendor: Vendor | null, apiBase: string | undefined): boolean {
  if (!vendor?.base || apiBase === undefined) return true;
  return URL.parse(apiBase)?.origin === URL.parse(vendor.base)?.origin;
}

/** A warning about the key of a deployment. */
interface KeyWarning {
  readonly text: string;
  /** Whether every call would be refused: its vendor requires a key. */
  readonly isFault: boolean;
}

/** The warning about a deployment without a key; null when no warning is due. */
export function keyWarningOf(deployment: Deployment, env: NodeJS.ProcessEnv): KeyWarning | null {
  const { modelGroup, provider, apiBase, apiKey, secrets, credentialName, clientCredentials } = deployment;
  const vendor = vendorOf(provider);
  const hasKey = apiKey !== null || Object.keys(secrets).length > 0 || credentialName !== undefined;
  if (vendor === null || vendor.keyOptional || hasKey) return null;
  const named = [...vendor.keyVariables, ...Object.values(vendor.credentials).flat()].join(', ');
  if (maySendKey(vendor, apiBase ?? undefined)) {
    // A vendor without a fixed address is, at a configured address, a server of the operator. It may need no key.
    const isOwnServer = apiBase !== null && vendor.base === null;
    const mayClientsSendKey = clientCredentials?.includes('api_key') === true;
    return {
      text: `The model "${modelGroup}" has no key: set api_key, or one of ${named}.`,
      isFault: !isOwnServer && !mayClientsSendKey,
    };
  }
  if (firstSet(vendor.keyVariables, env) === null) return null;
  return {
    text: `The model "${modelGroup}" is called without a key: the key of ${named} is not sent to ${URL.parse(apiBase ?? '')?.origin}. Set api_key if it needs one.`,
    isFault: false,
  };
}

function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

/** Why a provider cannot be called at an address, or without one; null where it can. */
export function addressFault(provider: string, apiBase: string | null): string | null {
  if (provider === AUTO_ROUTER_PROVIDER) return null;
  // An address of the file is checked already; one of the environment is not.
  if (apiBase !== null)
    return isHttpAddress(apiBase) ? null : `"${apiBase}", from the environment, is not an http:// or https:// address`;
  if (!PROVIDER_NAMES.some((name) => name === provider))
    return `the provider "${provider}" is not known (${PROVIDER_NAMES.join(', ')}); set api_base if its API is chat-completions`;
  const vendor = vendorOf(provider);
  // Calls of a decision model without an address fail, as in the reference.
  if (vendor === null || vendor.base !== null || DECIDER_NAMES.has(provider)) return null;
  return `the provider "${provider}" has no address of its own; set api_base, or ${vendor.baseVariables.join(', ')}`;
}
