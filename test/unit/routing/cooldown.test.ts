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

function coolsDown(
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
  it('immediately after 401 and 404, also as the only deployment of its group', () => {
    for (const status of [401, 404])
      for (const isAlone of [true, false]) expect(coolsDown(status, { isAlone })).toBe(true);
  });

  it('immediately after 402 and 429, if its group has another deployment', () => {
    for (const status of [402, 429])
      expect([coolsDown(status), coolsDown(status, { isAlone: true })]).toEqual([true, false]);
  });

  it('never after 400, 403, 409, 413 and 422 by default', () => {
    const counts = { calls: 2_000, failures: 2_000, recent: 2_000 };
    for (const status of [400, 403, 409, 413, 422]) expect(coolsDown(status, { counts })).toBe(false);
  });

  it('when more than half of at least five calls failed, or, alone in its group, when all of at least 1,000 failed', () => {
    for (const status of [408, 500, 503, null]) {
      expect(coolsDown(status, { counts: { calls: 5, failures: 3 } })).toBe(true);
      expect(coolsDown(status, { counts: { calls: 4, failures: 4 } })).toBe(false);
      expect(coolsDown(status, { counts: { calls: 6, failures: 3 } })).toBe(false);
      expect(coolsDown(status, { counts: { calls: 999, failures: 999 }, isAlone: true })).toBe(false);
      expect(coolsDown(status, { counts: { calls: 1_000, failures: 1_000 }, isAlone: true })).toBe(true);
      expect(coolsDown(status, { counts: { calls: 1_001, failures: 1_000 }, isAlone: true })).toBe(false);
    }
  });

  it('only after more failures than `allowedFails` where that is set, and never after 400', () => {
    const policy = { allowedFails: 2 };
    expect(coolsDown(401, { policy, counts: { recent: 2 } })).toBe(false);
    expect(coolsDown(500, { policy, counts: { recent: 3 }, isAlone: true })).toBe(true);
    expect(coolsDown(400, { policy, counts: { recent: 9 } })).toBe(false);
    expect(coolsDown(500, { policy, counts: { recent: 1 }, own: { allowedFails: 0 } })).toBe(true);
  });

  it('after more failures of a class than `allowedFailsOf` allows for it', () => {
    const policy = { allowedFailsOf: { BadRequestError: 1, Default: 5 } };
    expect(coolsDown(400, { policy, counts: { recentOfClass: 2 } })).toBe(true);
    expect(coolsDown(400, { policy, counts: { recentOfClass: 1 } })).toBe(false);
    expect(coolsDown(401, { policy, counts: { recentOfClass: 5 } })).toBe(false);
    expect(coolsDown(401, { policy, own: { allowedFailsOf: { AuthenticationError: 0 } } })).toBe(true);
  });
});

describe('the length of a cooldown', () => {
  const policy = DEFAULT_ROUTING.cooldowns;
  it.each<[string, UpstreamFailed, DeploymentRouting | undefined, number]>([
    ['is the time of the policy', failed(500), undefined, 5],
    ['is the Retry-After of the upstream', failed(429, { retryAfterSeconds: 90 }), undefined, 90],
    ['is at most an hour of Retry-After', failed(429, { retryAfterSeconds: 90_000 }), undefined, 3_600],
    [
      'is the time of the deployment, with precedence',
      failed(429, { retryAfterSeconds: 90 }),
      { cooldownSeconds: 0 },
      0,
    ],
  ])('%s', (_what, failure, own, seconds) => {
    expect(cooldownSeconds(failure, { policy, own })).toBe(seconds);
  });
});
