import { expect, it } from 'vitest';
import { callLabels, withMetadata } from '../../../src/domain/calls/call-labels.ts';
import { claimsOf, createAffinities } from '../../../src/gateway/routing/affinity.ts';

const NO_LABELS = { session: null, endUser: null, tags: [], metadata: {} };

it('the first claim stays until it expires or is replaced', () => {
  let nowMs = 0;
  const affinities = createAffinities({ now: () => new Date(0), monotonicMs: () => nowMs });
  affinities.claim('key', 'a', 10);
  affinities.claim('key', 'b', 10);
  expect(affinities.of('key')).toBe('a');
  affinities.replace('key', 'b', 10);
  expect(affinities.of('key')).toBe('b');
  nowMs = 10_000;
  expect(affinities.of('key')).toBeNull();
  affinities.claim('key', 'c', 10);
  expect(affinities.of('key')).toBe('c');
});

it('claims are of the session with its key, then of the key; session ids above 512 characters have no claim', () => {
  const checks = new Set(['deployment_affinity', 'session_affinity'] as const);
  const claims = (session: string | null, owner?: string) => {
    const labels = callLabels({ ...NO_LABELS, session });
    return claimsOf(checks, 'm', {
      ...(labels === undefined ? {} : { labels }),
      ...(owner === undefined ? {} : { owner }),
    });
  };
  expect(claims('s', 'hash')).toEqual(['["session","m","hash","s"]', '["key","m","hash"]']);
  expect(claims(null, 'hash')).toEqual(['["key","m","hash"]']);
  expect(claims('s'.repeat(513))).toEqual([]);
  expect(claimsOf(new Set(), 'm', { owner: 'hash' })).toEqual([]);
});

it('metadata of labels gets further members; metadata that was too long to keep is replaced', () => {
  const labels = callLabels({ ...NO_LABELS, metadata: { a: 1 } });
  expect(withMetadata(labels, { b: true })).toEqual({ metadata: '{"a":1,"b":true}' });
  expect(withMetadata(undefined, { b: true })).toEqual({ metadata: '{"b":true}' });
  const long = callLabels({ ...NO_LABELS, metadata: { a: 'x'.repeat(1_000_000) } });
  expect(withMetadata(long, { b: true })).toEqual({ metadata: '{"b":true}' });
});
