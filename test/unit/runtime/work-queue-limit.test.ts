import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createWorkQueueLimit } from '../../../src/runtime/tasks/work-queue-limit.ts';

it('a queue is bounded by number and by bytes, over all waiting entries', () => {
  const limit = createWorkQueueLimit({ tasks: 2, bytes: 100 });
  const release = limit.enter(60);
  expect(() => limit.enter(41)).toThrow(new Unavailable('Too many exports are waiting to be read. Try again shortly.'));
  limit.enter(40);
  expect(() => limit.enter(0)).toThrow(Unavailable);
  release();
  limit.enter(60);
  expect(() => limit.enter(0)).toThrow(Unavailable);
});

it('an empty queue admits an entry larger than its capacity', () => {
  const limit = createWorkQueueLimit({ tasks: 2, bytes: 100 });
  limit.enter(1_000)();
  const release = limit.enter(1);
  expect(() => limit.enter(1_000)).toThrow(Unavailable);
  release();
});
