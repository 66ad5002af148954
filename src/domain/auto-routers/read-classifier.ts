import type {
  AutoRouter,
  Calibration,
  CapabilityClassifier,
  Classifier,
  FuseClassifier,
  Judge,
  JudgeFormat,
  TierJudge,
} from './auto-router.ts';
import { isTier, rankOf, type Tier, TIERS } from './tiers.ts';
import type { ConfigReader } from './config-reader.ts';
import { FUSE_PROMPT_VERSION } from './fuse.ts';
import { FUSE_HARNESSES, FUSE_MODELS, type FusePreset } from './fuse-presets.ts';
import { readScoring, SCORING_MEMBERS } from './read-scoring.ts';

const KINDS = ['heuristic', 'heuristic_v2', 'llm', 'heuristic_first', 'hybrid', 'capability', 'llm_v2'] as const;
type Kind = (typeof KINDS)[number];
/** Classifiers of the reference that are not supported. */
const UNSUPPORTED = ['jev', 'oss_classifier', 'custom'] as const;

/** Rounding error that is permitted in a sum of probabilities. */
const EPSILON = 1e-9;
const PROBABILITY = { min: 0, max: 1 };
const FORMATS = ['json_schema', 'json_object'] as const;
const TIMEOUT_MS = { min: 1, max: 600_000 };
const OUTPUT_TOKENS = { min: 1, max: 1_000_000, isInteger: true } as const;
const MAX_PROFILE_CHARACTERS = 4_000;

/** Members of the configuration by the classifier that reads them. Members that all classifiers read are not listed. */
const MEMBERS_OF: Readonly<Record<Kind, readonly string[]>> = {
  heuristic: SCORING_MEMBERS,
  heuristic_v2: SCORING_MEMBERS,
  llm: [...SCORING_MEMBERS, 'classifier_llm_config', 'classifier_fallback'],
  heuristic_first: [...SCORING_MEMBERS, 'classifier_llm_config', 'classifier_fallback', 'heuristic_first_max_tier'],
  hybrid: [...SCORING_MEMBERS, 'classifier_llm_config', 'classifier_fallback', 'hybrid_boundary_margin'],
  capability: ['classifier_llm_config', 'classifier_fallback', 'capability_classifier_config'],
  llm_v2: ['classifier_llm_config', 'classifier_fallback', 'llm_v2_config'],
};
export const CLASSIFIER_MEMBERS: readonly string[] = [...new Set(Object.values(MEMBERS_OF).flat())];

/** Reads `classifier_type` and the settings of this classifier. Null for an unsupported type. */
export function readClassifier(
  config: ConfigReader,
  { tiers }: Pick<AutoRouter, 'tiers'>,
  defaultModel: string | null,
): Classifier | null {
  const type = config.value('classifier_type') ?? 'heuristic';
  const unsupported = UNSUPPORTED.find((name) => name === type);
  if (unsupported !== undefined) {
    config.addFault('classifier_type', `'${unsupported}' is not supported. Use one of ${KINDS.join(', ')}`);
    return null;
  }
  const kind = config.oneOf('classifier_type', KINDS, 'heuristic');
  // `capability` and `llm_v2` accept scoring members without an effect.
  const accepted = new Set([...SCORING_MEMBERS, ...MEMBERS_OF[kind]]);
  for (const member of CLASSIFIER_MEMBERS)
    if (config.has(member) && !accepted.has(member))
      config.addFault(member, `does not apply to the classifier_type '${kind}'`);
  if (kind === 'capability') return readCapability(config, tiers);
  if (kind === 'llm_v2') return readFuse(config, tiers);
  const scoring = readScoring(config);
  if (kind === 'heuristic' || kind === 'heuristic_v2') return { kind, scoring };
  const judged = readTierJudge(config, defaultModel);
  if (kind === 'llm') return { kind, scoring, ...judged };
  if (kind === 'hybrid') {
    if (!config.has('hybrid_boundary_margin')) config.addFault('hybrid_boundary_margin', `is required for '${kind}'`);
    return { kind, scoring, ...judged, margin: config.number('hybrid_boundary_margin', 0, PROBABILITY) };
  }
  if (!config.has('heuristic_first_max_tier')) config.addFault('heuristic_first_max_tier', `is required for '${kind}'`);
  const maxTier = config.oneOf('heuristic_first_max_tier', TIERS, 'SIMPLE');
  if (maxTier === 'REASONING')
    config.addFault('heuristic_first_max_tier', 'must not be the highest tier: the judge would never be asked');
  return { kind, scoring, ...judged, maxTier };
}

