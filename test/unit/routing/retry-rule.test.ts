import { describe, expect, it } from 'vitest';
import { InvalidInput, UpstreamFailed } from '../../../src/domain/errors.ts';
import { classOfFailure } from '../../../src/domain/routing/failure-class.ts';
import { maxRetries, retryDelayMs } from '../../../src/domain/routing/retry-rule.ts';
import { DEFAULT_ROUTING, type RoutingPolicy } from '../../../src/domain/routing/routing-policy.ts';

const failed = (upstreamStatus: number | null, more: object = {}, message = 'no') =>
  new UpstreamFailed(message, { provider: 'openai', upstreamStatus, ...more });

const retriesAfter = (
  failure: unknown,
  about: { requested?: number | null; own?: number; elsewhere?: boolean; policy?: Partial<RoutingPolicy> } = {},
): number =>
  maxRetries(failure, {
    requested: about.requested ?? null,
    group: 'g',
    own: about.own,
    elsewhere: about.elsewhere ?? false,
    policy: { ...DEFAULT_ROUTING, ...about.policy },
  });

describe('the number of retries', () => {
  it('is two by default after a timeout, conflict, rate limit, server failure or no answer', () => {
    for (const status of [408, 409, 429, 500, 502, 503, 599, null]) expect(retriesAfter(failed(status))).toBe(2);
    for (const status of [400, 401, 403, 404, 413, 422]) expect(retriesAfter(failed(status))).toBe(0);
    expect(retriesAfter(new InvalidInput('no'))).toBe(0);
  });

  it('is two after 401, 403 and 404 only where another deployment can be called', () => {
    for (const status of [401, 403, 404]) expect(retriesAfter(failed(status), { elsewhere: true })).toBe(2);
  });

  it('is that of the request, otherwise of the deployment, otherwise of the policy', () => {
    expect(retriesAfter(failed(500), { requested: 5, own: 4, policy: { retries: 3 } })).toBe(5);
    expect(retriesAfter(failed(500), { own: 4, policy: { retries: 3 } })).toBe(4);
    expect(retriesAfter(failed(500), { policy: { retries: 3 } })).toBe(3);
  });

  it('is that of the failure class, for the group or in the policy, unless the request sets zero', () => {
    const policy = {
      retriesOf: { BadRequestError: 4, Default: 1 },
      retriesOfGroup: new Map([['other', { BadRequestError: 9 }]]),
    };
    expect([
      retriesAfter(failed(400), { policy }),
      retriesAfter(failed(403), { policy }),
      retriesAfter(failed(500), { requested: 7, policy }),
    ]).toEqual([4, 1, 1]);
    // The policy of a group replaces the general one.
    const withGroupPolicy = { ...policy, retriesOfGroup: new Map([['g', { RateLimitError: 0 }]]) };
    expect([
      retriesAfter(failed(429), { policy: withGroupPolicy }),
      retriesAfter(failed(400), { policy: withGroupPolicy }),
    ]).toEqual([0, 0]);
    expect(retriesAfter(failed(400), { requested: 0, policy })).toBe(0);
  });
});

describe('the wait before a retry', () => {
  const wait = (failure: unknown, nth: number, more: { leastSeconds?: number; random?: number } = {}) =>
    retryDelayMs(failure, { nth, leastSeconds: more.leastSeconds ?? 0, random: more.random ?? 0 });

  it('doubles from half a second to eight seconds, with jitter', () => {
    expect([0, 1, 2, 3, 4, 5].map((nth) => wait(failed(500), nth))).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    // The jitter is at most 750 ms.
    expect(wait(failed(500), 0, { random: 1 })).toBe(1_250);
  });

  it('is at least the configured wait, but at most eight seconds without jitter', () => {
    expect(wait(failed(500), 0, { leastSeconds: 3 })).toBe(3_000);
    expect(wait(failed(500), 0, { leastSeconds: 30 })).toBe(8_000);
  });

  it('is the time that the upstream requests if this is at most a minute', () => {
    expect(wait(failed(503, { retryAfterSeconds: 7 }), 3, { random: 1 })).toBe(7_000);
    expect(wait(failed(503, { retryAfterSeconds: 61 }), 0)).toBe(500);
  });
});

it.each<[unknown, string | null]>([
  [failed(400), 'BadRequestError'],
  [failed(401), 'AuthenticationError'],
  [failed(403), null],
  [failed(404), 'NotFoundError'],
  [failed(408), 'TimeoutError'],
  [failed(null, { timedOut: true }), 'TimeoutError'],
  [failed(429), 'RateLimitError'],
  [failed(400, { upstreamCode: 'content_policy_violation' }), 'ContentPolicyViolationError'],
  [failed(400, {}, 'The response was filtered by the content filter.'), 'ContentPolicyViolationError'],
  [failed(null), 'InternalServerError'],
  [failed(500), 'InternalServerError'],
  [failed(502), 'BadGatewayError'],
  [failed(503), 'ServiceUnavailableError'],
  [failed(529), 'InternalServerError'],
  [new Error('bug'), null],
])('a failure has the expected class (case %#)', (failure, expected) => {
  expect(classOfFailure(failure)).toBe(expected);
});
