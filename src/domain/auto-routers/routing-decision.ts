import type { Tier } from './tiers.ts';

/** Why a tier or the default model was selected. */
export type RoutingCause =
  | 'heuristic'
  | 'heuristic_v2'
  | 'heuristic_first_short_circuit'
  | 'hybrid_short_circuit'
  | 'llm_classifier'
  | 'llm_classifier_fallback'
  | 'capability_classifier'
  | 'capability_classifier_fallback'
  | 'llm_v2_classifier'
  | 'llm_v2_classifier_fallback'
  | 'keyword_rule'
  | 'session_affinity'
  | 'user_turn'
  | 'default_model';

/** The decision of an auto router for one call, without any text of the call. Spend rows store it as JSON. */
export interface RoutingDecision {
  /** Public model name of the router. */
  readonly router: string;
  readonly routerId: string;
  /** `classifier_type` of the router. */
  readonly classifier: string;
  /** Null for the default model. */
  readonly tier: Tier | null;
  /** Configured display name of the tier; absent for none. */
  readonly tierLabel?: string;
  /** Public name of the selected model. */
  readonly model: string;
  readonly cause: RoutingCause;
  /** Facts behind the decision, such as `codePresence` or `judge-failed:timeout`. */
  readonly signals: readonly string[];
  /** Weighted score of the heuristic; absent where it did not decide. */
  readonly score?: number;
  /** Estimated success of the tier, before an escalation; absent where the classifier estimates none. From 0 to 1. */
  readonly probability?: number;
  /** Present when an escalation keyword raised the tier. */
  readonly escalated?: true;
  /** Start of the decision, Unix ms. */
  readonly startedAt: number;
  /** Duration of the decision, in ms. */
  readonly durationMs: number;
}

/** A decision as `metadata.routing_decision` of a spend row shows it. */
export const routingDecisionJson = (decision: RoutingDecision) => ({
  router: decision.router,
  router_id: decision.routerId,
  classifier_type: decision.classifier,
  tier: decision.tier,
  ...(decision.tierLabel === undefined ? {} : { tier_label: decision.tierLabel }),
  model: decision.model,
  cause: decision.cause,
  signals: decision.signals,
  ...(decision.score === undefined ? {} : { score: decision.score }),
  ...(decision.probability === undefined ? {} : { probability: decision.probability }),
  ...(decision.escalated === undefined ? {} : { escalated: true }),
  duration_ms: decision.durationMs,
});
