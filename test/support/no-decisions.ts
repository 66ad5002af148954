import { UNCALIBRATED } from '../../src/domain/decisions/calibration.ts';
import type { DecisionPlatform } from '../../resolvers/operation/platform.ts';

/** Decisions of a test that stores none. */
export const NO_DECISIONS: DecisionPlatform['decisions'] = {
  mostQuestions: 128,
  storage: 'none',
  keeper: { keep: () => undefined, caughtUp: async () => undefined },
  calibrations: { ...UNCALIBRATED, reports: () => [], refresh: async () => undefined },
};
