import type { FindingKind } from './finding.ts';

/** A remark of a reviewer about one execution, with literal quotes. */
export interface Observation {
  readonly checkId: string;
  readonly kind: FindingKind;
  readonly summary: string;
  readonly evidence: readonly { readonly spanId: string; readonly quote: string }[];
}

/** The whole answer about one execution, cached for later runs. */
export interface Extraction {
  readonly observations: readonly Observation[];
  readonly cannotAssess: boolean;
  readonly reasoning: string;
}

/** A span in the list of a review. */
interface ReviewedSpan {
  readonly spanId: string;
  readonly name: string;
  readonly kind: string;
  readonly preview: string;
  /** Whether an observation quotes the span. */
  readonly cited: boolean;
}

/** The review of one execution, as a run shows it. */
export interface Review {
  readonly executionId: string;
  readonly traceId: string;
  readonly agent: string;
  readonly name: string;
  readonly spans: readonly ReviewedSpan[];
  readonly reasoning: string;
  readonly verdicts: readonly { readonly checkId: string; readonly kind: FindingKind; readonly summary: string }[];
  readonly cannotAssess: boolean;
  readonly model: string;
  readonly durationMs: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly toolCalls: readonly { readonly name: string; readonly calls: number }[];
  /** Null in a run's list of reviews. */
  readonly extraction: Extraction | null;
  readonly contentVersion: string;
  /** Whether it is the cached review of an earlier run or attempt, at no cost. */
  readonly reused: boolean;
  /** A member of the worker protocol; reviews of this code always have false. */
  readonly consolidated: boolean;
  /** Whether the review may be incomplete, for example because parts of the execution were left out. */
  readonly partial: boolean;
}

/** Conclusion of a run about one execution. */
export interface Assessment {
  readonly executionId: string;
  readonly issueChecks: readonly string[];
  readonly patternChecks: readonly string[];
  readonly cannotAssess: boolean;
}

/** Limits of the texts of a review, in characters, and of its lists. */
export const REVIEW_LIMITS = {
  spans: 8,
  spanName: 120,
  spanKind: 40,
  preview: 240,
  reasoning: 800,
  summary: 300,
} as const;
