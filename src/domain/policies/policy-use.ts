import type { DailyUse, GuardrailDay } from '../guardrails/guardrail-use.ts';
import type { MatchedPolicy } from './policy-book.ts';

/** Runs of the guardrails of one policy, also those on calls that selected them in another way. */
export interface PolicyUse {
  readonly name: string;
  readonly runs: number;
  readonly blocked: number;
  /** Sum over all runs. */
  readonly latencyMs: number;
}

export interface PolicyUseReport {
  readonly rows: readonly PolicyUse[];
  readonly days: readonly DailyUse[];
}

/** Use by policy, the most used first. */
export const useByPolicy = (
  policies: readonly Pick<MatchedPolicy, 'name' | 'guardrails'>[],
  days: readonly GuardrailDay[],
): readonly PolicyUse[] =>
  policies
    .map(({ name, guardrails }) => {
      const own = days.filter((day) => guardrails.includes(day.name));
      const sum = (of: (day: GuardrailDay) => number): number => own.reduce((total, day) => total + of(day), 0);
      return {
        name,
        runs: sum(({ passed, flagged, intervened, failed }) => passed + flagged + intervened + failed),
        blocked: sum(({ intervened }) => intervened),
        latencyMs: sum(({ latencyMs }) => latencyMs),
      };
    })
    .toSorted((one, other) => other.runs - one.runs);
