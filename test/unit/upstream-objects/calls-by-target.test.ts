import { expect, it } from 'vitest';
import { callsByTarget } from '../../../src/domain/upstream-objects/batch-calls.ts';

const targetOf = (name: string): string => (name.startsWith('alias') ? 'model' : name);
const counts = (requests: number, tokens: number) => ({ requests, tokens });

it('calls of aliases count as those of their model', () => {
  const calls = { 'alias-1': counts(1, 10), model: counts(2, 20), 'alias-2': counts(4, 40), other: counts(8, 80) };
  expect(callsByTarget(calls, targetOf)).toEqual({ model: counts(7, 70), other: counts(8, 80) });
});

it('calls without an alias are the same object', () => {
  const calls = { model: counts(2, 20) };
  expect(callsByTarget(calls, targetOf)).toBe(calls);
});
