import type { Platform } from '../../resolvers/operation/scope.ts';
import type { Guardrails } from '../../src/domain/guardrails/guardrails.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';

function needsUpstream(): never {
  throw new Error('The tests of the graph do not use this method.');
}

/** Gateway parts that the tests of the graph do not use. */
export const NO_UPSTREAMS: Omit<Platform['gateway'], keyof Gateway> = {
  placeFor: needsUpstream,
  deployment: needsUpstream,
  upstreamModelAt: needsUpstream,
  recordBatch: needsUpstream,
  pass: needsUpstream,
  forward: needsUpstream,
  unpriced: () => new Map(),
  countTokens: needsUpstream,
  preview: needsUpstream,
  callReserved: needsUpstream,
  probe: needsUpstream,
  probeOnce: needsUpstream,
  lastProbe: needsUpstream,
  cooldownMs: needsUpstream,
};

/** Pass-through endpoints of a server that has none. */
export const NO_ENDPOINTS: PassThroughEndpoints = {
  timeoutSeconds: 600,
  find: () => ({ kind: 'none' }),
  list: () => [],
  add: needsUpstream,
  change: needsUpstream,
  remove: needsUpstream,
  configure: needsUpstream,
  refresh: async () => {},
};

/** Guardrails of a server that has none. */
export const NO_GUARDRAILS: Guardrails = {
  definitions: () => [],
  list: () => [],
  add: needsUpstream,
  change: needsUpstream,
  remove: needsUpstream,
  checkWith: needsUpstream,
  configure: needsUpstream,
  resolve: needsUpstream,
  refresh: async () => {},
};

/** Load of a process without requests and without external services. */
export const NO_LOAD = {
  spanExport: null,
  serviceTests: new Map<string, () => Promise<void>>(),
  load: () => ({ openRequests: 0, waitingCalls: 0, refused: 0 }),
};
