import { expect, it } from 'vitest';
import { callLabels, withMetadata } from '../../../src/domain/calls/call-labels.ts';
import { affinitiesOfCaller, createAffinities } from '../../../src/gateway/routing/affinity.ts';

const NO_LABELS = { session: null, endUser: null, tags: [], metadata: {} };

it('the first affinity stays until it expires or is replaced', () => {
  let nowMs = 0;
  const affinities = createAffinities({ now: () => new Date(0), monotonicMs: () => nowMs });
  affinities.setIfAbsent('key', 'a', 10);
  affinities.setIfAbsent('key', 'b', 10);
  expect(affinities.find('key')).toBe('a');
  affinities.set('key', 'b', 10);
  expect(affinities.find('key')).toBe('b');
  nowMs = 10_000;
  expect(affinities.find('key')).toBeNull();
  affinities.setIfAbsent('key', 'c', 10);
  expect(affinities.find('key')).toBe('c');
});

it('affinities are of the session with its key, then of the key; session ids above 512 characters have none', () => {
  const checks = new Set(['deployment_affinity', 'session_affinity'] as const);
  const affinitiesOf = (session: string | null, owner?: string) => {
    const labels = callLabels({ ...NO_LABELS, session });
    return affinitiesOfCaller(checks, 'm', {
      ...(labels === undefined ? {} : { labels }),
      ...(owner === undefined ? {} : { owner }),
    });
  };
  expect(affinitiesOf('s', 'hash')).toEqual(['["session","m","hash","s"]', '["key","m","hash"]']);
  expect(affinitiesOf(null, 'hash')).toEqual(['["key","m","hash"]']);
  expect(affinitiesOf('s'.repeat(513))).toEqual([]);
  expect(affinitiesOfCaller(new Set(), 'm', { owner: 'hash' })).toEqual([]);
});

it('metadata of labels gets further members; metadata that was too long to keep is replaced', () => {
  const labels = callLabels({ ...NO_LABELS, metadata: { a: 1 } });
  expect(withMetadata(labels, { b: true })).toEqual({ metadata: '{"a":1,"b":true}' });
  expect(withMetadata(undefined, { b: true })).toEqual({ metadata: '{"b":true}' });
  const long = callLabels({ ...NO_LABELS, metadata: { a: 'x'.repeat(1_000_000) } });
  expect(withMetadata(long, { b: true })).toEqual({ metadata: '{"b":true}' });
});
