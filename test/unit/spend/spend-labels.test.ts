import { expect, it } from 'vitest';
import { callLabels, withTags } from '../../../src/domain/calls/call-labels.ts';
import { spendLabels } from '../../../src/domain/calls/spend-labels.ts';

const labels = (tags: readonly string[]) =>
  callLabels({ session: 'session-1', endUser: 'customer-1', tags, metadata: { team: 'x' } });

it('a spend row has end user, session and distinct tags, then the tags of the user agent', () => {
  expect(spendLabels(labels(['a', 'b', 'a']), 'curl/8.1.0 (x)')).toEqual({
    endUser: 'customer-1',
    sessionId: 'session-1',
    tags: ['a', 'b', 'User-Agent: curl', 'User-Agent: curl/8.1.0 (x)'],
  });
});

it('a spend row has one tag for a user agent without a version', () => {
  expect(spendLabels(undefined, 'curl')).toEqual({ endUser: null, sessionId: null, tags: ['User-Agent: curl'] });
});

it('a spend row has no tags without labels and user agent', () => {
  expect(spendLabels(undefined, undefined)).toEqual({ endUser: null, sessionId: null, tags: [] });
});

it('a user agent is truncated to 256 characters', () => {
  expect(spendLabels(labels(['a']), 'u'.repeat(300)).tags.at(-1)).toBe(`User-Agent: ${'u'.repeat(256)}`);
});

it('labels have replacement characters for characters that no store accepts', () => {
  const sent = { session: 's\0', endUser: 'u\ud800', tags: ['t\0', 't\u{FFFD}'], metadata: {} };
  expect(spendLabels(callLabels(sent), undefined)).toEqual({
    endUser: 'u\u{FFFD}',
    sessionId: 's\u{FFFD}',
    tags: ['t\u{FFFD}'],
  });
  expect(withTags(undefined, ['k\0'])).toEqual({ 'tag.tags': '["k\u{FFFD}"]' });
});

const numbered = (count: number, length = 3): string[] =>
  Array.from({ length: count }, (_, index) => String(index).padStart(length, 't'));

it('a call may have 64 tags of 256 characters, and no more or longer ones', () => {
  expect(spendLabels(labels(numbered(64, 256)), undefined).tags).toEqual(numbered(64, 256));
  expect(() => labels(numbered(65))).toThrow('A call has at most 64 tags');
  expect(() => labels(['t'.repeat(257)])).toThrow('A tag has at most 256 characters.');
  // JSON has six bytes for each of these characters.
  expect(() => labels(Array.from({ length: 64 }, (_, index) => `${index}${'\u{1}'.repeat(200)}`))).toThrow(
    '65536 bytes',
  );
});

it('the tags of a key follow those of the request, each once', () => {
  expect(spendLabels(withTags(labels(['a', 'b']), ['b', 'c']), undefined)).toEqual({
    endUser: 'customer-1',
    sessionId: 'session-1',
    tags: ['a', 'b', 'c'],
  });
  expect(withTags(undefined, ['c'])).toEqual(callLabels({ session: null, endUser: null, tags: ['c'], metadata: {} }));
  expect(() => withTags(labels(numbered(64)), ['further'])).toThrow('This call has 65.');
});
