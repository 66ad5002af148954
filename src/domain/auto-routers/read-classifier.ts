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
/** Classifiers of the reference that are not built. */
const NOT_BUILT = ['jev', 'oss_classifier', 'custom'] as const;

const PROBABILITY = { min: 0, max: 1 };
const FORMATS = ['json_schema', 'json_object'] as const;
const TIMEOUT_MS = { min: 1, max: 600_000 };
const OUTPUT_TOKENS = { min: 1, max: 1_000_000, isInteger: true } as const;
const MOST_PROFILE_CHARACTERS = 4_000;

/** Members of the configuration that only some classifiers read. */
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

/** Reads `classifier_type` and its settings; null after a fault of the type. */
export function readClassifier(
  config: ConfigReader,
  { tiers }: Pick<AutoRouter, 'tiers'>,
  defaultModel: string | null,
): Classifier | null {
  const type = config.value('classifier_type') ?? 'heuristic';
  const notBuilt = NOT_BUILT.find((one) => one === type);
  if (notBuilt !== undefined) {
    config.fault('classifier_type', `is not supported: '${notBuilt}' is not built. Use one of ${KINDS.join(', ')}`);
    return null;
  }
  const kind = config.oneOf('classifier_type', KINDS, 'heuristic');
  for (const member of CLASSIFIER_MEMBERS)
    if (!MEMBERS_OF[kind].includes(member) && config.has(member) && !SCORING_MEMBERS.some((one) => one === member))
      config.fault(member, `does not apply to the classifier_type '${kind}'`);
  if (kind === 'capability') return readCapability(config, tiers);
  if (kind === 'llm_v2') return readFuse(config, tiers);
  const scoring = readScoring(config);
  if (kind === 'heuristic' || kind === 'heuristic_v2') return { kind, scoring };
  const judged = readTierJudge(config, defaultModel);
  if (kind === 'llm') return { kind, scoring, ...judged };
  if (kind === 'hybrid') {
    if (!config.has('hybrid_boundary_margin')) config.fault('hybrid_boundary_margin', `is required for '${kind}'`);
    return { kind, scoring, ...judged, margin: config.number('hybrid_boundary_margin', 0, PROBABILITY) };
  }
  if (!config.has('heuristic_first_max_tier')) config.fault('heuristic_first_max_tier', `is required for '${kind}'`);
  const maxTier = config.oneOf('heuristic_first_max_tier', TIERS, 'SIMPLE');
  if (maxTier === 'REASONING')
    config.fault('heuristic_first_max_tier', 'must not be the highest tier: the judge would never be asked');
  return { kind, scoring, ...judged, maxTier };
}

function readJudge(config: ConfigReader): Judge {
  const llm = config.map('classifier_llm_config');
  llm.only(['model', 'timeout_ms', 'reasoning_effort', 'circuit_breaker_enabled', 'circuit_breaker_cooldown_seconds']);
  if (!config.has('classifier_llm_config')) config.fault('classifier_llm_config', 'is required for this classifier');
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
    config.fault('classifier_fallback', "is 'default_model', but there is no complexity_router_default_model");
  return { judge: readJudge(config), fallback };
}

/** Forecasts fall back to the capable tier, so that no other fallback may be configured. */
function refuseFallback(config: ConfigReader): void {
  const value = config.value('classifier_fallback');
  if (value !== undefined && value !== 'heuristic')
    config.fault('classifier_fallback', "must be 'heuristic' for this classifier: its failures use the capable tier");
}

function tierIn(config: ConfigReader, name: string, tiers: AutoRouter['tiers'], otherwise: Tier | null): Tier {
  const value = config.value(name) ?? otherwise ?? undefined;
  if (!isTier(value)) config.fault(name, value === undefined ? 'is required' : `must be one of ${TIERS.join(', ')}`);
  else if (!tiers.has(value)) config.fault(name, `is '${value}', but the router has no model for this tier`);
  return isTier(value) ? value : 'SIMPLE';
}

function readTierPair(
  config: ConfigReader,
  tiers: AutoRouter['tiers'],
  standard: readonly [Tier, Tier] | null,
): { readonly efficientTier: Tier; readonly capableTier: Tier } {
  const efficientTier = tierIn(config, 'efficient_tier', tiers, standard?.[0] ?? null);
  const capableTier = tierIn(config, 'capable_tier', tiers, standard?.[1] ?? null);
  if (rankOf(capableTier) <= rankOf(efficientTier) && config.has('capable_tier'))
    config.fault('capable_tier', 'must be higher than the efficient_tier');
  return { efficientTier, capableTier };
}

function formatIn(config: ConfigReader): JudgeFormat {
  return config.oneOf('response_format', FORMATS, 'json_schema');
}

