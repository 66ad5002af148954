import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { type KeyDraft, newKey } from '../../../src/domain/keys/key-draft.ts';

const draft: KeyDraft = {
  key: null,
  alias: null,
  role: null,
  teamId: null,
  userId: null,
  models: [],
  maxBudget: null,
  duration: null,
  metadata: {},
};
const creation = { key: 'sk-0123456789abcdefg', hash: 'h', now: new Date('2026-01-01T00:00:00Z'), createdBy: 'admin' };

const refusal = (overrides: Partial<KeyDraft>): unknown => {
  try {
    newKey({ ...draft, ...overrides }, creation);
  } catch (error) {
    return error instanceof InvalidInput ? error.issues : error;
  }
  return 'accepted';
};

describe('a key draft', () => {
  it('becomes the row of an unlimited internal user where it is empty', () => {
    expect(newKey(draft, creation)).toEqual({
      hash: 'h',
      secretHash: 'h',
      previousSecret: null,
      name: 'sk-...defg',
      alias: null,
      role: 'internal_user',
      teamId: null,
      userId: null,
      models: [],
      maxBudget: null,
      metadata: {},
      settings: {},
      budgetDuration: null,
      budgetResetAt: null,
      spentBefore: 0n,
      blocked: false,
      expiresAt: null,
      rotations: 0,
      rotatedAt: null,
      createdAt: creation.now,
      createdBy: 'admin',
      updatedAt: creation.now,
      updatedBy: 'admin',
      deletedAt: null,
      deletedBy: null,
    });
  });

  it.each(['', ' ', '\t'])('has no alias, user or team where these are %j', (blank) => {
    const named = { alias: blank, userId: blank, teamId: blank };
    expect(newKey({ ...draft, ...named }, creation)).toEqual(newKey(draft, creation));
  });

  it.each([
    ['30s', '2026-01-01T00:00:30.000Z'],
    ['30m', '2026-01-01T00:30:00.000Z'],
    ['30h', '2026-01-02T06:00:00.000Z'],
    ['30d', '2026-01-31T00:00:00.000Z'],
    ['1w', '2026-01-08T00:00:00.000Z'],
    ['2mo', '2026-03-01T00:00:00.000Z'],
  ])('that lasts %s ends at %s', (duration, end) => {
    expect(newKey({ ...draft, duration }, creation).expiresAt?.toISOString()).toBe(end);
  });

  it.each(['', '30', '-1d', '1y', '999999999d', '999999999mo'])('with the duration "%s" is refused', (duration) => {
    expect(refusal({ duration })).toEqual([
      {
        path: ['body', 'duration'],
        rule: 'value_error',
        message: 'Value error, write a duration as 30s, 30m, 30h, 30d, 2w or 1mo',
        input: duration,
      },
    ]);
  });

  it.each([
    ['key_alias', { alias: 'a\0b' }],
    ['user_id', { userId: '\0' }],
    ['team_id', { teamId: 'x\0' }],
  ])('with a NUL in %s is refused', (field, overrides) => {
    expect(refusal(overrides)).toEqual([
      { path: ['body', field], rule: 'value_error', message: 'Value error, a name must not contain a NUL character' },
    ]);
  });
});
