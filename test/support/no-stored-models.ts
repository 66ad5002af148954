import { fixedDeployments } from '../../src/domain/deployments/deployment-source.ts';

const refuse = (): never => {
  throw new Error('Stored models are tested with a real store.');
};

/** The part of a platform that has no stored models and no credentials. */
export const NO_STORED_MODELS = {
  deployments: {
    ...fixedDeployments([]),
    all: () => [],
    broken: () => [],
    configure: refuse,
    refresh: refuse,
    reload: refuse,
  },
  credentials: { find: () => null, firstOf: () => null },
  deploymentReader: { read: refuse },
  storesModels: false,
};
