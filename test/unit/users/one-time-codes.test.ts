import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { CODE_SECONDS, createOneTimeCodes } from '../../../src/domain/users/one-time-codes.ts';

function someCodes() {
  const state = { nowMs: 0, made: 0 };
  const generator = {
    token: () => `code-${(state.made += 1)}`,
    hash: (text: string) => createHash('sha256').update(text).digest('hex'),
  };
  return { state, codes: createOneTimeCodes<string>(generator, { monotonicMs: () => state.nowMs }) };
}

it('a code is exchanged once, within a minute', () => {
  const { state, codes } = someCodes();
  const [first, second, third] = [codes.issue('a'), codes.issue('b'), codes.issue('c')];
  expect([codes.take(first), codes.take(first), codes.take('other')]).toEqual(['a', null, null]);
  state.nowMs = CODE_SECONDS * 1000 - 1;
  expect(codes.take(second)).toBe('b');
  state.nowMs += 1;
  expect(codes.take(third)).toBeNull();
});

it('at most 10,000 codes are open', () => {
  const { state, codes } = someCodes();
  for (let count = 0; count < 10_000; count += 1) codes.issue('x');
  expect(() => codes.issue('x')).toThrow(LimitExceeded);
  state.nowMs = CODE_SECONDS * 1000;
  expect(codes.take(codes.issue('y'))).toBe('y');
});
