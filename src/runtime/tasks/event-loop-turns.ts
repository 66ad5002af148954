import type { Turns } from '../../domain/event-loop-turns.ts';

/** Maximum time that steps of long work run in one turn of the event loop, in milliseconds. */
const SLICE_MS = 8;

/**
 * Splits long work over turns of the event loop. Long work calls `due` between two steps, and waits if it returns a
 * promise. The time of a turn counts from the first call of `due` in the turn, for all callers together. Waiting
 * callers resume first in, first out, one in each turn.
 */
export function createTurns(sliceMs = SLICE_MS): Turns {
  const waiting: (() => void)[] = [];
  let running = false;
  let startedMs = 0;

  function begin(): void {
    running = true;
    startedMs = performance.now();
    setImmediate(end);
  }

  function end(): void {
    running = false;
    const resume = waiting.shift();
    if (resume === undefined) return;
    begin();
    resume();
  }

  return {
    // With null, the caller may go on in this turn. With a promise, the caller waits for a later turn.
    due() {
      if (!running) begin();
      if (performance.now() - startedMs < sliceMs) return null;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