function readCapability(config: ConfigReader, tiers: AutoRouter['tiers']): CapabilityClassifier {
  refuseFallback(config);
  const own = config.map('capability_classifier_config');
  if (!config.has('capability_classifier_config')) config.fault('capability_classifier_config', 'is required');
  own.only([
    'efficient_tier',
    'capable_tier',
    'base_threshold',
    'threshold_step',
    'max_output_tokens',
    'response_format',
    'calibration',
  ]);
  const baseThreshold = own.requiredNumber('base_threshold', PROBABILITY);
  const thresholdStep = own.number('threshold_step', 0, PROBABILITY);
  if (baseThreshold + 2 * thresholdStep > 1 + 1e-9)
    own.fault('threshold_step', 'is too large: base_threshold + 2 * threshold_step must not exceed 1');
  return {
    kind: 'capability',
    judge: readJudge(config),
    ...readTierPair(own, tiers, null),
    baseThreshold,
    thresholdStep,
    maxOutputTokens: own.number('max_output_tokens', 4_096, OUTPUT_TOKENS),
    responseFormat: formatIn(own),
    calibration: own.has('calibration') ? readCalibration(own.map('calibration'), ['version']) : null,
  };
}

function readCalibration(calibration: ConfigReader, others: readonly string[] = []): Calibration {
  calibration.only(['slope', 'intercept', ...others]);
  if (others.includes('version')) calibration.requiredText('version');
  return {
    slope: calibration.requiredNumber('slope', { min: 0, max: 20 }),
    intercept: calibration.requiredNumber('intercept', { min: -20, max: 20 }),
  };
}

function readFuse(config: ConfigReader, tiers: AutoRouter['tiers']): FuseClassifier {
  refuseFallback(config);
  const own = config.map('llm_v2_config');
  if (!config.has('llm_v2_config')) config.fault('llm_v2_config', 'is required');
  own.only([
    'efficient_tier',
    'capable_tier',
    ...['efficient_profile', 'capable_profile', 'harness'].flatMap((name) => [name, `${name}_preset`]),
    'max_quality_gap',
    'max_output_tokens',
    'response_format',
    'calibration',
  ]);
  const pair = readTierPair(own, tiers, ['SIMPLE', 'REASONING']);
  assertTwoModels(config, tiers, pair);
  return {
    kind: 'llm_v2',
    judge: readJudge(config),
    ...pair,
    efficientProfile: profileIn(own, 'efficient_profile', FUSE_MODELS),
    capableProfile: profileIn(own, 'capable_profile', FUSE_MODELS),
    harness: profileIn(own, 'harness', FUSE_HARNESSES),
    maxQualityGap: own.requiredNumber('max_quality_gap', PROBABILITY),
    maxOutputTokens: own.number('max_output_tokens', 1_024, OUTPUT_TOKENS),
    responseFormat: formatIn(own),
    calibration: own.has('calibration') ? readFuseCalibration(own.map('calibration')) : null,
  };
}

/** A Fuse v2 router compares two models: its tiers have one model each, and no further tier has one. */
function assertTwoModels(
  config: ConfigReader,
  tiers: AutoRouter['tiers'],
  { efficientTier, capableTier }: { readonly efficientTier: Tier; readonly capableTier: Tier },
): void {
  const others = [...tiers.keys()].filter((tier) => tier !== efficientTier && tier !== capableTier);
  if (others.length > 0)
    config.fault('tiers', `must only have the two tiers of llm_v2_config, not ${others.join(', ')}`);
  const [efficient = [], capable = []] = [tiers.get(efficientTier), tiers.get(capableTier)];
  if (efficient.length > 1 || capable.length > 1) config.fault('tiers', 'must have one model in each tier for llm_v2');
  if (efficient[0] !== undefined && efficient[0].model === capable[0]?.model)
    config.fault('tiers', 'must have two different models for llm_v2');
}

/** A profile as a text, or the text of a preset. */
function profileIn(config: ConfigReader, name: string, presets: readonly FusePreset[]): string {
  const presetName = `${name}_preset`;
  const own = config.text(name, MOST_PROFILE_CHARACTERS);
  const id = config.text(presetName);
  if (own !== null && id !== null) config.fault(presetName, `must not be set together with ${name}`);
  if (id === null) {
    if (own === null && !config.has(name)) config.fault(name, `is required, or ${presetName}`);
    return own ?? '';
  }
  const preset = presets.find((one) => one.id === id);
  if (preset === undefined) config.fault(presetName, `must be one of ${presets.map((one) => one.id).join(', ')}`);
  return preset?.text ?? '';
}

function readFuseCalibration(calibration: ConfigReader): FuseClassifier['calibration'] {
  calibration.only(['version', 'prompt_version', 'efficient', 'capable']);
  calibration.requiredText('version');
  if (calibration.value('prompt_version') !== FUSE_PROMPT_VERSION)
    calibration.fault('prompt_version', `must be '${FUSE_PROMPT_VERSION}'`);
  return {
    efficient: readCalibration(calibration.map('efficient')),
    capable: readCalibration(calibration.map('capable')),
  };
}
