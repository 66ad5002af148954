import { isJsonObject, type JsonObject } from '../json-object.ts';
import { AUTO_ROUTER_MODEL, type AutoRouter, type KeywordRule, type TierModel } from './auto-router.ts';
import { isTier, type Tier, TIERS } from './tiers.ts';
import { ConfigReader, type RouterFault } from './config-reader.ts';
import { CLASSIFIER_MEMBERS, readClassifier } from './read-classifier.ts';

const CONFIG = 'complexity_router_config';
const DEFAULT_MODEL = 'complexity_router_default_model';
/** Maximum number of models of one tier. */
const MAX_MODELS = 32;
/** Maximum number of keyword rules. */
const MAX_RULES = 100;
/** Default time for which a session keeps a decision, in seconds. */
const DEFAULT_SESSION_TTL = 3_600;
/** Permitted time for which a session keeps a decision, in seconds: up to one year. */
const SESSION_TTL = { min: 1, max: 31_536_000 };

/** Members of the reference that are accepted without an effect (docs/auto-routers.md). */
const WITHOUT_EFFECT = [
  'deployment_affinity',
  'return_raw_model_name',
  'classifier_context_window_size',
  'classifier_context_budget_chars',
  'classifier_context_include_assistant',
  'stall_escalation_window',
  'stall_escalation_repeat_threshold',
  'modality_pin_override',
  'reminder_markers',
] as const;

/** Members of the reference that would change decisions and are not supported. A member that is on is a fault. */
const REFUSED = [
  'adaptive',
  'stall_escalation_enabled',
  'tier_definitions',
  'custom_dimensions',
  'plugins',
  'classifier_system_prompt',
  'classifier_prompt',
  'jev_classifier_config',
  'opensource_classifier_config',
  'custom_classifier_config',
] as const;

const KNOWN = [
  'tiers',
  'tier_labels',
  'default_model',
  'classifier_type',
  'keyword_tier_rules',
  'escalation_keywords',
  'session_affinity',
  'session_affinity_ttl',
  'session_affinity_ttl_seconds',
  'classification_mode',
  'modality_routing',
  'enable_context_window_escalation',
  ...CLASSIFIER_MEMBERS,
  ...WITHOUT_EFFECT,
  ...REFUSED,
];

/** Request members that a tier may not set: the model, the prompt, streaming, and the upstream with its credentials. */
const FIXED_MEMBERS =
  /^(model|messages|input|prompt|contents|stream|api_key|api_base|base_url|.*_credentials?|.*_token)$/;

/** The settings of a router, or the faults of its configuration. */
export type ReadRouter =
  | { readonly router: AutoRouter; readonly faults: readonly [] }
  | { readonly router: null; readonly faults: readonly RouterFault[] };

/**
 * Reads the settings of a router from the `litellm_params` of a deployment. Null for a deployment that is no router.
 * `name` is the public model name of the deployment. Paths of faults are relative to `litellm_params`.
 */
export function readAutoRouter(params: JsonObject, name: string): ReadRouter | null {
  const { model } = params;
  if (typeof model !== 'string' || !model.startsWith('auto_router/')) return null;
  const faults: RouterFault[] = [];
  const top = new ConfigReader(params, [], faults);
  if (model !== AUTO_ROUTER_MODEL) {
    top.addFault('model', `is not a supported router. Use ${AUTO_ROUTER_MODEL}`);
    return { router: null, faults };
  }
  if (!top.has(CONFIG)) top.addFault(CONFIG, 'is required for a router');
  const config = top.map(CONFIG);
  config.refuseOthers(KNOWN);
  for (const member of REFUSED)
    if (isOn(config.value(member))) config.addFault(member, 'is not supported by this gateway. Remove it');
  const defaultModel = top.text(DEFAULT_MODEL) ?? config.text('default_model');
  const tiers = readTiers(config);
  const classifier = readClassifier(config, { tiers }, defaultModel);
  const judge = classifier !== null && 'judge' in classifier ? classifier.judge.model : null;
  const tierModels = [...tiers.values()].flat().map(({ model: tierModel }) => tierModel);
  if ([...tierModels, defaultModel, judge].includes(name))
    top.addFault(CONFIG, `must not name the router '${name}' itself`);
  const settings = {
    tiers,
    labels: readLabels(config),
    defaultModel,
    keywordRules: readKeywordRules(config, tiers),
    escalationKeywords: config.texts('escalation_keywords'),
    hasAffinity: config.flag('session_affinity', false),
    sessionTtlMs: readSessionTtlMs(config),
    classificationMode: config.oneOf('classification_mode', ['every_request', 'user_turn'], 'every_request'),
    routesByModality: config.flag('modality_routing', false),
    escalatesByContext: config.flag('enable_context_window_escalation', false),
  } as const;
  return classifier === null || faults.length > 0
    ? { router: null, faults }
    : { router: { ...settings, classifier }, faults: [] };
}

