import type { A2aPlatform } from '../../resolvers/operation/a2a-platform.ts';
import type { CodingAgentPlatform, DecisionPlatform } from '../../resolvers/operation/platform.ts';
import { UNCALIBRATED } from '../../src/domain/decisions/calibration.ts';
import { NO_AGENTS } from './no-upstreams.ts';

/** Platform parts for tests without stored decisions, pass-through calls, A2A agents and coding agents. */
export const UNUSED_PLATFORM: Pick<DecisionPlatform, 'decisions'> &
  Pick<A2aPlatform, keyof typeof NO_AGENTS> &
  Pick<CodingAgentPlatform, 'accounts' | 'agentPolls' | 'agentMessages'> = {
  ...NO_AGENTS,
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
