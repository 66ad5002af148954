import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { afterSends, sendCoalesced } from '../../../src/runtime/write-coalescing/write-coalescing.ts';

let ran: string[];
const recording = (what: string) => (): void => void ran.push(what);

/** Resolves after the end of the current turn: the immediate that sends its writes was scheduled earlier. */
const turnEnded = (): Promise<void> => nextTurn();

beforeEach(async () => {
  // A turn with one send, as in a new process: the first send of the next turn does not wait.
  await turnEnded();
  sendCoalesced(() => {});
  await turnEnded();
  ran = [];
});

describe('writes of one turn', () => {
  test('are sent immediately where a turn has one', async () => {
    for (const what of ['one', 'two', 'three']) {
      sendCoalesced(recording(what));
      expect(ran.at(-1)).toBe(what);
      await turnEnded();
    }
    expect(ran).toEqual(['one', 'two', 'three']);
  });

  test('after the first one wait for the end of the turn, in order', async () => {
    for (const what of ['one', 'two', 'three']) sendCoalesced(recording(what));
    expect(ran).toEqual(['one']);
    await turnEnded();
    expect(ran).toEqual(['one', 'two', 'three']);
  });

  test('wait from the first one on where the previous turn had several, and not where it had one', async () => {
    for (const what of ['one', 'two']) sendCoalesced(recording(what));
    await turnEnded();
    sendCoalesced(recording('three'));
    expect(ran).toEqual(['one', 'two']);
    await turnEnded();
    expect(ran).toEqual(['one', 'two', 'three']);
    sendCoalesced(recording('four'));
    expect(ran).toEqual(['one', 'two', 'three', 'four']);
  });

  test('are sent when sixteen are waiting', () => {
    for (let index = 0; index < 17; index += 1) sendCoalesced(recording(String(index)));
    expect(ran).toHaveLength(17);
    sendCoalesced(recording('late'));
    expect(ran).toHaveLength(17);
  });
});

describe('work after the writes', () => {
  test('runs at the end of the turn, after all of its writes', async () => {
    afterSends(recording('noted'));
    for (const what of ['one', 'two']) sendCoalesced(recording(what));
    expect(ran).toEqual(['one']);
    await turnEnded();
    expect(ran).toEqual(['one', 'two', 'noted']);
  });

  test('runs at the end of the turn, also where nothing is sent', async () => {
    afterSends(recording('noted'));
    expect(ran).toEqual([]);
    await turnEnded();
    expect(ran).toEqual(['noted']);
  });
});
