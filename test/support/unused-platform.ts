import type { CodingAgentPlatform, DecisionPlatform } from '../../resolvers/operation/platform.ts';
import { UNCALIBRATED } from '../../src/domain/decisions/calibration.ts';

/** Platform parts for tests without stored decisions, pass-through calls and coding agents. */
export const UNUSED_PLATFORM: Pick<DecisionPlatform, 'decisions'> &
  Pick<CodingAgentPlatform, 'accounts' | 'agentPolls' | 'agentMessages'> = {
  decisions: {
    maxQuestions: 128,
    fallbackBelow: null,
    storage: 'none',
    queue: { enqueue: () => undefined, caughtUp: async () => undefined },
    calibrations: { ...UNCALIBRATED, reports: () => [], refresh: async () => undefined },
  },
  accounts: { served: false, costPerRequest: null, of: async () => null },
  agentPolls: { follow: () => () => undefined },
  agentMessages: { configured: false, isSigned: () => false, isStored: () => false, addStored: () => undefined },
};
