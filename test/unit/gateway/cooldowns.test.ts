import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { InvalidInput, UpstreamFailed } from '../../../src/domain/errors.ts';
import { type CooldownPolicy, DEFAULT_ROUTING } from '../../../src/domain/routing/routing-policy.ts';
import { allCoolingDown, createCooldowns, skipCoolingDown } from '../../../src/gateway/routing/cooldowns.ts';
import { createRouter } from '../../../src/gateway/routing/route.ts';
import { aDeployment } from '../../support/chat.ts';

const failureWith = (upstreamStatus: number, retryAfterSeconds: number | null = null) =>
  new UpstreamFailed('no', { provider: 'openai', upstreamStatus, retryAfterSeconds });

const deployment = (id: string, overrides: Partial<Deployment> = {}): Deployment => aDeployment({ id, ...overrides });

/** Cooldowns with a clock that the test advances. */
function someCooldowns(policy: Partial<CooldownPolicy> = {}) {
  const clock = { ms: 1_000_000, now: () => new Date(0), monotonicMs: () => clock.ms };
  return { clock, cooldowns: createCooldowns(clock, () => ({ ...DEFAULT_ROUTING.cooldowns, ...policy })) };
}

const [A, B] = [deployment('a'), deployment('b')];
/** The model group has other deployments. */
const NOT_ALONE = { isAlone: false };

describe('cooldowns of several processes', () => {
  it('are reported until others know them, and again when they are extended', () => {
    const { clock, cooldowns } = someCooldowns();
    cooldowns.failed(A, failureWith(401), NOT_ALONE);
    expect(cooldowns.unreported()).toEqual([{ id: 'a', remainingMs: 5_000 }]);
    clock.ms += 1_000;
    expect(cooldowns.unreported()).toEqual([{ id: 'a', remainingMs: 4_000 }]);
    cooldowns.failed(A, failureWith(401), NOT_ALONE);
    cooldowns.reported();
    expect(cooldowns.unreported()).toEqual([{ id: 'a', remainingMs: 5_000 }]);
    cooldowns.reported();
    expect(cooldowns.unreported()).toEqual([]);
  });

  it('are taken over, unless they are turned off or shorter', () => {
    const { cooldowns } = someCooldowns();
    cooldowns.takeOver([{ id: 'a', remainingMs: 9_000 }]);
    cooldowns.takeOver([{ id: 'a', remainingMs: 2_000 }]);
    expect(cooldowns.remainingMs('a')).toBe(9_000);
    const { cooldowns: off } = someCooldowns({ isOff: true });
    off.takeOver([{ id: 'a', remainingMs: 9_000 }]);
    expect(off.remainingMs('a')).toBe(0);
  });
});

describe('cooldowns', () => {
  it('begin with a refused credential, also of the only deployment, and end after 5 seconds', () => {
    const { clock, cooldowns } = someCooldowns();
    cooldowns.failed(A, failureWith(401), { isAlone: true });
    expect([cooldowns.remainingMs('a'), cooldowns.remainingMs('b')]).toEqual([5_000, 0]);
    clock.ms += 4_999;
    expect(cooldowns.remainingMs('a')).toBe(1);
    clock.ms += 1;
    expect(cooldowns.remainingMs('a')).toBe(0);
  });

  it('count the failed and successful calls of a minute, and start a new count with the next minute', () => {
    const { clock, cooldowns } = someCooldowns();
    // A cooldown begins when more than half of at least five calls have failed.
    for (let call = 0; call < 2; call += 1) cooldowns.succeeded(A);
    for (let call = 0; call < 2; call += 1) cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(0);
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(5_000);
    clock.ms += 60_000;
    for (let call = 0; call < 4; call += 1) cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(0);
  });

  it('count allowed failures in a window of the length of a cooldown', () => {
    const { clock, cooldowns } = someCooldowns({ allowedFails: 1, seconds: 10 });
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    clock.ms += 10_000;
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(0);
    clock.ms += 9_999;
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(10_000);
  });

  it('do not count failures that the request caused', () => {
    const { cooldowns } = someCooldowns({ allowedFails: 1 });
    for (let call = 0; call < 3; call += 1) cooldowns.failed(A, failureWith(400), NOT_ALONE);
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(0);
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(5_000);
  });

  it('count the allowed failures of each error class separately', () => {
    const { cooldowns } = someCooldowns({ allowedFailsOf: { RateLimitError: 1 } });
    cooldowns.failed(A, failureWith(429), NOT_ALONE);
    cooldowns.failed(A, failureWith(500), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(0);
    cooldowns.failed(A, failureWith(429), NOT_ALONE);
    expect(cooldowns.remainingMs('a')).toBe(5_000);
  });

  it('have the length that the upstream or the deployment sets, and do not begin for a length of 0', () => {
    const { cooldowns } = someCooldowns();
    cooldowns.failed(A, failureWith(429, 30), NOT_ALONE);
    cooldowns.failed(deployment('b', { routing: { cooldownSeconds: 0 } }), failureWith(429, 30), NOT_ALONE);
    expect([cooldowns.remainingMs('a'), cooldowns.remainingMs('b')]).toEqual([30_000, 0]);
  });

  it('do not begin when they are disabled, or with a failure that the upstream did not cause', () => {
    const { cooldowns: disabled } = someCooldowns({ isOff: true });
    disabled.failed(A, failureWith(401), NOT_ALONE);
    const { cooldowns } = someCooldowns();
    cooldowns.failed(A, new InvalidInput('no'), NOT_ALONE);
    expect([disabled.remainingMs('a'), cooldowns.remainingMs('a')]).toEqual([0, 0]);
  });
});

describe('the selection of a deployment', () => {
  const providers = [{ name: 'openai', send: () => Promise.reject(new Error('not called')) }];
  const aRouter = () => {
    const { clock, cooldowns } = someCooldowns();
    const router = skipCoolingDown(createRouter([A, B], providers), cooldowns);
    return { clock, cooldowns, router, next: () => router('m')?.deployment.id };
  };

  it('leaves out deployments in cooldown, unless all are in cooldown', () => {
    const { cooldowns, router, next } = aRouter();
    expect([next(), next(), next()]).toEqual(['a', 'b', 'a']);
    cooldowns.failed(A, failureWith(404), NOT_ALONE);
    expect([next(), next(), next()]).toEqual(['b', 'b', 'b']);
    cooldowns.failed(B, failureWith(429, 2), NOT_ALONE);
    expect(['a', 'b']).toContain(next());
    expect(allCoolingDown('m', router.all('m'), cooldowns)).toMatchObject({
      retryAfterSeconds: 2,
      message:
        "No deployments available for selected model, Try again in 2 seconds. All deployments for selected model are in cooldown. Passed model=m. pre-call-checks=False, cooldown_list=['a', 'b']",
    });
  });

  it('by id ignores cooldowns', () => {
    const { cooldowns, router } = aRouter();
    cooldowns.failed(A, failureWith(404), NOT_ALONE);
    expect([router('m', 'a')?.deployment.id, router.byId('a')?.deployment.id]).toEqual(['a', 'a']);
  });
});
