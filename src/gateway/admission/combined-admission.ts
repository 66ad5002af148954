import type { RateAdmission } from '../../domain/admission/rate-limits.ts';

/** One admission for two sets of limits of a call. Null stands for no limits. */
export function combinedAdmission(first: RateAdmission | null, second: RateAdmission | null): RateAdmission | null {
  if (first === null || second === null) return first ?? second;
  return {
    kind: 'admitted',
    standings: [...first.standings, ...second.standings],
    settle(tokens) {
      first.settle(tokens);
      second.settle(tokens);
    },
  };
}
