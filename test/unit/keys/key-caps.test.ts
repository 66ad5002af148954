import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { assertCaps, type KeyCaps, NO_KEY_RULES } from '../../../src/domain/keys/generation-rules.ts';

/** The message of a refusal; null for an accepted change. */
function refusal(sent: { readonly duration?: string; readonly budgetDuration?: string }, caps: KeyCaps, now: string) {
  try {
    assertCaps(sent, { ...NO_KEY_RULES, caps }, new Date(now));
    return null;
  } catch (error) {
    if (error instanceof InvalidInput) return error.message;
    throw error;
  }
}

const over = (member: string, sent: string, cap: string): string =>
  `${member} is over max limit set in config - user_value=${sent}; max_value=${cap}`;

const JANUARY = '2026-01-15T12:00:00Z';
const FEBRUARY = '2026-02-15T12:00:00Z';
const APRIL = '2026-04-15T12:00:00Z';

describe('the cap of a lifetime', () => {
  it.each([
    ['1mo', '30d', JANUARY, false],
    ['1mo', '30d', APRIL, true],
    ['1mo', '30d', FEBRUARY, true],
    ['31d', '1mo', JANUARY, true],
    ['31d', '1mo', APRIL, false],
    ['29d', '1mo', FEBRUARY, false],
    ['28d', '1mo', FEBRUARY, true],
    ['1mo', '28d', '2026-01-31T00:00:00Z', true],
    ['1mo', '1mo', FEBRUARY, true],
    ['12mo', '365d', JANUARY, true],
    ['12mo', '360d', JANUARY, false],
  ])('counts a month by the calendar: %s with the cap %s at %s', (duration, cap, now, isAllowed) => {
    expect(refusal({ duration }, { duration: cap }, now)).toBe(isAllowed ? null : over('duration', duration, cap));
  });

  it('leaves a malformed text to its parser, and refuses `-1`, a lifetime without an end', () => {
    expect(refusal({ duration: 'soon' }, { duration: '1mo' }, JANUARY)).toBeNull();
    expect(refusal({ duration: '-1' }, { duration: '1mo' }, JANUARY)).toBe(over('duration', '-1', '1mo'));
  });
});

describe('the cap of a budget window', () => {
  it.each([JANUARY, FEBRUARY, APRIL])(
    'allows 1mo where it is 30d, and 30d where it is 1mo, in every month: %s',
    (now) => {
      expect(refusal({ budgetDuration: '1mo' }, { budgetDuration: '30d' }, now)).toBeNull();
      expect(refusal({ budgetDuration: '30d' }, { budgetDuration: '1mo' }, now)).toBeNull();
      expect(refusal({ budgetDuration: '31d' }, { budgetDuration: '1mo' }, now)).toBe(
        over('budget_duration', '31d', '1mo'),
      );
    },
  );
});
