import { describe, expect, it } from 'vitest';
import { type Caller, haveSameRights, mayRead, ownerOf, visibilityOf } from '../../../src/domain/caller.ts';
import { nullIfBlank } from '../../../src/domain/optional-text.ts';

const KEY = 'a'.repeat(64);
const caller = (teamId: string | null, overrides: Partial<Caller> = {}): Caller => ({
  role: 'internal_user',
  keyHash: KEY,
  key: null,
  teamId,
  userId: null,
  ...overrides,
});

describe('the id in a text', () => {
  it.each([null, undefined, '', ' ', '\t\n', '\u00a0', '\u2003'])('is null where the text is blank: %j', (blank) => {
    expect(nullIfBlank(blank)).toBeNull();
  });

  it.each(['0', ' a ', 'null', '\u200b'])('is the unchanged text where it is not blank: %j', (id) => {
    expect(nullIfBlank(id)).toBe(id);
  });
});

describe('visibility', () => {
  it.each([null, '', '  '])('is limited to the rows of the key where the team of a caller is blank: %j', (teamId) => {
    expect(visibilityOf(caller(teamId))).toEqual({ kind: 'key', keyHash: KEY });
    expect(ownerOf(caller(teamId))).toEqual({ teamId: null, keyHash: KEY });
    expect(haveSameRights(caller(teamId), caller(null))).toBe(true);
  });

  it('includes only the rows of the team where a caller has one, and never those of a key without a team', () => {
    const visibility = visibilityOf(caller('t'));
    const owners = [
      { teamId: 't', keyHash: 'b' },
      { teamId: 'u', keyHash: KEY },
      { teamId: null, keyHash: KEY },
    ];
    expect(owners.map((owner) => mayRead(visibility, owner))).toEqual([true, false, false]);
    for (const teamId of ['', ' '])
      expect(owners.map((owner) => mayRead({ kind: 'team', teamId }, owner))).toEqual([false, false, false]);
  });

  it('includes only the rows without a team that the key created, where the caller has no team', () => {
    const owners = [
      { teamId: null, keyHash: KEY },
      { teamId: null, keyHash: 'b' },
      { teamId: 't', keyHash: KEY },
    ];
    expect(owners.map((owner) => mayRead(visibilityOf(caller('')), owner))).toEqual([true, false, false]);
  });
});
