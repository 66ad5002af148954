import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { cursorAfter, readCursor } from '../../../src/domain/traces/cursor.ts';
import { aSummary } from '../../support/trace-summary.ts';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a cursor', () => {
  it('contains its window and row, in URL-safe characters', () => {
    const row = aSummary({ startNs: 1_760_000_000_123_999_999n, traceRef: 'F'.repeat(64) });
    const cursor = cursorAfter({ startMs: 1_759_000_000_000, endMs: 1_761_000_000_000 }, row);
    expect(cursor).toMatch(/^[\w-]{1,512}$/);
    expect(readCursor(cursor)).toEqual({
      startMs: 1_759_000_000_000,
      endMs: 1_761_000_000_000,
      after: { startMs: 1_760_000_000_123, traceRef: 'F'.repeat(64) },
    });
  });

  it.each([
    'not base64!',
    '####',
    encoded('text'),
    encoded({}),
    encoded([1, 2, 3]),
    encoded([1, 2, 3, 'ref', 5]),
    encoded([1, 2, '3', 'ref']),
    encoded([1.5, 2, 3, 'ref']),
    encoded([1, 2, 3, '']),
    encoded([1, 2, 3, 'a\0b']),
    encoded([1, 2, 3, null]),
    Buffer.from('[1,2,').toString('base64url'),
  ])('with a malformed text is refused: %s', (cursor) => {
    const refused = (): unknown => readCursor(cursor);
    expect(refused).toThrow(InvalidInput);
    expect(refused).toThrow(expect.objectContaining({ issues: [], message: 'Invalid cursor.' }));
  });
});
