import { describe, expect, it } from 'vitest';
import { withRenamedIds } from '../../../src/domain/upstream-objects/renamed-ids.ts';

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe('ids of objects in answers about their parts', () => {
  it('are replaced where a text is or contains an id of an upstream', () => {
    const ids = new Map([
      ['ftjob-upstream-1', 'ours'],
      ['short', 'mine'],
    ]);
    const value = {
      id: 'ftjob-upstream-1',
      list: [{ message: 'of ftjob-upstream-1.', of: 'short' }, 'a short text', 3],
    };
    expect(withRenamedIds(bytesOf(value), ids)).toEqual({
      id: 'ours',
      list: [{ message: 'of ours.', of: 'mine' }, 'a short text', 3],
    });
  });

  it('are not found in bytes that are no JSON', () => {
    expect(withRenamedIds(new TextEncoder().encode('{"id":'), new Map())).toBeUndefined();
  });
});
