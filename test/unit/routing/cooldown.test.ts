import { describe, expect, it } from 'vitest';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { shouldCoolDown, cooldownSeconds, type FailureCounts } from '../../../src/domain/routing/cooldown.ts';
import {
  type CooldownPolicy,
  DEFAULT_ROUTING,
  type DeploymentRouting,
} from '../../../src/domain/routing/routing-policy.ts';

const failed = (upstreamStatus: number | null, more: object = {}) =>
  new UpstreamFailed('no', { provider: 'openai', upstreamStatus, ...more });

const ONCE: FailureCounts = { calls: 1, failures: 1, recent: 1, recentOfClass: 1 };

function cools(
  status: number | null,
  about: {
    counts?: Partial<FailureCounts>;
    isAlone?: boolean;
    policy?: Partial<CooldownPolicy>;
    own?: DeploymentRouting;
  } = {},
): boolean {
  return shouldCoolDown(failed(status), {
    counts: { ...ONCE, ...about.counts },
    isAlone: about.isAlone ?? false,
    policy: { ...DEFAULT_ROUTING.cooldowns, ...about.policy },
    own: about.own,
  });
}

describe('a deployment cools down', () => {
  it('at once after 401 and 404, also as the only deployment of its group', () => {
    for (const status of [401, 404]) for (const isAlone of [true, false]) expect(cools(status, { isAlone })).toBe(true);
  });

  it('at once after 402 and 429, where another one can serve', () => {
    for (const status of [402, 429]) expect([cools(status), cools(status, { isAlone: true })]).toEqual([true, false]);
  });

  it('never after other client errors', () => {
    const counts = { calls: 2_000, failures: 2_000, recent: 2_000 };
    for (const status of [400, 403, 409, 413, 422]) expect(cools(status, { counts })).toBe(false);
  });

  it('when more than half of at least five calls of a minute failed, where another one can serve', () => {
    for (const status of [408, 500, 503, null]) {
      expect(cools(status, { counts: { calls: 5, failures: 3 } })).toBe(true);
      expect(cools(status, { counts: { calls: 4, failures: 4 } })).toBe(false);
      expect(cools(status, { counts: { calls: 6, failures: 3 } })).toBe(false);
      expect(cools(status, { counts: { calls: 999, failures: 999 }, isAlone: true })).toBe(false);
      expect(cools(status, { counts: { calls: 1_000, failures: 1_000 }, isAlone: true })).toBe(true);
      expect(cools(status, { counts: { calls: 1_001, failures: 1_000 }, isAlone: true })).toBe(false);
    }
  });

  it('after more failures than allowed, which replaces the rule by status', () => {
    const policy = { allowedFails: 2 };
    expect(cools(401, { policy, counts: { recent: 2 } })).toBe(false);
    expect(cools(500, { policy, counts: { recent: 3 }, isAlone: true })).toBe(true);
    expect(cools(400, { policy, counts: { recent: 9 } })).toBe(false);
    expect(cools(500, { policy, counts: { recent: 1 }, own: { allowedFails: 0 } })).toBe(true);
  });

  it('by class of failure, where the class is named', () => {
    const policy = { allowedFailsOf: { BadRequestError: 1, Default: 5 } };
    expect(cools(400, { policy, counts: { recentOfClass: 2 } })).toBe(true);
    expect(cools(400, { policy, counts: { recentOfClass: 1 } })).toBe(false);
    expect(cools(401, { policy, counts: { recentOfClass: 5 } })).toBe(false);
    expect(cools(401, { policy, own: { allowedFailsOf: { AuthenticationError: 0 } } })).toBe(true);
  });
});

describe('the length of a cooldown', () => {
  const policy = DEFAULT_ROUTING.cooldowns;
  it.each<[string, UpstreamFailed, DeploymentRouting | undefined, number]>([
    ['is that of the policy', failed(500), undefined, 5],
    ['is what the upstream asks for', failed(429, { retryAfterSeconds: 90 }), undefined, 90],
    ['is at most an hour for an upstream', failed(429, { retryAfterSeconds: 90_000 }), undefined, 3_600],
    ['is that of the deployment first', failed(429, { retryAfterSeconds: 90 }), { cooldownSeconds: 0 }, 0],
  ])('%s', (_what, failure, own, seconds) => {
    expect(cooldownSeconds(failure, { policy, own })).toBe(seconds);
  });
});
