import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createWorkQueueLimit } from '../../../src/runtime/tasks/work-queue-limit.ts';

it('a queue is bounded by number and by bytes, over all waiting entries', () => {
  const room = createWorkQueueLimit({ tasks: 2, bytes: 100 });
  const leave = room.enter(60);
  expect(() => room.enter(41)).toThrow(new Unavailable('Too much is waiting to be read. Try again shortly.'));
  room.enter(40);
  expect(() => room.enter(0)).toThrow(Unavailable);
  leave();
  room.enter(60);
  expect(() => room.enter(0)).toThrow(Unavailable);
});

it('an empty queue admits an entry larger than its capacity', () => {
  const room = createWorkQueueLimit({ tasks: 2, bytes: 100 });
  room.enter(1_000)();
  const leave = room.enter(1);
  expect(() => room.enter(1_000)).toThrow(Unavailable);
  leave();
});
