import type { JsonObject } from '../json-object.ts';
import type { HeuristicScoring } from './heuristic.ts';
import type { Tier } from './tiers.ts';

/** A model of a tier. */
export interface TierModel {
  /** Public model name. */
  readonly model: string;
  /** Request members that replace those of the caller. Empty where only a model name is configured. */
  readonly members: JsonObject;
}

/** The model that a classifier calls, and the settings of this call. */
export interface Judge {
  /** Public model name. */
  readonly model: string;
  /** Deadline of the call, in ms. */
  readonly timeoutMs: number;
  /** Sent as `reasoning_effort`; absent where none is configured. */
  readonly reasoningEffort?: string;
  /** Time in ms for which the judge is not called after a timeout; null where the circuit breaker is off. */
  readonly cooldownMs: number | null;
}

/** `json_schema` sends the schema of the answer; `json_object` appends it to the system text. */
export type JudgeFormat = 'json_schema' | 'json_object';

/** Correction of a forecast: new log odds = `slope` * log odds + `intercept`. */
export interface Calibration {
  readonly slope: number;
  readonly intercept: number;
}

/** What decides after a failed judge call. */
type JudgeFallback = 'heuristic' | 'default_model';

/** Settings of a classifier whose judge names the tier. */
export interface TierJudge {
  readonly judge: Judge;
  readonly fallback: JudgeFallback;
}

/** A judge forecasts whether the efficient tier solves the task (`classifier_type: capability`). */
export interface CapabilityClassifier {
  readonly kind: 'capability';
  readonly judge: Judge;
  readonly efficientTier: Tier;
  readonly capableTier: Tier;
  /** Probability of success from which the efficient tier is selected. */
  readonly baseThreshold: number;
  /** Added to the threshold once or twice for a task at or beyond the limit of the efficient model. */
  readonly thresholdStep: number;
  readonly maxOutputTokens: number;
  readonly responseFormat: JudgeFormat;
  readonly calibration: Calibration | null;
}

/** A judge forecasts the success of both models (`classifier_type: llm_v2`, Fuse v2). */
export interface FuseClassifier {
  readonly kind: 'llm_v2';
  readonly judge: Judge;
  readonly efficientTier: Tier;
  readonly capableTier: Tier;
  /** Texts that describe the models and the program that runs them. The judge reads them. */
  readonly efficientProfile: string;
  readonly capableProfile: string;
  readonly harness: string;
  /** The efficient tier is selected up to this lead of the capable one in the probability of success. */
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

/** Selects the tier of calls whose last user text contains a keyword. The classifier does not run. */
export interface KeywordRule {
  readonly keywords: readonly string[];
  readonly tier: Tier;
}

/** Settings of a deployment that selects another model for each call (`model: auto_router/complexity_router`). */
export interface AutoRouter {
  /** Models by tier: at least one tier, and at least one model in each. */
  readonly tiers: ReadonlyMap<Tier, readonly TierModel[]>;
  /** Display names of tiers, in records and in the question to a judge. */
  readonly labels: Readonly<Partial<Record<Tier, string>>>;
  /** Model for calls that no tier can serve. Null: such calls fail. */
  readonly defaultModel: string | null;
  readonly classifier: Classifier;
  readonly keywordRules: readonly KeywordRule[];
  /** Each call whose last user text contains one of them gets the next higher tier. */
  readonly escalationKeywords: readonly string[];
  /** Whether later calls of a session keep its first decision. */
  readonly hasAffinity: boolean;
  /** Time for which a session keeps a decision after its last call, in ms. */
  readonly sessionTtlMs: number;
  /** `user_turn`: a call that does not end with a user turn keeps the decision of its session. */
  readonly classificationMode: 'every_request' | 'user_turn';
  /** Whether calls with images avoid models that are known not to read them. */
  readonly routesByModality: boolean;
  /** Whether calls avoid models whose known context window is too small. */
  readonly escalatesByContext: boolean;
}

/** `litellm_params.model` of an auto router. */
export const AUTO_ROUTER_MODEL = 'auto_router/complexity_router';
/** Provider of an auto router in rows and lists. */
export const AUTO_ROUTER_PROVIDER = 'auto_router';
