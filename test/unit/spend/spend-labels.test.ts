import { expect, it } from 'vitest';
import { callLabels } from '../../../src/domain/calls/call-labels.ts';
import { spendLabels } from '../../../src/domain/calls/spend-labels.ts';

const labels = (tags: readonly string[]) =>
  callLabels({ session: 'session-1', endUser: 'customer-1', tags, metadata: { team: 'x' } });

it('takes end user, session and distinct tags, then the tags of the user agent', () => {
  expect(spendLabels(labels(['a', 'b', 'a']), 'curl/8.1.0 (x)')).toEqual({
    endUser: 'customer-1',
    sessionId: 'session-1',
    tags: ['a', 'b', 'User-Agent: curl', 'User-Agent: curl/8.1.0 (x)'],
  });
});

it('gives one tag for a user agent without a version', () => {
  expect(spendLabels(undefined, 'curl')).toEqual({ endUser: null, sessionId: null, tags: ['User-Agent: curl'] });
});

it('gives no tags without labels and user agent', () => {
  expect(spendLabels(undefined, undefined)).toEqual({ endUser: null, sessionId: null, tags: [] });
});

it('cuts tags and user agents at 256 characters, and keeps 64 tags', () => {
  const { tags } = spendLabels(
    labels(Array.from({ length: 65 }, (_, at) => `${at} ${'t'.repeat(300)}`)),
    'u'.repeat(300),
  );
  expect(tags).toHaveLength(65);
  expect(tags.slice(0, 64).every((tag) => tag.length === 256)).toBe(true);
  expect(tags.at(-1)).toBe(`User-Agent: ${'u'.repeat(256)}`);
});

it('drops a list of tags that was cut to the limit of an attribute', () => {
  const cut = { ...labels(['a']), 'tag.tags': '["a","b' };
  expect(spendLabels(cut, undefined).tags).toEqual([]);
});
