import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { promptPrefixes } from '../../../src/domain/routing/prompt-prefix.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const block = (text: string, isMarked = false) => ({
  type: 'text',
  text,
  ...(isMarked ? { cache_control: { type: 'ephemeral' } } : {}),
});
const prompt = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });

it('a prompt without a marked block has no prefix', () => {
  expect(promptPrefixes(prompt(block('a')), digest)).toEqual([]);
  expect(promptPrefixes({ messages: 'none' }, digest)).toEqual([]);
  expect(promptPrefixes({}, digest)).toEqual([]);
});

it('a longer prompt has the prefix of a shorter prompt with equal blocks, marked or not', () => {
  const [short] = promptPrefixes(prompt(block('a'), block('b', true), block('c')), digest);
  const longer = promptPrefixes(prompt(block('a'), block('b'), block('x', true)), digest);
  expect([longer.length, longer.indexOf(short ?? '')]).toEqual([3, 1]);
  expect(promptPrefixes(prompt(block('z'), block('b', true)), digest)).not.toContain(short);
});

it('a prompt has prefixes for the marked block and at most 20 earlier blocks', () => {
  const blocks = Array.from({ length: 30 }, (_empty, index) => block(`b${index}`));
  expect(promptPrefixes(prompt(...blocks, block('end', true)), digest)).toHaveLength(21);
});

it('the system prompt comes first, and a marker of a message belongs to its last block', () => {
  const marked = { role: 'user', content: 'hi', cache_control: { type: 'ephemeral' } };
  const one = promptPrefixes({ system: [block('s', true)], messages: [] }, digest);
  const two = promptPrefixes({ system: [block('s')], messages: [marked] }, digest);
  expect([one.length, two.length, two[1]]).toEqual([1, 2, one[0]]);
});
