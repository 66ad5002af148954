import { expect, it } from 'vitest';
import { createTurns } from '../../../src/runtime/tasks/event-loop-turns.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('work continues while the turn has time left', () => {
  expect(createTurns(60_000).due()).toBeNull();
});

it('waiting tasks resume first in, first out, and other work runs before the last one', async () => {
  // A turn of 0 ms has no time left, so that each task waits for another turn.
  const turns = createTurns(0);
  const order: string[] = [];
  const waits = ['first', 'second', 'third'].map(async (name) => {
    await turns.due();
    order.push(name);
  });
  const others = (async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      order.push('other');
    }
  })();
  expect(order).toEqual([]);
  await Promise.all([...waits, others]);
  expect(order.filter((name) => name !== 'other')).toEqual(['first', 'second', 'third']);
  expect(order.indexOf('third')).toBeGreaterThan(order.indexOf('other'));
});

it('a new turn has time left, too', async () => {
  const turns = createTurns(60_000);
  expect(turns.due()).toBeNull();
  await nextTurn();
  expect(turns.due()).toBeNull();
});
