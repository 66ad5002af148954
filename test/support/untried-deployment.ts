import type { Health } from '../../src/domain/deployments/health.ts';

/** Health of a deployment without calls. */
export const UNTRIED: Health = {
  state: 'unknown',
  calls: 0,
  failures: 0,
  inFlight: 0,
  latencyMs: null,
  lastSuccessAt: null,
  lastFailure: null,
};
