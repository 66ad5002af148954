import { fixedDeployments } from '../../src/domain/deployments/deployment-source.ts';
import { DEFAULT_ROUTING } from '../../src/domain/routing/routing-policy.ts';
import { createFallbackRegistry } from '../../src/gateway/routing/fallback-registry.ts';

const refuse = (): never => {
  throw new Error('Stored models are tested with a real store.');
};

/** Platform parts without stored models and credentials. */
export const NO_STORED_MODELS = {
  deployments: {
    ...fixedDeployments([]),
    all: () => [],
    broken: () => [],
    accessGroupsOf: () => [],
    isTeamModel: () => false,
    targetOf: (name: string) => name,
    configure: refuse,
    rebuild: refuse,
    refresh: refuse,
    reload: refuse,
  },
  credentials: { find: () => null, firstOf: () => null, declared: () => [] },
  deploymentReader: { read: refuse },
  fallbacks: createFallbackRegistry({
    store: null,
    configured: () => ({ policy: DEFAULT_ROUTING, storedLists: new Set() }),
  }),
  storesModels: false,
  modelWarning: () => {},
};
