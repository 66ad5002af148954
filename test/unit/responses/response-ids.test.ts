import { describe, expect, it } from 'vitest';
import { isOwnResponseId, ownResponseId } from '../../../src/domain/responses/response-ids.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createResponseIds } from '../../../src/runtime/responses/response-ids.ts';

const ids = createResponseIds(new Secret('sk-admin-0123456789'));
const OF_KEY = { deploymentId: 'gpt#1', upstreamId: 'resp_68', owner: { teamId: null, keyHash: 'a'.repeat(64) } };

describe('ids of responses that an upstream stores', () => {
  it('contain the response and its owner, for every process with the same admin key', () => {
    expect(createResponseIds(new Secret('sk-admin-0123456789')).open(ids.seal(OF_KEY))).toEqual(OF_KEY);
    // Where a team owns the response, the id does not contain the key.
    const ofTeam = { ...OF_KEY, owner: { teamId: 'team-1', keyHash: 'a'.repeat(64) } };
    expect(ids.open(ids.seal(ofTeam))).toEqual({ ...ofTeam, owner: { teamId: 'team-1', keyHash: '' } });
  });

  it.each([null, 'team-1'])('contain whether the response may have run in a container of others: team %s', (teamId) => {
    const response = {
      ...OF_KEY,
      owner: { teamId, keyHash: teamId === null ? 'a'.repeat(64) : '' },
      namesOthers: true,
    };
    expect(ids.open(ids.seal({ ...response, namesOthers: true }))).toEqual(response);
  });

  it('are the same for the same response and do not show it', () => {
    const id = ids.seal(OF_KEY);
    expect(ids.seal(OF_KEY)).toBe(id);
    expect(ids.seal({ ...OF_KEY, upstreamId: 'resp_69' })).not.toBe(id);
    expect(id).toMatch(/^resp_[\w-]+$/);
    expect(Buffer.from(id.slice(5), 'base64url').toString('latin1')).not.toMatch(/gpt|resp|aaaa/);
  });

  it('cannot be forged, changed, or decrypted with another key', () => {
    const id = ids.seal(OF_KEY);
    // The first five characters are the prefix `resp_`. The last character may contain unused bits.
    for (let index = 5; index < id.length - 1; index += 1) {
      const changedCharacter = id.charAt(index) === 'A' ? 'B' : 'A';
      expect(ids.open(`${id.slice(0, index)}${changedCharacter}${id.slice(index + 1)}`)).toBe(null);
    }
    expect(createResponseIds(new Secret('sk-another-0123456789')).open(id)).toBe(null);
    for (const invalid of ['', 'resp_', 'resp_68', id.slice(5), `resp_${'A'.repeat(200)}`])
      expect(ids.open(invalid)).toBe(null);
  });

  it('have another format than ids of responses that the gateway stores', () => {
    expect(isOwnResponseId(ids.seal(OF_KEY))).toBe(false);
    expect(isOwnResponseId(ownResponseId('0199f3a0-1111-7222-8333-444455556666'))).toBe(true);
  });
});