function readJudge(config: ConfigReader): Judge {
  const llm = config.map('classifier_llm_config');
  llm.refuseOthers([
    'model',
    'timeout_ms',
    'reasoning_effort',
    'circuit_breaker_enabled',
    'circuit_breaker_cooldown_seconds',
  ]);
  if (!config.has('classifier_llm_config')) config.addFault('classifier_llm_config', 'is required for this classifier');
  const reasoningEffort = llm.text('reasoning_effort');
  const seconds = llm.number('circuit_breaker_cooldown_seconds', 30, { min: 0.001, max: 86_400 });
  return {
    model: config.has('classifier_llm_config') ? llm.requiredText('model') : '',
    timeoutMs: llm.number('timeout_ms', 3_000, TIMEOUT_MS),
    ...(reasoningEffort === null ? {} : { reasoningEffort }),
    cooldownMs: llm.flag('circuit_breaker_enabled', true) ? seconds * 1_000 : null,
  };
}

function readTierJudge(config: ConfigReader, defaultModel: string | null): TierJudge {
  const fallback = config.oneOf('classifier_fallback', ['heuristic', 'default_model'], 'heuristic');
  if (fallback === 'default_model' && defaultModel === null)
    config.addFault('classifier_fallback', "is 'default_model', but there is no complexity_router_default_model");
  return { judge: readJudge(config), fallback };
}

/** After a failed forecast, the capable tier is selected. Adds a fault for another configured fallback. */
function refuseFallback(config: ConfigReader): void {
  const value = config.value('classifier_fallback');
  if (value !== undefined && value !== 'heuristic')
    config.addFault(
      'classifier_fallback',
      "must be 'heuristic' for this classifier: its failures use the capable tier",
    );
}

/** A tier that has models. `SIMPLE` after a fault. A null default makes the member required. */
function tierIn(config: ConfigReader, name: string, tiers: AutoRouter['tiers'], defaultTier: Tier | null): Tier {
  const value = config.value(name) ?? defaultTier ?? undefined;
  if (!isTier(value)) config.addFault(name, value === undefined ? 'is required' : `must be one of ${TIERS.join(', ')}`);
  else if (!tiers.has(value)) config.addFault(name, `is '${value}', but the router has no model for this tier`);
  return isTier(value) ? value : 'SIMPLE';
}

function readTierPair(
  config: ConfigReader,
  tiers: AutoRouter['tiers'],
  defaults: readonly [Tier, Tier] | null,
): { readonly efficientTier: Tier; readonly capableTier: Tier } {
  const efficientTier = tierIn(config, 'efficient_tier', tiers, defaults?.[0] ?? null);
  const capableTier = tierIn(config, 'capable_tier', tiers, defaults?.[1] ?? null);
  if (rankOf(capableTier) <= rankOf(efficientTier) && config.has('capable_tier'))
    config.addFault('capable_tier', 'must be higher than the efficient_tier');
  return { efficientTier, capableTier };
}

const responseFormatIn = (config: ConfigReader): JudgeFormat => config.oneOf('response_format', FORMATS, 'json_schema');

function readCapability(config: ConfigReader, tiers: AutoRouter['tiers']): CapabilityClassifier {
  refuseFallback(config);
  const capability = config.map('capability_classifier_config');
  if (!config.has('capability_classifier_config')) config.addFault('capability_classifier_config', 'is required');
  capability.refuseOthers([
    'efficient_tier',
    'capable_tier',
    'base_threshold',
    'threshold_step',
    'max_output_tokens',
    'response_format',
    'calibration',
  ]);
  const baseThreshold = capability.requiredNumber('base_threshold', PROBABILITY);
  const thresholdStep = capability.number('threshold_step', 0, PROBABILITY);
  if (baseThreshold + 2 * thresholdStep > 1 + EPSILON)
    capability.addFault('threshold_step', 'is too large: base_threshold + 2 * threshold_step must not exceed 1');
  return {
    kind: 'capability',
    judge: readJudge(config),
    ...readTierPair(capability, tiers, null),
    baseThreshold,
    thresholdStep,
    maxOutputTokens: capability.number('max_output_tokens', 4_096, OUTPUT_TOKENS),
    responseFormat: responseFormatIn(capability),
    calibration: capability.has('calibration') ? readVersionedCalibration(capability.map('calibration')) : null,
  };
}

