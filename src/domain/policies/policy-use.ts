import type { DailyUse, GuardrailDay } from '../guardrails/guardrail-use.ts';
import type { MatchedPolicy } from './policy-book.ts';

/** Use of the guardrails of one policy. Runs that another policy or a key selected are included. */
export interface PolicyUse {
  readonly name: string;
  readonly runs: number;
  readonly blocked: number;
  /** Sum of the durations of all runs, in ms. */
  readonly latencyMs: number;
}

export interface PolicyUseReport {
  readonly rows: readonly PolicyUse[];
  readonly days: readonly DailyUse[];
}

/** Sums by policy, the most runs first. */
export const useByPolicy = (
  policies: readonly Pick<MatchedPolicy, 'name' | 'guardrails'>[],
  days: readonly GuardrailDay[],
): readonly PolicyUse[] =>
  policies
    .map(({ name, guardrails }) => {
      const ofPolicy = days.filter((day) => guardrails.includes(day.name));
      const sum = (valueOf: (day: GuardrailDay) => number): number =>
        ofPolicy.reduce((total, day) => total + valueOf(day), 0);
      return {
        name,
        runs: sum(({ passed, flagged, intervened, failed }) => passed + flagged + intervened + failed),
        blocked: sum(({ intervened }) => intervened),
        latencyMs: sum(({ latencyMs }) => latencyMs),
      };
    })
    .toSorted((left, right) => right.runs - left.runs);
