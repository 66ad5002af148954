import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { CODE_SECONDS, createOneTimeCodes } from '../../../src/domain/users/one-time-codes.ts';
import { createMemoryPendingSignIns } from '../../support/memory-pending-sign-ins.ts';

function someCodes() {
  const state = { nowMs: 0, issued: 0 };
  const generator = {
    token() {
      state.issued += 1;
      return `code-${state.issued}`;
    },
    hash: (text: string) => createHash('sha256').update(text).digest('hex'),
  };
  const clock = { now: () => new Date(state.nowMs) };
  return { state, codes: createOneTimeCodes<string>({ generator, clock, store: createMemoryPendingSignIns() }) };
}

it('a code is exchanged once, within a minute', async () => {
  const { state, codes } = someCodes();
  const [first, second, third] = [await codes.issue('a'), await codes.issue('b'), await codes.issue('c')];
  expect([await codes.take(first), await codes.take(first), await codes.take('other')]).toEqual(['a', null, null]);
  state.nowMs = CODE_SECONDS * 1000 - 1;
  expect(await codes.take(second)).toBe('b');
  state.nowMs += 1;
  expect(await codes.take(third)).toBeNull();
});

it('at most 10,000 codes are open', async () => {
  const { state, codes } = someCodes();
  for (let count = 0; count < 10_000; count += 1) await codes.issue('x');
  await expect(codes.issue('x')).rejects.toThrow(LimitExceeded);
  state.nowMs = CODE_SECONDS * 1000;
  expect(await codes.take(await codes.issue('y'))).toBe('y');
});
