import type { JsonObject } from '../json-object.ts';
import type { HeuristicScoring } from './heuristic.ts';
import type { Tier } from './tiers.ts';

/** A model of a tier. */
export interface TierModel {
  /** Public model name. */
  readonly model: string;
  /** Members that replace members of the request; none for a tier that is only a name. */
  readonly members: JsonObject;
}

/** The model that a classifier asks. */
export interface Judge {
  /** Public model name. */
  readonly model: string;
  readonly timeoutMs: number;
  /** Sent as `reasoning_effort`; absent where none is configured. */
  readonly reasoningEffort?: string;
  /** Pause after a timeout in which the judge is not asked, in ms; null where the circuit breaker is off. */
  readonly cooldownMs: number | null;
}

/** `json_schema` sends the schema of the answer; `json_object` appends it to the system text. */
export type JudgeFormat = 'json_schema' | 'json_object';

/** Linear correction of the log odds of a forecast. */
export interface Calibration {
  readonly slope: number;
  readonly intercept: number;
}

/** What decides after a failed judge call. */
type JudgeFallback = 'heuristic' | 'default_model';

/** A judge call whose answer names a tier. */
export interface TierJudge {
  readonly judge: Judge;
  readonly fallback: JudgeFallback;
}

/** Forecast whether the efficient tier solves the task (`classifier_type: capability`). */
export interface CapabilityClassifier {
  readonly kind: 'capability';
  readonly judge: Judge;
  readonly efficientTier: Tier;
  readonly capableTier: Tier;
  readonly baseThreshold: number;
  readonly thresholdStep: number;
  readonly maxOutputTokens: number;
  readonly responseFormat: JudgeFormat;
  readonly calibration: Calibration | null;
}

/** Forecasts for both models (`classifier_type: llm_v2`, Fuse v2). */
export interface FuseClassifier {
  readonly kind: 'llm_v2';
  readonly judge: Judge;
  readonly efficientTier: Tier;
  readonly capableTier: Tier;
  readonly efficientProfile: string;
  readonly capableProfile: string;
  readonly harness: string;
  readonly maxQualityGap: number;
  readonly maxOutputTokens: number;
  readonly responseFormat: JudgeFormat;
  readonly calibration: { readonly efficient: Calibration; readonly capable: Calibration } | null;
}

/** How a router selects a tier. */
export type Classifier =
  | { readonly kind: 'heuristic'; readonly scoring: HeuristicScoring }
  | { readonly kind: 'heuristic_v2'; readonly scoring: HeuristicScoring }
  | ({ readonly kind: 'llm'; readonly scoring: HeuristicScoring } & TierJudge)
  | ({ readonly kind: 'heuristic_first'; readonly scoring: HeuristicScoring; readonly maxTier: Tier } & TierJudge)
  | ({ readonly kind: 'hybrid'; readonly scoring: HeuristicScoring; readonly margin: number } & TierJudge)
  | CapabilityClassifier
  | FuseClassifier;

/** Sends calls that contain a keyword to a tier, without a classifier. */
export interface KeywordRule {
  readonly keywords: readonly string[];
  readonly tier: Tier;
}

/** A deployment that selects the model of each call: `litellm_params.model: auto_router/complexity_router`. */
export interface AutoRouter {
  /** Models of each configured tier; at least one tier, and at least one model in each. */
  readonly tiers: ReadonlyMap<Tier, readonly TierModel[]>;
  /** Display names of tiers in records. */
  readonly labels: Readonly<Partial<Record<Tier, string>>>;
  /** Model where no tier can be called; null for none. */
  readonly defaultModel: string | null;
  readonly classifier: Classifier;
  readonly keywordRules: readonly KeywordRule[];
  /** Words that raise the tier of a call by one. */
  readonly escalationKeywords: readonly string[];
  /** Whether later calls of a session keep its first decision. */
  readonly hasAffinity: boolean;
  /** Time for which a session keeps a decision after its last call, in ms. */
  readonly heldMs: number;
  /** `user_turn`: a call that continues a turn keeps the decision of its session. */
  readonly mode: 'every_request' | 'user_turn';
  /** Whether calls with images avoid models that are known not to read them. */
  readonly routesByModality: boolean;
  /** Whether calls avoid models whose known context window is too small. */
  readonly escalatesByContext: boolean;
}

/** `litellm_params.model` of an auto router. */
export const AUTO_ROUTER_MODEL = 'auto_router/complexity_router';
/** Provider of an auto router in rows and lists. */
export const AUTO_ROUTER_PROVIDER = 'auto_router';
