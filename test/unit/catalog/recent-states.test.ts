import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import { createRecentStates } from '../../../src/runtime/catalog/recent-states.ts';
import { createSnapshot, entryOf } from '../../../src/runtime/catalog/snapshot.ts';

const anEntry = (id: string): CatalogEntry => entryOf([id, {}]);
const aState = (id: string, entries: readonly CatalogEntry[]): CatalogSnapshot =>
  createSnapshot({ id, takenAt: new Date(0), source: 'upstream', entries });

/** Replaces each state by the next at intervals of a second. Returns the ids that can still be read `waitMs` later. */
function readableAfterReplacing(states: readonly CatalogSnapshot[], waitMs = 0): readonly string[] {
  let nowMs = 0;
  const recentStates = createRecentStates({ now: () => new Date(0), monotonicMs: () => nowMs });
  for (const [index, state] of states.slice(0, -1).entries()) {
    nowMs += 1_000;
    recentStates.add(state, states[index + 1] as CatalogSnapshot);
  }
  nowMs += waitMs;
  return [...new Set(states)].filter((state) => recentStates.find(state.id) === state).map(({ id }) => id);
}

describe('states that were replaced', () => {
  const sharedEntries = Array.from({ length: 100 }, (_, index) => anEntry(`e${index}`));
  const smallStates = (count: number): readonly CatalogSnapshot[] =>
    Array.from({ length: count }, (_, index) => aState(`s${index}`, [...sharedEntries, anEntry('own')]));

  it('can be read for ten minutes', () => {
    const states = smallStates(3);
    // `s0` is replaced one second before the wait begins, and `s1` when it begins.
    expect([
      readableAfterReplacing(states, 598_999),
      readableAfterReplacing(states, 599_000),
      readableAfterReplacing(states, 600_000),
    ]).toEqual([['s0', 's1'], ['s1'], []]);
  });
  it('can be read if they are among the last sixteen', () => {
    // `s0` to `s18` are replaced.
    expect(readableAfterReplacing(smallStates(20))).toEqual(Array.from({ length: 16 }, (_, index) => `s${index + 3}`));
  });
  it('can be read in a smaller number when they share few entries; the last replaced state can always be read', () => {
    const stateOfSize = (id: string, count: number) =>
      aState(
        id,
        Array.from({ length: count }, (_, index) => anEntry(`${index}`)),
      );
    const states = [
      stateOfSize('a', 3_000),
      stateOfSize('b', 4_000),
      stateOfSize('c', 4_000),
      stateOfSize('d', 10),
      stateOfSize('e', 9_000),
      aState('f', []),
    ];
    // The replaced states may have 8,000 entries together that no other state shares.
    expect([readableAfterReplacing(states.slice(0, 4)), readableAfterReplacing(states)]).toEqual([['b', 'c'], ['e']]);
  });
  it('do not include the current state, also when it was replaced before', () => {
    const [a, b] = [aState('a', sharedEntries), aState('b', [])];
    expect(readableAfterReplacing([a, b, a, b])).toEqual(['a']);
  });
});
