import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import * as turn from '../../../src/runtime/write-coalescing/write-coalescing.ts';

let done: string[];
const doing = (what: string) => (): void => void done.push(what);

/** Resolves after the end of the current turn: its immediate was scheduled earlier and runs first. */
const turnEnded = (): Promise<void> => nextTurn();

beforeEach(async () => {
  // A turn with one send, as in a new process: the first send of the next turn does not wait.
  await turnEnded();
  turn.sendCoalesced(() => {});
  await turnEnded();
  done = [];
});

describe('writes of one turn', () => {
  test('are sent immediately where a turn has one', async () => {
    for (const what of ['one', 'two', 'three']) {
      turn.sendCoalesced(doing(what));
      expect(done.at(-1)).toBe(what);
      await turnEnded();
    }
    expect(done).toEqual(['one', 'two', 'three']);
  });

  test('after the first one wait for the end of the turn, in order', async () => {
    for (const what of ['one', 'two', 'three']) turn.sendCoalesced(doing(what));
    expect(done).toEqual(['one']);
    await turnEnded();
    expect(done).toEqual(['one', 'two', 'three']);
  });

  test('wait from the first one on where the previous turn had several, and not where it had one', async () => {
    for (const what of ['one', 'two']) turn.sendCoalesced(doing(what));
    await turnEnded();
    turn.sendCoalesced(doing('three'));
    expect(done).toEqual(['one', 'two']);
    await turnEnded();
    expect(done).toEqual(['one', 'two', 'three']);
    turn.sendCoalesced(doing('four'));
    expect(done).toEqual(['one', 'two', 'three', 'four']);
  });

  test('are sent when sixteen are waiting', () => {
    for (let at = 0; at < 17; at += 1) turn.sendCoalesced(doing(String(at)));
    expect(done).toHaveLength(17);
    turn.sendCoalesced(doing('late'));
    expect(done).toHaveLength(17);
  });
});

describe('work after the writes', () => {
  test('runs at the end of the turn, after all of its writes', async () => {
    turn.afterSends(doing('noted'));
    for (const what of ['one', 'two']) turn.sendCoalesced(doing(what));
    expect(done).toEqual(['one']);
    await turnEnded();
    expect(done).toEqual(['one', 'two', 'noted']);
  });

  test('runs at the end of the turn, also where nothing is sent', async () => {
    turn.afterSends(doing('noted'));
    expect(done).toEqual([]);
    await turnEnded();
    expect(done).toEqual(['noted']);
  });
});
