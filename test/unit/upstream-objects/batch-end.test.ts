import { expect, it } from 'vitest';
import { batchEndOf } from '../../../src/domain/upstream-objects/batch-use.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const SECONDS = NOW.getTime() / 1_000;

it.each([
  ['the time of its outcome', { failed_at: SECONDS - 60 }, new Date('2026-01-02T03:03:05Z')],
  [
    'the time of its outcome, also where another time is 0',
    { completed_at: 0, expired_at: SECONDS - 60 },
    new Date('2026-01-02T03:03:05Z'),
  ],
  ['now where its outcome has no time', { completed_at: null }, NOW],
  ['now in place of a time in the future', { completed_at: SECONDS + 60 }, NOW],
  ['now in place of milliseconds', { completed_at: NOW.getTime() }, NOW],
])('the end of a batch is %s', (_, shown, end) => {
  expect(batchEndOf({ id: 'batch_1', ...shown }, NOW)).toEqual(end);
});