/** Whether the value of a refused member is on: anything but false, null and an empty list. */
const isOn = (value: unknown): boolean =>
  value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);

function readTiers(config: ConfigReader): AutoRouter['tiers'] {
  const map = config.map('tiers');
  map.refuseOthers(TIERS);
  const tiers = new Map<Tier, readonly TierModel[]>();
  for (const tier of TIERS) {
    const value = map.value(tier);
    if (value === undefined) continue;
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    const models = entries.map(readTierModel);
    if (models.length === 0 || models.length > MAX_MODELS || models.includes(null))
      map.addFault(
        tier,
        `must be a model name, a map with model_name and litellm_params, or a list of 1 to ${MAX_MODELS} of these. ` +
          'litellm_params must not set a model, a prompt, stream, an address or a credential',
      );
    else tiers.set(tier, models as readonly TierModel[]);
  }
  if (tiers.size === 0 && map.names().length === 0) config.addFault('tiers', 'must name a model for at least one tier');
  return tiers;
}

/** A model of a tier; null for a value in another format, and for one that sets a fixed member. */
function readTierModel(value: unknown): TierModel | null {
  if (typeof value === 'string') return value === '' ? null : { model: value, members: {} };
  if (!isJsonObject(value)) return null;
  const { model_name: model, litellm_params: members = {}, ...others } = value;
  const isValid = typeof model === 'string' && model !== '' && Object.keys(others).length === 0;
  if (!isValid || !isJsonObject(members)) return null;
  return Object.keys(members).some((name) => FIXED_MEMBERS.test(name)) ? null : { model, members };
}

function readLabels(config: ConfigReader): AutoRouter['labels'] {
  const map = config.map('tier_labels');
  map.refuseOthers(TIERS);
  const labels = TIERS.flatMap((tier): [Tier, string][] => {
    const label = map.text(tier);
    return label === null ? [] : [[tier, label]];
  });
  const distinct = new Set(labels.map(([, label]) => label));
  const namesOtherTier = ([tier, label]: [Tier, string]): boolean => label !== tier && isTier(label);
  if (distinct.size < labels.length || labels.some(namesOtherTier))
    config.addFault('tier_labels', 'must be different names, and none may be the name of another tier');
  return Object.fromEntries(labels);
}

function readKeywordRules(config: ConfigReader, tiers: AutoRouter['tiers']): readonly KeywordRule[] {
  const rules = config.list('keyword_tier_rules', MAX_RULES);
  const faults: RouterFault[] = [];
  const read = rules.map((rule, index): KeywordRule => {
    const members = new ConfigReader(isJsonObject(rule) ? rule : {}, [index], faults);
    members.refuseOthers(['keywords', 'tier']);
    const faultsBefore = faults.length;
    const keywords = members.texts('keywords');
    const hasFault = faults.length > faultsBefore;
    if (keywords.length === 0 && !hasFault) members.addFault('keywords', 'must have at least one keyword');
    const tier = members.value('tier');
    if (!isTier(tier)) members.addFault('tier', `must be one of ${TIERS.join(', ')}`);
    else if (!tiers.has(tier)) members.addFault('tier', `is '${tier}', but the router has no model for this tier`);
    return { keywords, tier: isTier(tier) ? tier : 'SIMPLE' };
  });
  for (const { path, message } of faults) config.addFault(['keyword_tier_rules', ...path].join('.'), message);
  return read;
}

/** `session_affinity_ttl`, else `session_affinity_ttl_seconds`. */
function readSessionTtlMs(config: ConfigReader): number {
  const otherSeconds = config.number('session_affinity_ttl_seconds', DEFAULT_SESSION_TTL, SESSION_TTL);
  return config.number('session_affinity_ttl', otherSeconds, SESSION_TTL) * 1_000;
}
