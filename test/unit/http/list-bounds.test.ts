import { expect, it } from 'vitest';
import type { Issue } from '../../../src/domain/errors.ts';
import { flag, listOf } from '../../../rest-shims/helpers/http/strict-fields.ts';

/** The messages about a list of this length. */
function messagesFor(length: number, bounds: { readonly min: number; readonly max: number }): readonly string[] {
  const issues: Issue[] = [];
  listOf(flag, bounds)(Array.from({ length }).fill(true), [], issues);
  return issues.map(({ message }) => message);
}

it('the message about a list out of bounds has the bound with `item` or `items`', () => {
  expect(messagesFor(501, { min: 1, max: 500 })).toEqual([
    'List should have at most 500 items after validation, not 501',
  ]);
  expect(messagesFor(0, { min: 1, max: 500 })).toEqual(['List should have at least 1 item after validation, not 0']);
  expect(messagesFor(2, { min: 0, max: 1 })).toEqual(['List should have at most 1 item after validation, not 2']);
});