function readVersionedCalibration(calibration: ConfigReader): Calibration {
  calibration.refuseOthers(['slope', 'intercept', 'version']);
  calibration.requiredText('version');
  return readCalibration(calibration);
}

function readCalibration(calibration: ConfigReader): Calibration {
  return {
    slope: calibration.requiredNumber('slope', { min: 0, max: 20 }),
    intercept: calibration.requiredNumber('intercept', { min: -20, max: 20 }),
  };
}

function readFuse(config: ConfigReader, tiers: AutoRouter['tiers']): FuseClassifier {
  refuseFallback(config);
  const fuse = config.map('llm_v2_config');
  if (!config.has('llm_v2_config')) config.addFault('llm_v2_config', 'is required');
  fuse.refuseOthers([
    'efficient_tier',
    'capable_tier',
    ...['efficient_profile', 'capable_profile', 'harness'].flatMap((name) => [name, `${name}_preset`]),
    'max_quality_gap',
    'max_output_tokens',
    'response_format',
    'calibration',
  ]);
  const pair = readTierPair(fuse, tiers, ['SIMPLE', 'REASONING']);
  refuseOtherModels(config, tiers, pair);
  return {
    kind: 'llm_v2',
    judge: readJudge(config),
    ...pair,
    efficientProfile: profileIn(fuse, 'efficient_profile', FUSE_MODELS),
    capableProfile: profileIn(fuse, 'capable_profile', FUSE_MODELS),
    harness: profileIn(fuse, 'harness', FUSE_HARNESSES),
    maxQualityGap: fuse.requiredNumber('max_quality_gap', PROBABILITY),
    maxOutputTokens: fuse.number('max_output_tokens', 1_024, OUTPUT_TOKENS),
    responseFormat: responseFormatIn(fuse),
    calibration: fuse.has('calibration') ? readFuseCalibration(fuse.map('calibration')) : null,
  };
}

/** Fuse v2 compares two models. Adds a fault unless both tiers have one model each, and no other tier has a model. */
function refuseOtherModels(
  config: ConfigReader,
  tiers: AutoRouter['tiers'],
  { efficientTier, capableTier }: { readonly efficientTier: Tier; readonly capableTier: Tier },
): void {
  const others = [...tiers.keys()].filter((tier) => tier !== efficientTier && tier !== capableTier);
  if (others.length > 0)
    config.addFault('tiers', `must only have the two tiers of llm_v2_config, not ${others.join(', ')}`);
  const [efficient = [], capable = []] = [tiers.get(efficientTier), tiers.get(capableTier)];
  if (efficient.length > 1 || capable.length > 1)
    config.addFault('tiers', 'must have one model in each tier for llm_v2');
  if (efficient[0] !== undefined && efficient[0].model === capable[0]?.model)
    config.addFault('tiers', 'must have two different models for llm_v2');
}

/** The text of a profile, from the member `name` or from the preset that `<name>_preset` names. Empty after a fault. */
function profileIn(config: ConfigReader, name: string, presets: readonly FusePreset[]): string {
  const presetName = `${name}_preset`;
  const text = config.text(name, MAX_PROFILE_CHARACTERS);
  const id = config.text(presetName);
  if (text !== null && id !== null) config.addFault(presetName, `must not be set together with ${name}`);
  if (id === null) {
    if (!config.has(name)) config.addFault(name, `is required, or ${presetName}`);
    return text ?? '';
  }
  const preset = presets.find((known) => known.id === id);
  if (preset === undefined)
    config.addFault(presetName, `must be one of ${presets.map((known) => known.id).join(', ')}`);
  return preset?.text ?? '';
}

function readFuseCalibration(calibration: ConfigReader): FuseClassifier['calibration'] {
  calibration.refuseOthers(['version', 'prompt_version', 'efficient', 'capable']);
  calibration.requiredText('version');
  if (calibration.value('prompt_version') !== FUSE_PROMPT_VERSION)
    calibration.addFault('prompt_version', `must be '${FUSE_PROMPT_VERSION}'`);
  const [efficient, capable] = [calibration.map('efficient'), calibration.map('capable')];
  for (const model of [efficient, capable]) model.refuseOthers(['slope', 'intercept']);
  return { efficient: readCalibration(efficient), capable: readCalibration(capable) };
}
